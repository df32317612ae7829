/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "services/history/store/database.h"
#include "services/history/store/tiers.h"

/* The tables of the three tiers, with a chunk for each series and span. They are ordered by time, so that
 * chunks written together are adjacent, and the oldest ones fill whole pages. */

#define ALD_MINUTE_USEC (INT64_C(60) * 1000000)
#define ALD_HOUR_USEC (60 * ALD_MINUTE_USEC)
#define ALD_DAY_USEC (24 * ALD_HOUR_USEC)

typedef struct AldTierRule {
        int64_t width; /* of a bucket; for raw samples, their step */
        int64_t span;  /* of a chunk */
        int64_t keep;
        int64_t goal; /* the least that a full budget keeps of it, in proportion to the other tiers */
} AldTierRule;

extern const AldTierRule ald_tier_rules[ALD_TIERS];

/* Append the chunk of the span around this time, if there is one. A damaged chunk is logged and treated as
 * missing. */
int ald_tier_load_samples(AldDatabase *database, uint32_t series, int64_t time, GArray *samples);
int ald_tier_load_buckets(
        AldDatabase *database, AldTier tier, uint32_t series, int64_t time, GArray *buckets);

/* Replace the chunk. *bytes grows by the number of bytes written. */
int ald_tier_save_samples(
        AldDatabase *database, uint32_t series, int64_t time, const GArray *samples, size_t *bytes);
int ald_tier_save_buckets(AldDatabase *database, AldTier tier, uint32_t series, int64_t time,
        const GArray *buckets, size_t *bytes);

/* Returns the starts of the first and the last span that has a chunk; *ret_any is false if there is none. */
int ald_tier_extent(
        AldDatabase *database, AldTier tier, bool *ret_any, int64_t *ret_first, int64_t *ret_last);

/* Returns the first of these starts in any tier; INT64_MAX if there is none. */
int ald_tier_oldest(AldDatabase *database, int64_t *ret);

/* Returns when the oldest stored data was measured, to the resolution of its tier; INT64_MAX if there is
 * none. Checks only the series that were recorded first. */
int ald_tier_oldest_time(AldDatabase *database, int64_t *ret);

/* Deletes all chunks of the span that starts at `start`. */
int ald_tier_drop(AldDatabase *database, AldTier tier, int64_t start);
