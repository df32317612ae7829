/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "services/history/store/sample.h"
#include "services/history/store/tiers.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static GArray *new_samples(void)
{
        return g_array_new(FALSE, FALSE, sizeof(AldSample));
}

static void add(GArray *samples, int64_t time, double value)
{
        const AldSample sample = { time, value };

        g_array_append_val(samples, sample);
}

static GArray *random_samples(GRand *rand, guint n)
{
        GArray *samples = new_samples();

        for (guint i = 0; i < n; i++)
                add(samples, g_rand_int_range(rand, 0, 1000) * 10 * SECOND,
                        g_rand_int_range(rand, 0, 4) == 0 ? NAN : g_rand_int_range(rand, -50, 50));
        return samples;
}

/* By definition. */
static AldBucket naive_bucket(const GArray *samples, int64_t start, int64_t width, bool *ret_any)
{
        AldBucket bucket = ald_bucket_at(start);
        double sum = 0;

        *ret_any = false;
        for (guint i = 0; i < samples->len; i++) {
                const AldSample *sample = &g_array_index(samples, AldSample, i);

                if (sample->time < start || sample->time >= start + width)
                        continue;
                *ret_any = true;
                if (isnan(sample->value))
                        continue;
                bucket.min = fmin(bucket.min, sample->value);
                bucket.max = fmax(bucket.max, sample->value);
                sum += sample->value;
                bucket.count++;
        }
        if (bucket.count > 0)
                bucket.mean = sum / (double) bucket.count;
        return bucket;
}

static void check_same(const AldBucket *a, const AldBucket *b)
{
        g_assert_cmpint(a->start, ==, b->start);
        g_assert_cmpuint(a->count, ==, b->count);
        if (a->count == 0) {
                g_assert_true(isnan(a->min) && isnan(a->max) && isnan(a->mean));
                g_assert_true(isnan(b->min) && isnan(b->max) && isnan(b->mean));
                return;
        }
        g_assert_cmpfloat(a->min, ==, b->min);
        g_assert_cmpfloat(a->max, ==, b->max);
        g_assert_cmpfloat_with_epsilon(a->mean, b->mean, 1e-9);
}

static void check_buckets(const GArray *buckets, const GArray *samples, int64_t width)
{
        guint n = 0;

        for (int64_t start = 0; start < 10000 * SECOND; start += width) {
                bool any;
                const AldBucket expected = naive_bucket(samples, start, width, &any);

                if (!any)
                        continue;
                g_assert_cmpuint(n, <, buckets->len);
                check_same(&g_array_index(buckets, AldBucket, n++), &expected);
        }
        g_assert_cmpuint(n, ==, buckets->len);
}

static void check_equal(const GArray *some, const GArray *others)
{
        g_assert_cmpuint(some->len, ==, others->len);
        for (guint i = 0; i < some->len; i++)
                check_same(&g_array_index(some, AldBucket, i), &g_array_index(others, AldBucket, i));
}

static void test_settle(void)
{
        g_autoptr(GArray) samples = new_samples();

        add(samples, 5, 1);
        add(samples, 3, 2);
        add(samples, 5, 3); /* the last of a time */
        add(samples, 4, NAN);
        add(samples, 3, NAN);
        ald_samples_settle(samples);
        g_assert_cmpuint(samples->len, ==, 3);
        g_assert_cmpint(g_array_index(samples, AldSample, 0).time, ==, 3);
        g_assert_true(isnan(g_array_index(samples, AldSample, 0).value));
        g_assert_cmpint(g_array_index(samples, AldSample, 1).time, ==, 4);
        g_assert_cmpint(g_array_index(samples, AldSample, 2).time, ==, 5);
        g_assert_cmpfloat(g_array_index(samples, AldSample, 2).value, ==, 3);
}

static void test_definition(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < 30; i++) {
                g_autoptr(GArray) samples = random_samples(rand, (guint) g_rand_int_range(rand, 0, 300));
                g_autoptr(GArray) minutes = NULL, hours = NULL, at_once = NULL;

                ald_samples_settle(samples);
                minutes = ald_buckets_of_samples(samples, MINUTE);
                hours = ald_buckets_widen(minutes, HOUR);
                at_once = ald_buckets_of_samples(samples, HOUR);
                check_buckets(minutes, samples, MINUTE);
                check_buckets(hours, samples, HOUR);
                check_equal(hours, at_once);
        }
}

/* Whichever of three parts are merged first, and in whichever order, it is what all samples make at once. */
static void test_merge_is_associative(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < 30; i++) {
                g_autoptr(GArray) all = random_samples(rand, 200);
                GArray *samples[] = { new_samples(), new_samples(), new_samples() }, *parts[3];

                ald_samples_settle(all);
                for (guint k = 0; k < all->len; k++)
                        g_array_append_val(
                                samples[g_rand_int_range(rand, 0, 3)], g_array_index(all, AldSample, k));
                for (unsigned k = 0; k < 3; k++)
                        parts[k] = ald_buckets_of_samples(samples[k], MINUTE);
                for (unsigned k = 0; k < 3; k++) {
                        g_autoptr(GArray) two = ald_buckets_merge(parts[k], parts[(k + 1) % 3]);
                        g_autoptr(GArray) left = ald_buckets_merge(two, parts[(k + 2) % 3]);
                        g_autoptr(GArray) right = ald_buckets_merge(parts[(k + 2) % 3], two);

                        check_buckets(left, all, MINUTE);
                        check_equal(left, right);
                }
                for (unsigned k = 0; k < 3; k++) {
                        g_array_unref(samples[k]);
                        g_array_unref(parts[k]);
                }
        }
}

static void test_replace(void)
{
        g_autoptr(GArray) samples = new_samples(), buckets = NULL, others = NULL, replaced = NULL;

        for (int i = 0; i < 10; i++)
                add(samples, i * MINUTE, i);
        buckets = ald_buckets_of_samples(samples, MINUTE);
        g_array_set_size(samples, 0);
        add(samples, 4 * MINUTE + SECOND, 40);
        others = ald_buckets_of_samples(samples, MINUTE);
        replaced = ald_buckets_replace(buckets, 3 * MINUTE, 6 * MINUTE, others);
        g_assert_cmpuint(replaced->len, ==, 8);
        g_assert_cmpfloat(g_array_index(replaced, AldBucket, 2).mean, ==, 2);
        g_assert_cmpfloat(g_array_index(replaced, AldBucket, 3).mean, ==, 40);
        g_assert_cmpfloat(g_array_index(replaced, AldBucket, 4).mean, ==, 6);
}

/* Of huge values a sum would be infinite. */
static void test_extremes(void)
{
        AldBucket bucket = { 0, 1e308, 1.7e308, 1.5e308, 10 };
        const AldBucket other = { 0, 1.7e308, 1.7e308, 1.7e308, 10 };

        ald_bucket_join(&bucket, &other);
        g_assert_cmpfloat_with_epsilon(bucket.mean / 1e308, 1.6, 1e-9);
        g_assert_cmpint(ald_span_start(-1, MINUTE), ==, -MINUTE);
        g_assert_cmpint(ald_span_start(-MINUTE, MINUTE), ==, -MINUTE);
        g_assert_cmpint(ald_span_start(MINUTE - 1, MINUTE), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/history-tiers/settle", test_settle);
        g_test_add_func("/history-tiers/definition", test_definition);
        g_test_add_func("/history-tiers/merge-is-associative", test_merge_is_associative);
        g_test_add_func("/history-tiers/replace", test_replace);
        g_test_add_func("/history-tiers/extremes", test_extremes);
        return g_test_run();
}
