/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Samples in three tiers: as they were measured, by the minute and by the hour. A bucket holds what is known
 * of a span; without values, the field was unknown in that span. A span without a bucket was not observed.
 * Pure.
 */
typedef enum AldTier {
        ALD_TIER_RAW,
        ALD_TIER_MINUTES,
        ALD_TIER_HOURS,
        ALD_TIERS,
} AldTier;

typedef struct AldBucket {
        int64_t start;         /* first µs of the span */
        double min, max, mean; /* NaN if there is no value */
        uint64_t count;        /* number of values */
} AldBucket;

/* Adds another bucket to this one. Joining is commutative, and associative except for the last bits of the
 * mean. */
void ald_bucket_join(AldBucket *into, const AldBucket *other);

/* Returns an empty bucket at this time. */
AldBucket ald_bucket_at(int64_t start);

/* Returns the start of the span of this width that contains the time, which may be before 1970. */
int64_t ald_span_start(int64_t time, int64_t width);

/* Converts settled samples to buckets in the order of time. */
GArray *ald_buckets_of_samples(const GArray *samples, int64_t width);

/* Joins buckets in the order of time to wider ones. */
GArray *ald_buckets_widen(const GArray *buckets, int64_t width);

/* Merges buckets, both in the order of time. Those with the same start are joined. */
GArray *ald_buckets_merge(const GArray *some, const GArray *others);

/* Replaces the buckets that start within [from, to) by others in that range. */
GArray *ald_buckets_replace(const GArray *buckets, int64_t from, int64_t to, const GArray *others);

/* Returns the buckets that start within [from, to). */
GArray *ald_buckets_within(const GArray *buckets, int64_t from, int64_t to);
