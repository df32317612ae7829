/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/presence-timer.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* Updating all nodes is cheap, but not if it is done for each of them separately. */
#define UPDATE_USEC (G_USEC_PER_SEC / 4)

struct AldPresenceTimer {
        AldReceiver *receiver;
        AldTimer *timer;
        uint64_t due; /* UINT64_MAX: never */
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static void on_timer(void *userdata)
{
        AldPresenceTimer *presence_timer = userdata;

        presence_timer->due = UINT64_MAX;
        ald_receiver_update_presences(presence_timer->receiver, now_usec(), ald_realtime_usec());
}

AldPresenceTimer *ald_presence_timer_new(AldReceiver *receiver)
{
        AldPresenceTimer *presence_timer = g_new0(AldPresenceTimer, 1);

        presence_timer->receiver = receiver;
        presence_timer->timer = ald_timer_new("presence", on_timer, presence_timer);
        presence_timer->due = UINT64_MAX;
        return presence_timer;
}

void ald_presence_timer_free(AldPresenceTimer *presence_timer)
{
        if (!presence_timer)
                return;
        ald_timer_free(presence_timer->timer);
        g_free(presence_timer);
}

/* Accepts earlier times only. Each message postpones the moment at which its node would fall silent, so the
 * timer may expire too early, but never too late. */
void ald_presence_timer_set_due(AldPresenceTimer *presence_timer, uint64_t due_usec)
{
        if (due_usec >= presence_timer->due)
                return;
        presence_timer->due = MAX(due_usec, now_usec() + UPDATE_USEC);
        ald_timer_set(presence_timer->timer, (gint64) presence_timer->due);
}
