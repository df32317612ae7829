/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/follow-pace.h"
#include "services/common/timer.h"

#define REFRESH_USEC (60 * G_USEC_PER_SEC) /* the refresh also detects a state service that hangs */
/* All records are sent every 30 s, unless a client that does not read has stopped the broadcasts. */
#define SILENCE_USEC (60 * G_USEC_PER_SEC)

/* The delay before signals are read. A large cluster changes all the time, and waking up for each change
 * would take most of the processor time. Replies are delayed as well. */
#define READ_MSEC 50u
#define NODES_MANY 16u

struct AldFollowPace {
        AldService *service;
        AldModel *model;
        AldFollow *follow;
        AldTimer *refresh;
        gint64 changed; /* the last change, CLOCK_MONOTONIC in µs */
        bool subscribed;
};

static void on_refresh(void *userdata)
{
        AldFollowPace *pace = userdata;

        if (!pace->subscribed && ald_follow_in_step(pace->follow) &&
                g_get_monotonic_time() - pace->changed > SILENCE_USEC) {
                g_info("The state service broadcasts nothing; requesting its signals");
                pace->subscribed = true;
                ald_follow_subscribe(pace->follow, false);
        }
        ald_follow_refresh(pace->follow);
        ald_timer_set(pace->refresh, g_get_monotonic_time() + REFRESH_USEC);
}

AldFollowPace *ald_follow_pace_new(AldService *service, AldModel *model, AldFollow *follow)
{
        AldFollowPace *pace = g_new0(AldFollowPace, 1);

        pace->service = service;
        pace->model = model;
        pace->follow = follow;
        pace->refresh = ald_timer_new("refresh", on_refresh, pace);
        ald_timer_set(pace->refresh, g_get_monotonic_time() + REFRESH_USEC);
        return pace;
}

void ald_follow_pace_free(AldFollowPace *pace)
{
        ald_timer_free(pace->refresh);
        g_free(pace);
}

void ald_follow_pace_changed(AldFollowPace *pace)
{
        pace->changed = g_get_monotonic_time();
        if (ald_follow_in_step(pace->follow) && ald_model_nodes(pace->model)->len > NODES_MANY)
                ald_service_delay_bus(pace->service, READ_MSEC);
}
