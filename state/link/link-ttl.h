/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Decides how long figures hold, that is, when a link is measured again after a success. See path-due.h for
 * failures. */

/* Returns the time to live of results of this kind, if their records lack it; 0 if it is not measured. */
uint64_t ald_kind_ttl(AldKind kind);

/* After an attempt whose figures were not used, the next full measurement waits for this long. */
#define ALD_LINK_ATTEMPT_PAUSE_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/*
 * The time to live of the figures of a link. The interval between full measurements doubles while they agree.
 * A record shows this interval shifted by up to a fifth in either direction, depending only on the path and
 * the time of the measurement. Otherwise paths that were measured together, and distorted each other, would
 * be due together each time.
 */
#define ALD_LINK_TTL_MAX_USEC (UINT64_C(6) * 3600 * 1000 * 1000)

/* The longest interval of figures that are unsteady or suspect. */
#define ALD_LINK_TTL_DOUBTFUL_USEC (UINT64_C(30) * 60 * 1000 * 1000)

/* Interval of round trips and spot checks; they may be up to a fifth earlier. */
#define ALD_LINK_CHECK_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* If the figures of the first measurement after a change are useless, as on a busy machine, it is repeated
 * after the first of these times, until the second one has passed since the change. */
#define ALD_LINK_CHANGE_RETRY_USEC (UINT64_C(60) * 1000 * 1000)
#define ALD_LINK_CHANGE_URGENT_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* A check that contradicts the record is repeated after this time, unless no repetition has a result within
 * the second one: then the next regular check decides. */
#define ALD_LINK_REPEAT_USEC (UINT64_C(10) * 1000 * 1000)
#define ALD_LINK_REPEAT_MOST_USEC (UINT64_C(180) * 1000 * 1000)

/* A check that should have found a rate but did not, as on a busy machine, is repeated after this time, until
 * the second one has passed since the last rate. */
#define ALD_LINK_SPOT_RETRY_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_LINK_SPOT_RETRY_MOST_USEC (2 * ALD_LINK_CHECK_USEC)

/* A disturbed result replaces an undisturbed one only if that is older than this many times its time to
 * live. */
#define ALD_LINK_TTL_DISTURBED 3u

/* The limits of the interval of a path; equal if it is fixed. */
typedef struct AldTtlBounds {
        uint64_t least, most;
} AldTtlBounds;

#define ALD_TTL_BOUNDS_NONE ((AldTtlBounds){ 0, UINT64_MAX })

/* Returns the interval after one whose figures a new measurement agrees with: twice as long, unless it was
 * measured because something had changed. */
uint64_t ald_link_ttl_next(uint64_t before, uint64_t least, bool changed, bool doubtful);

/* Converts an interval to the shown one. */
uint64_t ald_link_ttl_shift(uint64_t interval, uint64_t seed, uint64_t measured);
/* Converts a shown interval back. */
uint64_t ald_link_ttl_interval(uint64_t shown, uint64_t seed, uint64_t measured);

/* Moves a shown interval, or the fallback if that is absent, into the bounds. */
uint64_t ald_link_ttl_bound(
        uint64_t shown, uint64_t fallback, uint64_t seed, uint64_t measured, const AldTtlBounds *bounds);

/* Returns when a path is due for its next check. */
uint64_t ald_link_check_due(uint64_t checked, uint64_t seed);
