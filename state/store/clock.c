/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "state/store/clock.h"

bool ald_clock_is_set(uint64_t real)
{
        return real >= ALD_CLOCK_LEAST_USEC;
}

static int compare_offsets(const void *a, const void *b)
{
        int64_t left = *(const int64_t *) a, right = *(const int64_t *) b;

        return (left > right) - (left < right);
}

/* Computes the lower median of their offsets and ours, which is 0: more than half of all clocks are at least
 * this far ahead. */
uint64_t ald_clock_majority(int64_t *offsets, size_t n)
{
        size_t middle = n / 2, behind = 0;

        if (n == 0)
                return 0;
        qsort(offsets, n, sizeof *offsets, compare_offsets);
        while (behind < n && offsets[behind] <= 0)
                behind++;
        return middle > behind ? (uint64_t) offsets[middle - 1] : 0;
}

bool ald_clock_is_ahead(uint64_t usec, uint64_t real, uint64_t majority)
{
        return usec > real && usec - real > ALD_CLOCK_AHEAD_USEC &&
               usec - real - ALD_CLOCK_AHEAD_USEC > majority;
}
