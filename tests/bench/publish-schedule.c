/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "tests/bench/publish-schedule.h"

#define CYCLE_MS 30000u

static unsigned period_of(unsigned which, unsigned divisor)
{
        switch (which) {
        case ALD_KIND_MEMORY:
                return 500 * divisor;
        case ALD_KIND_SYSTEM:
                return 1000 * divisor;
        case SCHEDULE_ALIVE:
                return 1000;
        default:
                return CYCLE_MS;
        }
}

static int compare(const void *a, const void *b)
{
        const ScheduleEvent *left = a, *right = b;

        return (left->at_ms > right->at_ms) - (left->at_ms < right->at_ms);
}

void schedule_plan(Schedule *schedule, unsigned nodes, unsigned divisor)
{
        GArray *events = g_array_new(FALSE, FALSE, sizeof(ScheduleEvent));

        for (uint32_t node = 0; node < nodes; node++)
                for (uint32_t which = 0; which <= SCHEDULE_ALIVE; which++) {
                        unsigned period = period_of(which, divisor);
                        uint32_t phase = (uint32_t) g_random_int_range(0, (gint32) period);

                        for (uint32_t at = phase; at < CYCLE_MS; at += period)
                                g_array_append_vals(events, &(ScheduleEvent){ at, node, which }, 1);
                }
        schedule->n_events = events->len;
        schedule->events = (ScheduleEvent *) (void *) g_array_free(events, FALSE);
        qsort(schedule->events, schedule->n_events, sizeof(ScheduleEvent), compare);
}

uint64_t schedule_next(const Schedule *schedule)
{
        return schedule->cycle + schedule->events[schedule->next].at_ms * UINT64_C(1000);
}

ScheduleEvent schedule_take(Schedule *schedule)
{
        ScheduleEvent event = schedule->events[schedule->next];

        if (++schedule->next == schedule->n_events) {
                schedule->next = 0;
                schedule->cycle += CYCLE_MS * UINT64_C(1000);
        }
        return event;
}
