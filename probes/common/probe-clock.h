/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

#define ALD_NSEC_PER_MSEC UINT64_C(1000000)
#define ALD_NSEC_PER_SEC UINT64_C(1000000000)

/* Returns CLOCK_MONOTONIC in ns. */
static inline uint64_t ald_now(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t) now.tv_sec * ALD_NSEC_PER_SEC + (uint64_t) now.tv_nsec;
}
