/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/judging.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* Judging all nodes is cheap, but not for each of them alone. */
#define JUDGE_USEC (G_USEC_PER_SEC / 4)

struct AldJudging {
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
        AldJudging *judging = userdata;

        judging->due = UINT64_MAX;
        ald_receiver_judge(judging->receiver, now_usec(), ald_realtime_usec());
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

/* Each message puts off when its node would fall silent, so the timer only ever comes too early. */
void ald_judging_set_due(AldJudging *judging, uint64_t due_usec)
{
        if (due_usec >= judging->due)
                return;
        judging->due = MAX(due_usec, now_usec() + JUDGE_USEC);
        ald_timer_set(judging->timer, (gint64) judging->due);
}
