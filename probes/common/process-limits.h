/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The limits of a process that measures. */
typedef struct AldProcessLimits {
        uint64_t data_max; /* bytes; 0: unchanged */
        unsigned files_max;
        unsigned cpu_seconds_max; /* for all threads together */
        bool no_new_code;         /* memory that can be written never becomes executable */
} AldProcessLimits;

/* The limits of processes that measure links. */
extern const AldProcessLimits ald_process_limits_socket, ald_process_limits_rdma;

/*
 * Limits this process, and disables core dumps and new privileges. `signal` is sent to it when its parent
 * dies, unless it is 0. Returns -ESRCH if the parent is already dead.
 */
int ald_process_limits_apply(const AldProcessLimits *limits, int signal, int parent);
