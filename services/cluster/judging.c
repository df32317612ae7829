/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/judging.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* Judging all nodes is cheap, but not for each of them alone. */
#define JUDGE_USEC (G_USEC_PER_SEC / 4)
#define STOPPED_USEC (2 * G_USEC_PER_SEC)

struct AldJudging {
        AldReceiver *receiver;
        AldPresenceView view;
        AldTimer *timer;
        uint64_t due; /* UINT64_MAX: never */
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

/* Each message puts off when its node would fall silent, so the timer only ever comes too early. */
static void schedule(AldJudging *judging, uint64_t due)
{
        if (due >= judging->due)
                return;
        judging->due = MAX(due, now_usec() + JUDGE_USEC);
        ald_timer_set(judging->timer, (gint64) judging->due);
}

static void judge_all(AldJudging *judging)
{
        judging->due = UINT64_MAX;
        schedule(judging, ald_receiver_judge(judging->receiver, now_usec(), ald_realtime_usec()));
}

static void update_view(AldJudging *judging)
{
        ald_receiver_set_view(judging->receiver, &judging->view, now_usec(), ald_realtime_usec());
        judge_all(judging);
}

/* While this process was stopped nobody was silent: it did not listen. */
static void on_timer(void *userdata)
{
        AldJudging *judging = userdata;
        uint64_t now = now_usec();
        bool stopped = now > judging->due && now - judging->due > STOPPED_USEC;

        if (stopped && judging->view.connected_since != 0) {
                judging->view.connected_since = now;
                update_view(judging);
        } else {
                judge_all(judging);
        }
}

AldJudging *ald_judging_new(AldReceiver *receiver)
{
        AldJudging *judging = g_new0(AldJudging, 1);

        judging->receiver = receiver;
        judging->timer = ald_timer_new("presence", on_timer, judging);
        judging->due = UINT64_MAX;
        return judging;
}

void ald_judging_free(AldJudging *judging)
{
        if (!judging)
                return;
        ald_timer_free(judging->timer);
        g_free(judging);
}

void ald_judging_set_connected(AldJudging *judging, bool connected)
{
        if (connected == (judging->view.connected_since != 0))
                return;
        judging->view.connected_since = connected ? now_usec() : 0;
        update_view(judging);
}

void ald_judging_set_mirroring(AldJudging *judging, bool mirroring)
{
        judging->view.by_status = !mirroring;
        update_view(judging);
}

void ald_judging_note(AldJudging *judging, const AldNodePresence *presence)
{
        schedule(judging, ald_presence_due(presence, &judging->view));
}
