/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "services/history/store/chunk.h"
#include "services/history/store/pack.h"
#include "services/history/store/sample.h"

#define RANDOM_CHUNKS 300

static void check_same_double(double a, double b)
{
        if (isnan(a))
                g_assert_true(isnan(b));
        else
                g_assert_cmpmem(&a, sizeof a, &b, sizeof b);
}

static size_t check_round_trip(const AldChunk *chunk)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new(), packed = NULL, unpacked = NULL;
        g_autoptr(AldChunk) again = NULL;

        ald_chunk_encode(chunk, bytes);
        packed = ald_pack(bytes->data, bytes->len);
        g_assert_cmpint(ald_unpack(packed->data, packed->len, &unpacked), ==, 0);
        g_assert_cmpmem(bytes->data, bytes->len, unpacked->data, unpacked->len);
        g_assert_cmpint(ald_chunk_decode(bytes->data, bytes->len, &again), ==, 0);
        g_assert_cmpuint(again->n_rows, ==, chunk->n_rows);
        g_assert_cmpuint(again->n_columns, ==, chunk->n_columns);
        for (size_t row = 0; row < chunk->n_rows; row++) {
                g_assert_cmpint(again->times[row], ==, chunk->times[row]);
                for (size_t i = 0; i < chunk->n_columns; i++)
                        check_same_double(chunk->columns[i][row], again->columns[i][row]);
        }
        return packed->len;
}

/* Values of kinds that records have, and some that none has. */
static double random_value(GRand *rand, int kind)
{
        switch (kind) {
        case 0:
                return g_rand_int_range(rand, 0, 3);
        case 1:
                return (double) (g_rand_int(rand) & ~0xfffu) * 4096;
        case 2:
                return g_rand_int_range(rand, -10000, 10000) / 1000.0;
        case 3:
                return g_rand_double(rand);
        case 4:
                return ldexp(g_rand_double(rand) - 0.5, g_rand_int_range(rand, -1000, 1000));
        case 5:
                return g_rand_boolean(rand) ? 0x1p53 : -0x1p53;
        default:
                return g_rand_boolean(rand) ? -0.0 : 0.0;
        }
}

static AldChunk *random_chunk(GRand *rand)
{
        const size_t n_rows = (size_t) g_rand_int_range(rand, 1, g_rand_boolean(rand) ? 5 : 500);
        AldChunk *chunk = ald_chunk_new(n_rows, (size_t) g_rand_int_range(rand, 1, 5));
        const int step = g_rand_boolean(rand) ? 1 : 1000;
        int64_t time = g_rand_boolean(rand) ? 0 : g_rand_int(rand);

        for (size_t row = 0; row < n_rows; row++) {
                chunk->times[row] = time;
                time += 1 + g_rand_int_range(rand, 0, step);
        }
        for (size_t i = 0; i < chunk->n_columns; i++) {
                const int kind = g_rand_int_range(rand, 0, 7);
                const double gaps = g_rand_int_range(rand, 0, 3) / 2.0;

                for (size_t row = 0; row < n_rows; row++)
                        chunk->columns[i][row] = g_rand_double(rand) < gaps ? NAN : random_value(rand, kind);
        }
        return chunk;
}

static void test_round_trip(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < RANDOM_CHUNKS; i++) {
                g_autoptr(AldChunk) chunk = random_chunk(rand);

                check_round_trip(chunk);
        }
}

static void test_ends(void)
{
        g_autoptr(AldChunk) one = ald_chunk_new(1, 1), two = ald_chunk_new(2, 2);

        one->times[0] = ALD_CHUNK_TIME_MAX;
        one->columns[0][0] = NAN;
        check_round_trip(one);
        two->times[1] = ALD_CHUNK_TIME_MAX;
        two->columns[0][0] = -0x1p53;
        two->columns[0][1] = 0x1p53;
        two->columns[1][0] = G_MAXDOUBLE;
        two->columns[1][1] = -G_MINDOUBLE;
        check_round_trip(two);
}

/* A constant that is sampled regularly takes nothing, however long. */
static void test_size_of_constant(void)
{
        g_autoptr(AldChunk) chunk = ald_chunk_new(7200, 1);

        for (size_t i = 0; i < chunk->n_rows; i++) {
                chunk->times[i] = (int64_t) (17000000000 + 5 * i);
                chunk->columns[0][i] = 16384000000;
        }
        g_assert_cmpuint(check_round_trip(chunk), <, 40);
}

/* Noise of 20 steps, which has 4.3 bits; a naive row has 16 bytes. */
static void test_size_of_noise(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        g_autoptr(AldChunk) chunk = ald_chunk_new(3600, 1);

        for (size_t i = 0; i < chunk->n_rows; i++) {
                chunk->times[i] = (int64_t) (17000000000 + 10 * i + (size_t) g_rand_int_range(rand, 0, 2));
                chunk->columns[0][i] = ald_sample_round(20 + g_rand_double(rand), 0);
        }
        g_assert_cmpuint(check_round_trip(chunk), <, 3600 * 5 / 4);
}

/* Neither cut bytes, nor those of which one is another, are read beyond their end; the checksum finds them.
 */
static void test_damage(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < 30; i++) {
                g_autoptr(AldChunk) chunk = random_chunk(rand);
                g_autoptr(GByteArray) bytes = g_byte_array_new(), packed = NULL;

                ald_chunk_encode(chunk, bytes);
                packed = ald_pack(bytes->data, bytes->len);
                for (guint n = 0; n < packed->len; n += 1 + n / 20) {
                        g_autofree uint8_t *damaged = g_memdup2(packed->data, packed->len);
                        g_autoptr(GByteArray) unpacked = NULL;

                        g_assert_cmpint(ald_unpack(damaged, n, &unpacked), ==, -EBADMSG);
                        damaged[n] ^= (uint8_t) g_rand_int_range(rand, 1, 256);
                        g_assert_cmpint(ald_unpack(damaged, packed->len, &unpacked), ==, -EBADMSG);
                }
                for (guint n = 0; n < bytes->len; n += 1 + n / 20) {
                        g_autofree uint8_t *cut = g_memdup2(bytes->data, MAX(n, 1));
                        g_autoptr(AldChunk) again = NULL;

                        g_assert_cmpint(ald_chunk_decode(cut, n, &again), ==, -EBADMSG);
                }
        }
}

static void test_rounding(void)
{
        const struct {
                double value, precision, rounded;
        } cases[] = {
                { 0, 0, 0 },
                { 1, 0, 1 },
                { 799, 0, 799 },
                { 801, 0, 802 },
                { 9999, 0, 10000 },
                { 12345, 0, 12340 },
                { -0.00123449, 0, -0.001234 },
                { 25.4449, 0, 25.45 },
                { 25.4449, 0.25, 25.5 },
                { 0.2, 0.25, 0 },
                { -0.2, 0.25, 0 },
                { 3.3, 0.25, 3.5 },
                { 99.9, 0.25, 100 },
                { 16384123456, 0, 16380000000 },
                { 16384123456, 128 << 20, 16400000000 },
                { 0x1p53, 0, 9e15 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check_same_double(ald_sample_round(cases[i].value, cases[i].precision), cases[i].rounded);
        check_same_double(ald_sample_round(-0.0, 0), 0);
        g_assert_true(isnan(ald_sample_round(NAN, 1)));
        g_assert_true(isnan(ald_sample_round(-INFINITY, 1)));
        g_assert_cmpfloat(ald_sample_round(1e300, 0), ==, 1e300);
        g_assert_cmpfloat(ald_sample_round(1e-300, 0), ==, 0);
}

/* No further away than half a step, as few digits as such a step has, and the same when it is rounded again.
 */
static void test_rounding_is_near(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < 20000; i++) {
                const double value = ldexp(g_rand_double(rand) - 0.5, g_rand_int_range(rand, -20, 54));
                const double precision = g_rand_boolean(rand) ? 0 : fabs(value) * g_rand_double(rand);
                const double rounded = ald_sample_round(value, precision);
                g_autofree char *text = g_strdup_printf("%.4e", rounded);

                g_assert_cmpfloat(fabs(rounded - value), <=, MAX(fabs(value) / 800, precision) * (1 + 1e-9));
                check_same_double(g_ascii_strtod(text, NULL), rounded);
                check_same_double(ald_sample_round(rounded, precision), rounded);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/history-chunk/round-trip", test_round_trip);
        g_test_add_func("/history-chunk/ends", test_ends);
        g_test_add_func("/history-chunk/size-of-constant", test_size_of_constant);
        g_test_add_func("/history-chunk/size-of-noise", test_size_of_noise);
        g_test_add_func("/history-chunk/damage", test_damage);
        g_test_add_func("/history-chunk/rounding", test_rounding);
        g_test_add_func("/history-chunk/rounding-is-near", test_rounding_is_near);
        return g_test_run();
}
