/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What may be believed of times. Clocks differ, but what is more than a day ahead of ours is refused, unless
 * it is our own clock that is wrong. Times are CLOCK_REALTIME in µs; an offset is the clock of another node
 * less ours.
 */
#define ALD_CLOCK_AHEAD_USEC (UINT64_C(24) * 3600 * 1000 * 1000)

/* Whether the clock was ever set. Without a battery it starts in 1970, or at the time of the last shutdown;
 * no machine that runs this has an earlier time than 2023. */
bool ald_clock_is_set(uint64_t real);

/* How far ahead of ours the clocks of most nodes are, ours among them; 0 where they are not. Sorts the
 * offsets of the others. */
uint64_t ald_clock_majority(int64_t *offsets, size_t n);

/* Whether a time is further ahead than can be, where most clocks are so far ahead of ours. */
bool ald_clock_is_ahead(uint64_t usec, uint64_t real, uint64_t majority);
