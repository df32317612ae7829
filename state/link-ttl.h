/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * The time to live of the figures of a link. The interval between full measurements doubles while they agree.
 * A record shows this interval shifted by up to a fifth in either direction, depending only on the path and
 * the time of the measurement. Otherwise paths that were measured together, and distorted each other, would
 * be due together each time.
 */
#define ALD_LINK_TTL_MIN_USEC (UINT64_C(5) * 60 * 1000 * 1000)
#define ALD_LINK_TTL_MAX_USEC (UINT64_C(6) * 3600 * 1000 * 1000)

/* Interval of round trips and spot checks; they may be up to a fifth earlier. */
#define ALD_LINK_CHECK_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* A disturbed result replaces an undisturbed one only if that is older than this many times its time to
 * live. */
#define ALD_LINK_TTL_DISTURBED 3u

/* The limits of the interval of a path; equal if it is fixed. */
typedef struct AldTtlBounds {
        uint64_t least, most;
} AldTtlBounds;

#define ALD_TTL_BOUNDS_NONE ((AldTtlBounds){ 0, UINT64_MAX })

/* Converts an interval to the shown one. */
uint64_t ald_link_ttl_shift(uint64_t interval, uint64_t seed, uint64_t measured);
/* Converts back. */
uint64_t ald_link_ttl_interval(uint64_t shown, uint64_t seed, uint64_t measured);

/* Moves a shown interval, or the fallback if that is absent, into the bounds. */
uint64_t ald_link_ttl_bound(
        uint64_t shown, uint64_t fallback, uint64_t seed, uint64_t measured, const AldTtlBounds *bounds);

/* When a path is due for its next check. */
uint64_t ald_link_check_due(uint64_t checked, uint64_t seed);
