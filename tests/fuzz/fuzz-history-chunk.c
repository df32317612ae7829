/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "services/history/store/chunk.h"
#include "services/history/store/pack.h"
#include "services/history/store/packed-rows.h"
#include "services/history/store/sample.h"
#include "services/history/store/tiers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const AldChunk *chunk, const AldChunk *again)
{
        g_assert_cmpuint(chunk->n_rows, ==, again->n_rows);
        g_assert_cmpuint(chunk->n_columns, ==, again->n_columns);
        g_assert_cmpmem(
                chunk->times, chunk->n_rows * sizeof(int64_t), again->times, again->n_rows * sizeof(int64_t));
        for (size_t i = 0; i < chunk->n_columns; i++)
                for (size_t row = 0; row < chunk->n_rows; row++) {
                        const double one = chunk->columns[i][row], other = again->columns[i][row];

                        g_assert_true(memcmp(&one, &other, sizeof one) == 0 || (isnan(one) && isnan(other)));
                }
}

/* What is read is valid, and is the same again once it was written. */
static void check_chunk(const uint8_t *data, size_t size)
{
        g_autoptr(AldChunk) chunk = NULL, again = NULL;
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        if (ald_chunk_decode(data, size, &chunk) < 0)
                return;
        for (size_t i = 1; i < chunk->n_rows; i++)
                g_assert_cmpint(chunk->times[i], >, chunk->times[i - 1]);
        ald_chunk_encode(chunk, bytes);
        g_assert_cmpint(ald_chunk_decode(bytes->data, bytes->len, &again), ==, 0);
        check_same(chunk, again);
}

static void check_rows(const uint8_t *packed, size_t size)
{
        g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(AldSample));
        g_autoptr(GArray) buckets = g_array_new(FALSE, FALSE, sizeof(AldBucket));

        (void) ald_samples_unpack(packed, size, 1000000, 3600000000, samples);
        for (guint i = 0; i < samples->len; i++)
                g_assert_true(g_array_index(samples, AldSample, i).time >= 1000000 &&
                              g_array_index(samples, AldSample, i).time < 3600000000);
        (void) ald_buckets_unpack(packed, size, 60000000, 0, 21600000000, buckets);
        for (guint i = 0; i < buckets->len; i++)
                g_assert_true(g_array_index(buckets, AldBucket, i).start < 21600000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(GByteArray) packed = NULL, unpacked = NULL;

        check_chunk(data, size);
        check_rows(data, size);
        if (size > ALD_PACK_BYTES_MAX)
                return 0;
        /* With a checksum that is right. */
        packed = ald_pack(data, size);
        g_assert_cmpint(ald_unpack(packed->data, packed->len, &unpacked), ==, 0);
        g_assert_cmpmem(unpacked->data, unpacked->len, data, size);
        check_rows(packed->data, packed->len);
        return 0;
}
