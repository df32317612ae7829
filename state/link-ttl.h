/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * How long the figures of a link last. The interval between whole measurements doubles while they agree. What
 * a record shows is that interval, shifted by up to a fifth in either direction: by a share that follows from
 * the path and the time of the measurement alone. Without it, paths that were measured together, and
 * distorted each other, would be due together each time.
 */
#define ALD_LINK_TTL_MIN_USEC (UINT64_C(5) * 60 * 1000 * 1000)
#define ALD_LINK_TTL_MAX_USEC (UINT64_C(6) * 3600 * 1000 * 1000)

/* Round trips and spot checks repeat this often, or up to a fifth earlier. */
#define ALD_LINK_CHECK_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* A result disturbed by other traffic replaces an undisturbed one only after this many times to live. */
#define ALD_LINK_TTL_DISTURBED 3u

/* What the interval of a path may be; both the same where it is fixed. */
typedef struct AldTtlBounds {
        uint64_t least, most;
} AldTtlBounds;

#define ALD_TTL_BOUNDS_NONE ((AldTtlBounds){ 0, UINT64_MAX })

/* The interval as it is shown. */
uint64_t ald_link_ttl_shift(uint64_t interval, uint64_t seed, uint64_t measured);
/* Back from what is shown. */
uint64_t ald_link_ttl_interval(uint64_t shown, uint64_t seed, uint64_t measured);

/* What is shown, moved into the bounds; absent: of a record that does not say it. */
uint64_t ald_link_ttl_bound(
        uint64_t shown, uint64_t fallback, uint64_t seed, uint64_t measured, const AldTtlBounds *bounds);

/* When a path is to be checked again that was last checked then. */
uint64_t ald_link_check_due(uint64_t checked, uint64_t seed);
