/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/bench/fixture.h"

/* When which node publishes which record, over 30 s and then again. */
#define SCHEDULE_ALIVE FIXTURE_RECORDS /* as `which`: look whether it is time for `alive` */

typedef struct ScheduleEvent {
        uint32_t at_ms;
        uint32_t node;
        uint32_t which;
} ScheduleEvent;

typedef struct Schedule {
        ScheduleEvent *events; /* of one cycle, by time */
        size_t n_events, next;
        uint64_t cycle; /* when it began, CLOCK_MONOTONIC in µs */
} Schedule;

/* At the rates of the cluster service, those of memory and system divided; each node at times of its own. */
void schedule_plan(Schedule *schedule, unsigned nodes, unsigned divisor);

/* When the next event is. */
uint64_t schedule_next(const Schedule *schedule);
ScheduleEvent schedule_take(Schedule *schedule);
