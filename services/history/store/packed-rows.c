/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "services/history/store/chunk.h"
#include "services/history/store/pack.h"
#include "services/history/store/packed-rows.h"
#include "services/history/store/sample.h"
#include "services/history/store/tiers.h"

enum { COLUMN_MIN, COLUMN_MAX, COLUMN_MEAN, COLUMN_COUNT, BUCKET_COLUMNS };

GByteArray *ald_samples_encode(const GArray *samples)
{
        g_autoptr(AldChunk) chunk = ald_chunk_new(samples->len, 1);
        GByteArray *bytes = g_byte_array_new();

        for (guint i = 0; i < samples->len; i++) {
                const AldSample *sample = &g_array_index(samples, AldSample, i);

                chunk->times[i] = sample->time / ALD_SAMPLE_STEP_USEC;
                chunk->columns[0][i] = sample->value;
        }
        ald_chunk_encode(chunk, bytes);
        return bytes;
}

GByteArray *ald_samples_pack(const GArray *samples)
{
        g_autoptr(GByteArray) bytes = ald_samples_encode(samples);

        return ald_pack(bytes->data, bytes->len);
}

/* Checks the first and the last time only, since times increase. */
static bool is_within(const AldChunk *chunk, int64_t unit, int64_t from, int64_t to)
{
        const int64_t last = chunk->times[chunk->n_rows - 1];

        return last <= INT64_MAX / unit && chunk->times[0] * unit >= from && last * unit < to;
}

int ald_samples_decode(const uint8_t *bytes, size_t n, int64_t from, int64_t to, GArray *samples)
{
        g_autoptr(AldChunk) chunk = NULL;
        int r;

        r = ald_chunk_decode(bytes, n, &chunk);
        if (r < 0)
                return r;
        if (chunk->n_columns != 1 || !is_within(chunk, ALD_SAMPLE_STEP_USEC, from, to))
                return -EBADMSG;
        for (size_t i = 0; i < chunk->n_rows; i++) {
                const AldSample sample = { chunk->times[i] * ALD_SAMPLE_STEP_USEC, chunk->columns[0][i] };

                g_array_append_val(samples, sample);
        }
        return 0;
}

int ald_samples_unpack(const uint8_t *packed, size_t n, int64_t from, int64_t to, GArray *samples)
{
        g_autoptr(GByteArray) bytes = NULL;
        int r;

        r = ald_unpack(packed, n, &bytes);
        return r < 0 ? r : ald_samples_decode(bytes->data, bytes->len, from, to, samples);
}

GByteArray *ald_buckets_pack(const GArray *buckets, int64_t width)
{
        g_autoptr(AldChunk) chunk = ald_chunk_new(buckets->len, BUCKET_COLUMNS);
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);

                chunk->times[i] = bucket->start / width;
                chunk->columns[COLUMN_MIN][i] = bucket->min;
                chunk->columns[COLUMN_MAX][i] = bucket->max;
                /* The limits were rounded with a precision, and need not be multiples of the mean's step. */
                chunk->columns[COLUMN_MEAN][i] = CLAMP(
                        ald_sample_round(bucket->mean, 0), bucket->min, bucket->max);
                chunk->columns[COLUMN_COUNT][i] = (double) bucket->count;
        }
        ald_chunk_encode(chunk, bytes);
        return ald_pack(bytes->data, bytes->len);
}

static bool read_bucket(const AldChunk *chunk, size_t i, int64_t width, AldBucket *ret)
{
        const double count = chunk->columns[COLUMN_COUNT][i];
        AldBucket bucket = {
                .start = chunk->times[i] * width,
                .min = chunk->columns[COLUMN_MIN][i],
                .max = chunk->columns[COLUMN_MAX][i],
                .mean = chunk->columns[COLUMN_MEAN][i],
        };
        bool known;

        if (!(count >= 0 && count <= 1e15 && count == floor(count)))
                return false;
        bucket.count = (uint64_t) count;
        known = bucket.min <= bucket.mean && bucket.mean <= bucket.max;
        if (bucket.count > 0 ? !known : !(isnan(bucket.min) && isnan(bucket.max) && isnan(bucket.mean)))
                return false;
        *ret = bucket;
        return true;
}

int ald_buckets_unpack(
        const uint8_t *packed, size_t n, int64_t width, int64_t from, int64_t to, GArray *buckets)
{
        g_autoptr(GByteArray) bytes = NULL;
        g_autoptr(AldChunk) chunk = NULL;
        const guint before = buckets->len;
        int r;

        r = ald_unpack(packed, n, &bytes);
        if (r >= 0)
                r = ald_chunk_decode(bytes->data, bytes->len, &chunk);
        if (r < 0)
                return r;
        if (chunk->n_columns != BUCKET_COLUMNS || !is_within(chunk, width, from, to))
                return -EBADMSG;
        for (size_t i = 0; i < chunk->n_rows; i++) {
                AldBucket bucket;

                if (!read_bucket(chunk, i, width, &bucket)) {
                        g_array_set_size(buckets, before);
                        return -EBADMSG;
                }
                g_array_append_val(buckets, bucket);
        }
        return 0;
}
