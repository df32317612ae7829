/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Samples in three tiers: as they were measured, by the minute and by the hour. Buckets hold what is known of
 * a span; one without any known value says that the field was unknown then. A span that has no bucket was not
 * observed. Pure.
 */
typedef enum AldTier {
        ALD_TIER_RAW,
        ALD_TIER_MINUTES,
        ALD_TIER_HOURS,
        ALD_TIERS,
} AldTier;

typedef struct AldBucket {
        int64_t start;         /* the span's first µs */
        double min, max, mean; /* NaN if there is no value */
        uint64_t count;        /* of values */
} AldBucket;

/* Joining is commutative, and associative but for the last bits of the mean. */
void ald_bucket_join(AldBucket *into, const AldBucket *other);

/* What a bucket at this time is before anything is known of it. */
AldBucket ald_bucket_at(int64_t start);

/* The start of the span of this width around the time; times before 1970 have one, too. */
int64_t ald_span_start(int64_t time, int64_t width);

/* Settled samples, as buckets in the order of time. */
GArray *ald_buckets_of_samples(const GArray *samples, int64_t width);

/* Buckets in the order of time, as wider ones. */
GArray *ald_buckets_widen(const GArray *buckets, int64_t width);

/* Both in the order of time. What starts at the same time is joined. */
GArray *ald_buckets_merge(const GArray *some, const GArray *others);

/* Replaces those that start within [from, to) by others, which do. */
GArray *ald_buckets_replace(const GArray *buckets, int64_t from, int64_t to, const GArray *others);

/* Those that start within [from, to). */
GArray *ald_buckets_within(const GArray *buckets, int64_t from, int64_t to);
