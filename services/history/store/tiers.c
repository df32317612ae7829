/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "services/history/store/sample.h"
#include "services/history/store/tiers.h"

AldBucket ald_bucket_at(int64_t start)
{
        return (AldBucket){ .start = start, .min = NAN, .max = NAN, .mean = NAN };
}

void ald_bucket_join(AldBucket *into, const AldBucket *other)
{
        const uint64_t count = into->count + other->count;

        if (other->count == 0)
                return;
        into->min = fmin(into->min, other->min);
        into->max = fmax(into->max, other->max);
        /* Computes no sum that could overflow, and clamps the mean, whose last bits may be inexact. */
        into->mean = into->count == 0 ? other->mean
                                      : into->mean * ((double) into->count / (double) count) +
                                                other->mean * ((double) other->count / (double) count);
        into->mean = CLAMP(into->mean, into->min, into->max);
        into->count = count;
}

int64_t ald_span_start(int64_t time, int64_t width)
{
        int64_t past = time % width;

        return time - (past < 0 ? past + width : past);
}

/* Returns the bucket of this time at the end of the array, appending it if it is new. */
static AldBucket *last_bucket(GArray *buckets, int64_t time, int64_t width)
{
        const AldBucket fresh = ald_bucket_at(ald_span_start(time, width));

        if (buckets->len == 0 || g_array_index(buckets, AldBucket, buckets->len - 1).start != fresh.start)
                g_array_append_val(buckets, fresh);
        return &g_array_index(buckets, AldBucket, buckets->len - 1);
}

static GArray *new_buckets(void)
{
        return g_array_new(FALSE, FALSE, sizeof(AldBucket));
}

GArray *ald_buckets_of_samples(const GArray *samples, int64_t width)
{
        GArray *buckets = new_buckets();

        for (guint i = 0; i < samples->len; i++) {
                const AldSample *sample = &g_array_index(samples, AldSample, i);
                const double value = sample->value;
                const AldBucket one = { sample->time, value, value, value, isnan(value) ? 0 : 1 };

                ald_bucket_join(last_bucket(buckets, sample->time, width), &one);
        }
        return buckets;
}

GArray *ald_buckets_widen(const GArray *buckets, int64_t width)
{
        GArray *wider = new_buckets();

        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);

                ald_bucket_join(last_bucket(wider, bucket->start, width), bucket);
        }
        return wider;
}

GArray *ald_buckets_merge(const GArray *some, const GArray *others)
{
        GArray *merged = new_buckets();
        guint i = 0, j = 0;

        while (i < some->len || j < others->len) {
                const AldBucket *one = i < some->len ? &g_array_index(some, AldBucket, i) : NULL;
                const AldBucket *other = j < others->len ? &g_array_index(others, AldBucket, j) : NULL;
                bool first = one && (!other || one->start <= other->start);
                const AldBucket *next = first ? one : other;

                /* A width of 1 µs joins only buckets with the same start. */
                ald_bucket_join(last_bucket(merged, next->start, 1), next);
                i += first;
                j += !first;
        }
        return merged;
}

static GArray *select_buckets(const GArray *buckets, int64_t from, int64_t to, bool within)
{
        GArray *selected = new_buckets();

        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);

                if ((bucket->start >= from && bucket->start < to) == within)
                        g_array_append_val(selected, *bucket);
        }
        return selected;
}

GArray *ald_buckets_within(const GArray *buckets, int64_t from, int64_t to)
{
        return select_buckets(buckets, from, to, true);
}

GArray *ald_buckets_replace(const GArray *buckets, int64_t from, int64_t to, const GArray *others)
{
        g_autoptr(GArray) rest = select_buckets(buckets, from, to, false);

        return ald_buckets_merge(rest, others);
}
