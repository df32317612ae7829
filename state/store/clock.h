/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides which times are plausible. Clocks differ, but a time more than a day ahead of ours is refused,
 * unless our own clock is wrong. Times are CLOCK_REALTIME in µs; an offset is the clock of another node minus
 * ours.
 */
#define ALD_CLOCK_AHEAD_USEC (UINT64_C(24) * 3600 * 1000 * 1000)

/* A time before 2023 cannot be right. */
#define ALD_CLOCK_LEAST_USEC (UINT64_C(1672531200) * 1000 * 1000)

/* Returns whether the clock has been set. Without a battery it starts in 1970 or at the time of the last
 * shutdown. */
bool ald_clock_is_set(uint64_t real);

/* Returns how far ahead of ours the clocks of most nodes (including ours) are; 0 if they are not. Sorts the
 * offsets of the others. */
uint64_t ald_clock_majority(int64_t *offsets, size_t n);

/* Returns whether a time is implausibly far ahead, if most clocks are this far ahead of ours. */
bool ald_clock_is_ahead(uint64_t usec, uint64_t real, uint64_t majority);
