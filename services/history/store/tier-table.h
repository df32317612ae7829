/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "services/history/store/database.h"
#include "services/history/store/tiers.h"

/* The tables of the three tiers: a chunk for each series and span. Ordered by time, so that what is written
 * together lies together, and the oldest are whole pages. */

#define ALD_MINUTE_USEC (INT64_C(60) * 1000000)
#define ALD_HOUR_USEC (60 * ALD_MINUTE_USEC)
#define ALD_DAY_USEC (24 * ALD_HOUR_USEC)

typedef struct AldTierRule {
        int64_t width; /* of a bucket; of raw samples their step */
        int64_t span;  /* of a chunk */
        int64_t keep;
        int64_t goal; /* what a full budget keeps of it at least, in proportion to the other tiers */
} AldTierRule;

extern const AldTierRule ald_tier_rules[ALD_TIERS];

/* The chunk of the span around this time. Appends nothing if there is none. Chunks that are damaged are
 * reported and count as none. */
int ald_tier_load_samples(AldDatabase *database, uint32_t series, int64_t time, GArray *samples);
int ald_tier_load_buckets(
        AldDatabase *database, AldTier tier, uint32_t series, int64_t time, GArray *buckets);

/* Replaces it. *bytes grows by what was written. */
int ald_tier_save_samples(
        AldDatabase *database, uint32_t series, int64_t time, const GArray *samples, size_t *bytes);
int ald_tier_save_buckets(AldDatabase *database, AldTier tier, uint32_t series, int64_t time,
        const GArray *buckets, size_t *bytes);

/* The starts of the first and the last span that has a chunk; false in *ret_any if there is none. */
int ald_tier_extent(
        AldDatabase *database, AldTier tier, bool *ret_any, int64_t *ret_first, int64_t *ret_last);

/* The first of these starts in any tier; INT64_MAX if there is none. */
int ald_tier_oldest(AldDatabase *database, int64_t *ret);

/* When the oldest that is kept was measured, to the width of its tier; INT64_MAX if nothing is. Only the
 * series that were recorded first are looked at. */
int ald_tier_oldest_time(AldDatabase *database, int64_t *ret);

/* Deletes all chunks of the span that starts then. */
int ald_tier_drop(AldDatabase *database, AldTier tier, int64_t start);
