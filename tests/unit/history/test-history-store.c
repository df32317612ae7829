/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "services/history/store/budget.h"
#include "services/history/store/history-store.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"
#include "tests/unit/history/history-folder.h"
#include "tests/unit/log-count.h"

#define SECOND INT64_C(1000000)
#define BEGIN (INT64_C(1700000000) * SECOND / ALD_DAY_USEC * ALD_DAY_USEC)
#define BUDGET (UINT64_C(64) << 20)

static const AldSeriesName name = { "0123", "Node1.Memory", "", "AvailableBytes" };

typedef struct Fixture {
        HistoryFolder folder;
        AldHistory *history;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        history_folder_make(&fixture->folder);
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        ald_history_free(fixture->history);
        history_folder_remove(&fixture->folder);
}

static void put(Fixture *fixture, int64_t time, double value)
{
        g_assert_cmpint(ald_history_put(fixture->history, &name, time, value, 0, time), ==, 0);
}

static void flush(Fixture *fixture, int64_t now)
{
        g_assert_cmpint(ald_history_flush(fixture->history, now), ==, 0);
}

static void reopen(Fixture *fixture)
{
        ald_history_free(fixture->history);
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
}

static GArray *query(Fixture *fixture, int64_t from, int64_t to, unsigned points)
{
        GArray *buckets = NULL;

        g_assert_cmpint(ald_history_query(fixture->history, &name, from, to, points, &buckets), ==, 0);
        return buckets;
}

static const AldBucket *at(const GArray *buckets, guint i)
{
        g_assert_cmpuint(i, <, buckets->len);
        return &g_array_index(buckets, AldBucket, i);
}

/* Values */

static void check_seconds(Fixture *fixture)
{
        g_autoptr(GArray) seconds = query(fixture, BEGIN, BEGIN + 100 * SECOND, 100);

        g_assert_cmpuint(seconds->len, ==, 91);
        for (guint i = 0; i < 91; i++) {
                const guint second = i < 50 ? i : i + 9;

                g_assert_cmpint(at(seconds, i)->start, ==, BEGIN + second * SECOND);
                if (second == 59) {
                        g_assert_cmpuint(at(seconds, i)->count, ==, 0);
                        g_assert_true(isnan(at(seconds, i)->mean));
                        continue;
                }
                g_assert_cmpuint(at(seconds, i)->count, ==, 1);
                g_assert_cmpfloat(at(seconds, i)->mean, ==, second);
                g_assert_cmpfloat(at(seconds, i)->min, ==, second);
                g_assert_cmpfloat(at(seconds, i)->max, ==, second);
        }
}

/* While samples wait, once they are written, once they are in the tiers, and in another process. A time
 * without samples, and one that was unknown, remain what they are. */
static void test_everywhere(Fixture *fixture, gconstpointer data)
{
        for (int second = 0; second < 100; second++)
                if (second < 50 || second > 59)
                        put(fixture, BEGIN + second * SECOND, second);
        put(fixture, BEGIN + 59 * SECOND, NAN);
        check_seconds(fixture);
        flush(fixture, BEGIN + 100 * SECOND);
        check_seconds(fixture);
        reopen(fixture);
        check_seconds(fixture);
        flush(fixture, BEGIN + ALD_HOUR_USEC);
        check_seconds(fixture);
        reopen(fixture);
        check_seconds(fixture);
}

/* What a minute is does not depend on when its samples arrived, or how often they were written between. */
static void test_disorder(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        g_autoptr(GArray) seconds = NULL, minutes = NULL, hours = NULL;
        guint order[1200];

        for (guint i = 0; i < 1200; i++)
                order[i] = i;
        for (guint i = 1199; i > 0; i--) {
                const guint other = (guint) g_rand_int_range(rand, 0, (gint32) i + 1), kept = order[i];

                order[i] = order[other];
                order[other] = kept;
        }
        for (guint i = 0; i < 1200; i++) {
                /* First a value that the later one of this time replaces. */
                put(fixture, BEGIN + order[i] * 10 * SECOND, 77777);
                put(fixture, BEGIN + order[i] * 10 * SECOND, order[i]);
                /* The hour goes back and forth, too, so that samples come late to the tiers. */
                if (i % 100 == 0)
                        flush(fixture, BEGIN + order[i] * 10 * SECOND);
        }
        flush(fixture, BEGIN + 4 * ALD_HOUR_USEC);
        flush(fixture, BEGIN + 5 * ALD_HOUR_USEC);
        seconds = query(fixture, BEGIN, BEGIN + 12000 * SECOND, 1200);
        minutes = query(fixture, BEGIN, BEGIN + 12000 * SECOND, 200);
        hours = query(fixture, BEGIN, BEGIN + 4 * ALD_HOUR_USEC, 4);
        g_assert_cmpuint(seconds->len, ==, 1200);
        g_assert_cmpuint(minutes->len, ==, 200);
        g_assert_cmpuint(hours->len, ==, 4);
        for (guint i = 0; i < 1200; i++)
                g_assert_cmpfloat(at(seconds, i)->mean, ==, ald_sample_round(i, 0));
        for (guint i = 0; i < 200; i++) {
                g_assert_cmpuint(at(minutes, i)->count, ==, 6);
                g_assert_cmpfloat(at(minutes, i)->min, ==, ald_sample_round(i * 6, 0));
                g_assert_cmpfloat(at(minutes, i)->max, ==, ald_sample_round(i * 6 + 5, 0));
                g_assert_cmpfloat_with_epsilon(at(minutes, i)->mean, i * 6 + 2.5, 1.6);
        }
        for (guint i = 0; i < 4; i++) {
                g_assert_cmpuint(at(hours, i)->count, ==, i < 3 ? 360 : 120);
                g_assert_cmpfloat(at(hours, i)->min, ==, ald_sample_round(i * 360, 0));
                g_assert_cmpfloat_with_epsilon(at(hours, i)->mean, i * 360 + (i < 3 ? 179.5 : 59.5), 2);
        }
}

/* Values that were rounded to another step than their mean are within minimum and maximum none the less. */
static void test_precision(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GArray) minutes = NULL;

        for (int minute = 0; minute < 60; minute++)
                g_assert_cmpint(ald_history_put(fixture->history, &name, BEGIN + minute * ALD_MINUTE_USEC,
                                        70.26 + minute / 2.0, 0.25, BEGIN),
                        ==, 0);
        flush(fixture, BEGIN);
        flush(fixture, BEGIN + ALD_HOUR_USEC);
        minutes = query(fixture, BEGIN, BEGIN + ALD_HOUR_USEC, 60);
        g_assert_cmpuint(minutes->len, ==, 60);
        for (guint i = 0; i < 60; i++)
                g_assert_cmpfloat(at(minutes, i)->mean, ==, 70.5 + i / 2.0);
}

/* Buckets of a query are what a naive reading of all samples says. */
static void test_query_by_definition(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        const int64_t n = 2 * 86400 / 30;

        for (int64_t i = 0; i < n; i++) {
                put(fixture, BEGIN + i * 30 * SECOND, (double) (i % 1000));
                if (i % 120 == 119)
                        flush(fixture, BEGIN + i * 30 * SECOND);
        }
        for (unsigned k = 0; k < 60; k++) {
                const int64_t from = BEGIN + g_rand_int_range(rand, 0, 1440) * ALD_MINUTE_USEC;
                const int64_t to = from + g_rand_int_range(rand, 1, 1440) * ALD_MINUTE_USEC;
                const unsigned points = (unsigned) g_rand_int_range(rand, 1, 300);
                const int64_t step = (to - from + points - 1) / points;
                g_autoptr(GArray) buckets = query(fixture, from, to, points);
                uint64_t count = 0, expected = 0;

                g_assert_cmpuint(buckets->len, <=, points);
                for (guint i = 0; i < buckets->len; i++) {
                        const AldBucket *bucket = at(buckets, i);

                        g_assert_cmpint((bucket->start - from) % step, ==, 0);
                        g_assert_cmpint(bucket->start, >=, from);
                        g_assert_cmpint(bucket->start, <, to);
                        g_assert_true(bucket->min <= bucket->mean && bucket->mean <= bucket->max);
                        count += bucket->count;
                }
                /* The tier's first bucket may begin before, its last one end after. */
                for (int64_t i = 0; i < n; i++)
                        expected += BEGIN + i * 30 * SECOND >= from && BEGIN + i * 30 * SECOND < to;
                g_assert_cmpint(llabs((int64_t) (count - expected)), <=,
                        step >= ALD_HOUR_USEC     ? 240
                        : step >= ALD_MINUTE_USEC ? 4
                                                  : 0);
        }
}

/* A year in the clock's future, and back: what was measured with the right clock stays. */
static void test_clock_jumps(Fixture *fixture, gconstpointer data)
{
        const int64_t year = 365 * ALD_DAY_USEC;
        g_autoptr(GArray) hours = NULL;

        for (int hour = 0; hour < 48; hour++) {
                put(fixture, BEGIN + hour * ALD_HOUR_USEC, hour);
                flush(fixture, BEGIN + hour * ALD_HOUR_USEC);
        }
        for (int minute = 0; minute < 5; minute++) {
                put(fixture, BEGIN + year + minute * ALD_MINUTE_USEC, 1000);
                flush(fixture, BEGIN + year + minute * ALD_MINUTE_USEC);
        }
        for (int hour = 48; hour < 60; hour++) {
                put(fixture, BEGIN + hour * ALD_HOUR_USEC, hour);
                flush(fixture, BEGIN + hour * ALD_HOUR_USEC);
        }
        hours = query(fixture, BEGIN, BEGIN + 60 * ALD_HOUR_USEC, 60);
        g_assert_cmpuint(hours->len, ==, 60);
        for (guint i = 0; i < hours->len; i++)
                g_assert_cmpfloat(at(hours, i)->mean, ==, i);
        g_array_unref(g_steal_pointer(&hours));
        /* What was not measured in the future goes. */
        hours = query(fixture, BEGIN + year, BEGIN + year + ALD_HOUR_USEC, 60);
        g_assert_cmpuint(hours->len, ==, 0);
}

static void drop_samples(Fixture *fixture, int64_t hour)
{
        AldDatabase *database = NULL;
        g_autofree char *reason = NULL;

        ald_history_free(fixture->history);
        g_assert_cmpint(ald_database_open(fixture->folder.path, &database, &reason), ==, 0);
        g_assert_cmpint(ald_tier_drop(database, ALD_TIER_RAW, hour), ==, 0);
        ald_database_close(database);
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
}

static uint64_t count_of_hour(Fixture *fixture, int64_t hour)
{
        g_autoptr(GArray) buckets = query(fixture, hour, hour + ALD_HOUR_USEC, 1);

        return at(buckets, 0)->count;
}

/* A result that is put again once the samples of its hour were dropped neither counts again nor replaces the
 * rest of the hour, however often; one of a minute that is not known is added. */
static void test_late_samples(Fixture *fixture, gconstpointer data)
{
        for (int minute = 0; minute < 30; minute++)
                put(fixture, BEGIN + minute * ALD_MINUTE_USEC, minute);
        flush(fixture, BEGIN + 30 * ALD_MINUTE_USEC);
        reopen(fixture);
        flush(fixture, BEGIN + ALD_HOUR_USEC);
        g_assert_cmpuint(count_of_hour(fixture, BEGIN), ==, 30);
        drop_samples(fixture, BEGIN);
        for (int round = 2; round < 6; round++) {
                put(fixture, BEGIN + 7 * ALD_MINUTE_USEC, 7);
                put(fixture, BEGIN + 45 * ALD_MINUTE_USEC, 45);
                flush(fixture, BEGIN + round * ALD_HOUR_USEC);
                reopen(fixture);
                flush(fixture, BEGIN + round * ALD_HOUR_USEC);
                g_assert_cmpuint(count_of_hour(fixture, BEGIN), ==, 31);
        }
}

/* A clock that is behind when the machine starts, until the network sets it: nothing is lost. */
static void test_clock_behind_at_start(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GArray) hours = NULL;

        for (int hour = 0; hour < 48; hour++) {
                put(fixture, BEGIN + hour * ALD_HOUR_USEC, hour);
                flush(fixture, BEGIN + hour * ALD_HOUR_USEC);
        }
        for (int boot = 0; boot < 5; boot++) {
                reopen(fixture);
                put(fixture, BEGIN - 30 * ALD_DAY_USEC, 1000);
                flush(fixture, BEGIN - 30 * ALD_DAY_USEC);
                put(fixture, BEGIN + (48 + boot) * ALD_HOUR_USEC, 48 + boot);
                flush(fixture, BEGIN + (48 + boot) * ALD_HOUR_USEC);
        }
        hours = query(fixture, BEGIN, BEGIN + 53 * ALD_HOUR_USEC, 53);
        g_assert_cmpuint(hours->len, ==, 53);
        for (guint i = 0; i < hours->len; i++)
                g_assert_cmpfloat(at(hours, i)->mean, ==, i);
}

static void test_arguments(Fixture *fixture, gconstpointer data)
{
        g_autofree char *long_word = g_strnfill(ALD_SERIES_WORD_MAX + 1, 'x');
        const AldSeriesName long_name = { "", "", long_word, "f" }, no_field = { "n", "k", "", "" };
        GArray *buckets = NULL;

        g_assert_cmpint(ald_history_put(fixture->history, &long_name, BEGIN, 1, 0, BEGIN), ==, -EINVAL);
        g_assert_cmpint(ald_history_put(fixture->history, &no_field, BEGIN, 1, 0, BEGIN), ==, -EINVAL);
        g_assert_cmpint(
                ald_history_put(fixture->history, &name, BEGIN, 1, 0, BEGIN + ALD_DAY_USEC), ==, -ERANGE);
        g_assert_cmpint(
                ald_history_put(fixture->history, &name, BEGIN + ALD_DAY_USEC, 1, 0, BEGIN), ==, -ERANGE);
        g_assert_cmpint(ald_history_put(fixture->history, &name, -1, 1, 0, 1), ==, -ERANGE);
        g_assert_cmpint(ald_history_put(fixture->history, &name, INT64_MIN, 1, 0, INT64_MAX), ==, -ERANGE);
        /* A clock that is not set says nothing, and the history does not begin in 1970. */
        g_assert_cmpint(
                ald_history_put(fixture->history, &name, ALD_DAY_USEC, 1, 0, ALD_DAY_USEC), ==, -ERANGE);
        g_assert_cmpint(ald_history_oldest(fixture->history, &(int64_t){ 0 }), ==, -ENODATA);
        g_assert_cmpint(ald_history_query(fixture->history, &name, 0, 1, 10, &buckets), ==, -ENODATA);
        put(fixture, BEGIN, 1);
        g_assert_cmpint(ald_history_query(fixture->history, &name, 1, 1, 10, &buckets), ==, -EINVAL);
        g_assert_cmpint(ald_history_query(fixture->history, &name, -1, 1, 10, &buckets), ==, -EINVAL);
        g_assert_cmpint(ald_history_query(fixture->history, &name, 0, INT64_MAX, 10, &buckets), ==, -EINVAL);
        g_assert_cmpint(ald_history_query(fixture->history, &name, 0, 1, 0, &buckets), ==, -ERANGE);
        g_assert_cmpint(ald_history_query(fixture->history, &name, 0, 1, 1000000000, &buckets), ==, -ERANGE);
        g_assert_cmpint(ald_history_query(fixture->history, &no_field, 0, 1, 1, &buckets), ==, -EINVAL);
        buckets = query(fixture, 0, ALD_HISTORY_TIME_MAX, ALD_HISTORY_POINTS_MAX);
        g_assert_cmpuint(buckets->len, ==, 1);
        g_array_unref(buckets);
}

/* Budget */

static void put_noise(Fixture *fixture, GRand *rand, int64_t now, unsigned n_series)
{
        for (unsigned i = 0; i < n_series; i++) {
                g_autofree char *field = g_strdup_printf("Field%u", i);
                const AldSeriesName noise = { "0123", "Node1.System", "", field };

                for (int second = 0; second < 60; second += 2)
                        g_assert_cmpint(ald_history_put(fixture->history, &noise, now + second * SECOND,
                                                g_rand_double(rand), 0, now),
                                ==, 0);
        }
}

static uint64_t check_size(Fixture *fixture, uint64_t budget)
{
        uint64_t bytes = history_folder_bytes(&fixture->folder);

        g_assert_cmpuint(bytes, <=, budget);
        return bytes;
}

/* The size is never more than the budget, and what remains reaches from some time until now without holes. */
static int64_t play(Fixture *fixture, GRand *rand, int64_t now, int hours, uint64_t budget)
{
        uint64_t most = 0;

        for (int64_t end = now + hours * ALD_HOUR_USEC; now < end; now += 12 * ALD_MINUTE_USEC) {
                put(fixture, now + 30 * SECOND, 5);
                put_noise(fixture, rand, now, 60);
                flush(fixture, now + ALD_MINUTE_USEC);
                most = MAX(most, check_size(fixture, budget));
        }
        g_assert_cmpuint(most, >, budget / 2);
        return now;
}

static void test_budget(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        g_autoptr(GArray) first = NULL, last = NULL, all = NULL;
        int64_t now = BEGIN, oldest;

        g_assert_cmpint(ald_history_set_budget(fixture->history, 2 * ALD_BUDGET_MIN), ==, 0);
        now = play(fixture, rand, now, 28, 2 * ALD_BUDGET_MIN);
        g_assert_cmpint(ald_history_set_budget(fixture->history, 0), ==, 0);
        check_size(fixture, ALD_BUDGET_MIN);
        now = play(fixture, rand, now, 6, ALD_BUDGET_MIN);
        /* Of the first hour there are minutes or hours only, of the last one what was measured. */
        first = query(fixture, BEGIN, BEGIN + ALD_HOUR_USEC, 3600);
        last = query(fixture, now - ALD_HOUR_USEC, now, 3600);
        all = query(fixture, BEGIN, now, 34);
        g_assert_cmpint(at(first, 0)->start, ==, BEGIN);
        g_assert_cmpuint(last->len, ==, 5);
        g_assert_cmpint(at(last, 0)->start, ==, now - ALD_HOUR_USEC + 30 * SECOND);
        g_assert_cmpuint(all->len, ==, 34);
        for (guint i = 0; i < all->len; i++)
                g_assert_cmpuint(at(all, i)->count, ==, 5);
        g_assert_cmpuint(ald_history_lost(fixture->history), ==, 0);
        g_assert_cmpint(ald_history_oldest(fixture->history, &oldest), ==, 0);
        g_assert_cmpint(oldest, <=, BEGIN);
}

/* One call does not take long, whatever there is to drop. */
static void test_much_smaller_budget(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        int64_t now = BEGIN;
        int r, n = 0;

        g_assert_cmpint(ald_history_set_budget(fixture->history, 4 * ALD_BUDGET_MIN), ==, 0);
        now = play(fixture, rand, now, 48, 4 * ALD_BUDGET_MIN);
        r = ald_history_set_budget(fixture->history, ALD_BUDGET_MIN);
        g_assert_cmpint(r, ==, 1);
        for (; r > 0 && n < 10; n++)
                r = ald_history_flush(fixture->history, now);
        g_assert_cmpint(r, ==, 0);
        check_size(fixture, ALD_BUDGET_MIN);
        (void) play(fixture, rand, now, 2, ALD_BUDGET_MIN);
        g_assert_cmpuint(ald_history_lost(fixture->history), ==, 0);
}

/* Nor are there series that leave no room for anything else. */
static void test_many_series_in_a_smaller_budget(Fixture *fixture, gconstpointer data)
{
        int r, n = 0;

        g_assert_cmpint(ald_history_set_budget(fixture->history, 16 * ALD_BUDGET_MIN), ==, 0);
        for (unsigned i = 0; i < 6000; i++) {
                g_autofree char *field = g_strdup_printf(
                        "Devices[a-rather-long-name-of-a-device-%06u].MemoryUsedBytes", i);
                const AldSeriesName many = { "00112233445566778899aabbccddeeff", "Node1.System", "", field };

                g_assert_cmpint(ald_history_put(fixture->history, &many, BEGIN, i, 0, BEGIN), ==, 0);
        }
        flush(fixture, BEGIN);
        flush(fixture, BEGIN + ALD_HOUR_USEC);
        for (r = ald_history_set_budget(fixture->history, ALD_BUDGET_MIN); r > 0 && n < 20; n++)
                r = ald_history_flush(fixture->history, BEGIN + ALD_HOUR_USEC);
        g_assert_cmpint(r, ==, 0);
        check_size(fixture, ALD_BUDGET_MIN);
        put(fixture, BEGIN + 2 * ALD_HOUR_USEC, 5);
        flush(fixture, BEGIN + 3 * ALD_HOUR_USEC);
        check_size(fixture, ALD_BUDGET_MIN);
        g_assert_cmpuint(ald_history_lost(fixture->history), ==, 0);
}

/* More series than a budget allows are not kept, nor more than half of them of one node, and do no harm to
 * the others. */
static void test_series_limit(Fixture *fixture, gconstpointer data)
{
        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        put(fixture, BEGIN, 5);
        for (unsigned i = 0; i < 2000; i++) {
                g_autofree char *field = g_strdup_printf("Field%u", i);
                const AldSeriesName many = { "0123", "Node1.System", "", field };

                g_assert_cmpint(ald_history_put(fixture->history, &many, BEGIN, i, 0, BEGIN), ==, 0);
        }
        flush(fixture, BEGIN);
        g_assert_cmpuint(
                ald_history_lost(fixture->history), ==, 2000 - ald_budget_series(ALD_BUDGET_MIN) / 2);
        g_assert_cmpuint(log_count("too many series of node 0123;"), ==, 1);
        {
                const AldSeriesName other = { "4567", "Node1.System", "", "Field" };
                const uint64_t lost = ald_history_lost(fixture->history);

                g_assert_cmpint(ald_history_put(fixture->history, &other, BEGIN, 1, 0, BEGIN), ==, 0);
                flush(fixture, BEGIN);
                g_assert_cmpuint(ald_history_lost(fixture->history), ==, lost);
        }
        flush(fixture, BEGIN + ALD_HOUR_USEC);
        check_size(fixture, ALD_BUDGET_MIN);
        {
                g_autoptr(GArray) hour = query(fixture, BEGIN, BEGIN + ALD_HOUR_USEC, 1);

                g_assert_cmpfloat(at(hour, 0)->mean, ==, 5);
        }
        /* Those that ended make room for others. */
        put(fixture, BEGIN + 3 * ALD_DAY_USEC, 6);
        flush(fixture, BEGIN + 3 * ALD_DAY_USEC);
        {
                const AldSeriesName fresh = { "0123", "Node1.System", "", "Fresh" };
                const uint64_t lost = ald_history_lost(fixture->history);

                g_assert_cmpint(ald_history_put(fixture->history, &fresh, BEGIN + 3 * ALD_DAY_USEC, 1, 0,
                                        BEGIN + 3 * ALD_DAY_USEC),
                        ==, 0);
                flush(fixture, BEGIN + 3 * ALD_DAY_USEC + ALD_MINUTE_USEC);
                g_assert_cmpuint(ald_history_lost(fixture->history), ==, lost);
        }
}

/* A node that reports ever new fields loses its own samples; those of others wait on. */
static void test_pending_shares(Fixture *fixture, gconstpointer data)
{
        const AldSeriesName liar = { "4567", "Node1.System", "", "Field" };

        for (unsigned i = 0; i < 10; i++)
                put(fixture, BEGIN + i * SECOND, i);
        for (unsigned i = 0; i < 2 * ALD_HISTORY_PENDING_MAX; i++)
                g_assert_cmpint(ald_history_put(fixture->history, &liar, BEGIN, i, 0, BEGIN), ==, 0);
        g_assert_cmpuint(ald_history_lost(fixture->history), >=, ALD_HISTORY_PENDING_MAX);
        flush(fixture, BEGIN);
        for (unsigned i = 0; i < 10; i++) {
                g_autoptr(GArray) seconds = query(fixture, BEGIN + i * SECOND, BEGIN + (i + 1) * SECOND, 1);

                g_assert_cmpfloat(at(seconds, 0)->mean, ==, i);
        }
}

static void put_many(Fixture *fixture, const char *node, const char *prefix, unsigned n, int64_t time)
{
        for (unsigned i = 0; i < n; i++) {
                g_autofree char *field = g_strdup_printf("%s%u", prefix, i);
                const AldSeriesName many = { node, "Node1.System", "", field };

                g_assert_cmpint(ald_history_put(fixture->history, &many, time, i, 0, time), ==, 0);
        }
        flush(fixture, time);
}

/* What a node has that was refused makes room for it; what ended of others stays. */
static void test_refused_make_room(Fixture *fixture, gconstpointer data)
{
        const unsigned max = ald_budget_series(ALD_BUDGET_MIN);
        const int64_t later = BEGIN + 3 * ALD_DAY_USEC;
        uint64_t lost;

        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        put(fixture, BEGIN, 5); /* which ends */
        put_many(fixture, "4567", "Old", max / 2, BEGIN + ALD_HOUR_USEC);
        put_many(fixture, "4567", "New", max / 2, later);
        lost = ald_history_lost(fixture->history);
        g_assert_cmpuint(lost, >, 0);
        put_many(fixture, "4567", "New", 1, later + ALD_HOUR_USEC);
        put_many(fixture, "4567", "New", max / 16, later + ALD_HOUR_USEC + ALD_MINUTE_USEC);
        g_assert_cmpuint(ald_history_lost(fixture->history), <=, lost + 1);
        {
                g_autoptr(GArray) hour = query(fixture, BEGIN, BEGIN + ALD_HOUR_USEC, 1);

                g_assert_cmpfloat(at(hour, 0)->mean, ==, 5);
        }
}

/* While nothing is written, neither samples nor names fill the memory; and what others have is kept. */
static void test_many_names(Fixture *fixture, gconstpointer data)
{
        const guint n = 140000;

        for (guint i = 0; i < n; i++) {
                g_autofree char *field = g_strdup_printf("Field%u", i);
                const AldSeriesName many = { "4567", "Node1.System", "", field };

                g_assert_cmpint(ald_history_put(fixture->history, &many, BEGIN, i, 0, BEGIN), ==, 0);
        }
        put(fixture, BEGIN, 5);
        g_assert_cmpuint(ald_history_lost(fixture->history), >=, n - ALD_HISTORY_PENDING_MAX);
        g_assert_cmpuint(ald_history_lost(fixture->history), <=, 131072);
        flush(fixture, BEGIN);
        {
                g_autoptr(GArray) seconds = query(fixture, BEGIN, BEGIN + SECOND, 1);

                g_assert_cmpfloat(at(seconds, 0)->mean, ==, 5);
        }
}

/* Events */

static void count_event(const AldKeptEvent *event, void *userdata)
{
        GString *text = userdata;

        g_string_append_printf(text, "%s %s %s %d;", event->finding, event->nodes, event->text,
                event->ended == INT64_MAX ? -1 : (int) ((event->ended - BEGIN) / SECOND));
}

static char *events_text(Fixture *fixture, int from, int to, unsigned max, int expected)
{
        GString *text = g_string_new(NULL);

        g_assert_cmpint(ald_history_visit_events(fixture->history, BEGIN + from * SECOND, BEGIN + to * SECOND,
                                max, count_event, text),
                ==, expected);
        return g_string_free(text, FALSE);
}

static void test_events(Fixture *fixture, gconstpointer data)
{
        g_autofree char *long_text = g_strnfill(ALD_EVENT_TEXT_MAX + 1, 'x');
        AldKeptEvent event = {
                .began = BEGIN + 10 * SECOND, .finding = "a", .nodes = "n", .text = "{}", .reporter = ""
        };
        g_autofree char *all = NULL, *late = NULL, *early = NULL, *first = NULL;
        int64_t one, two;

        g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &one), ==, 0);
        event.began = BEGIN + 20 * SECOND;
        event.finding = "b";
        g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &two), ==, 0);
        g_assert_cmpint(
                ald_history_end_event(fixture->history, one, BEGIN, BEGIN + 30 * SECOND), ==, -ENODATA);
        g_assert_cmpint(
                ald_history_end_event(fixture->history, one, BEGIN + 10 * SECOND, BEGIN + 30 * SECOND), ==,
                0);
        g_assert_cmpint(
                ald_history_end_event(fixture->history, one, BEGIN + 10 * SECOND, BEGIN + 40 * SECOND), ==,
                -ENODATA);
        g_assert_cmpint(ald_history_end_event(fixture->history, two + 1, BEGIN, BEGIN), ==, -ENODATA);
        event.text = long_text;
        g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &two), ==, -E2BIG);
        reopen(fixture);
        all = events_text(fixture, 0, 100, 10, 0);
        g_assert_cmpstr(all, ==, "a n {} 30;b n {} -1;");
        late = events_text(fixture, 31, 100, 10, 0);
        g_assert_cmpstr(late, ==, "b n {} -1;");
        early = events_text(fixture, 0, 20, 10, 0);
        g_assert_cmpstr(early, ==, "a n {} 30;");
        first = events_text(fixture, 0, 100, 1, -E2BIG);
        g_assert_cmpstr(first, ==, "a n {} 30;");
}

static void test_many_events(Fixture *fixture, gconstpointer data)
{
        AldKeptEvent event = { .finding = "a", .nodes = "n", .text = "{}", .reporter = "" };
        g_autofree char *all = NULL;
        int64_t id;

        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        for (int i = 0; i < 200; i++) {
                event.began = BEGIN + i * SECOND;
                g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &id), ==, 0);
        }
        all = events_text(fixture, 0, 200 - (int) ald_budget_events(ALD_BUDGET_MIN), 1000, 0);
        g_assert_cmpstr(all, ==, "");
}

static int64_t begin_event(Fixture *fixture, const char *reporter, int second)
{
        const AldKeptEvent event = { .began = BEGIN + second * SECOND,
                .finding = "a",
                .nodes = reporter,
                .text = "{}",
                .reporter = reporter };
        int64_t id;

        g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &id), ==, 0);
        return id;
}

typedef struct EventCount {
        const char *reporter;
        unsigned n, lasting;
} EventCount;

static void count_of_reporter(const AldKeptEvent *event, void *userdata)
{
        EventCount *count = userdata;

        if (strcmp(event->reporter, count->reporter) != 0)
                return;
        count->n++;
        count->lasting += event->ended == INT64_MAX;
}

static void check_events_of(Fixture *fixture, const char *reporter, unsigned n, unsigned lasting)
{
        EventCount count = { .reporter = reporter };

        g_assert_cmpint(ald_history_visit_events(fixture->history, 0, ALD_HISTORY_TIME_MAX,
                                ALD_HISTORY_EVENTS_MAX, count_of_reporter, &count),
                ==, 0);
        g_assert_cmpuint(count.n, ==, n);
        g_assert_cmpuint(count.lasting, ==, lasting);
}

/* A node that reports ever new findings loses its own events, first those that have ended; all of others
 * stay, and so they do after a restart and if the budget is lowered. */
static void test_event_shares(Fixture *fixture, gconstpointer data)
{
        const unsigned max = ald_budget_events(ALD_BUDGET_MIN), kept = max - max / 64;
        unsigned liars;

        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        for (int i = 0; i < 5; i++) {
                const int64_t id = begin_event(fixture, i < 3 ? "one" : "", i);

                if (i < 2)
                        g_assert_cmpint(ald_history_end_event(fixture->history, id, BEGIN + i * SECOND,
                                                BEGIN + (i + 1) * SECOND),
                                ==, 0);
        }
        for (int i = 0; i < 50; i++) {
                const int64_t id = begin_event(fixture, "liar", 100 + i);

                if (i >= 30)
                        g_assert_cmpint(ald_history_end_event(fixture->history, id,
                                                BEGIN + (100 + i) * SECOND, BEGIN + 200 * SECOND),
                                ==, 0);
        }
        liars = max - 55;
        for (unsigned i = 0; i < liars; i++)
                begin_event(fixture, "liar", 300 + (int) i);
        g_assert_cmpuint(ald_history_lost_events(fixture->history), ==, 0);
        begin_event(fixture, "liar", 1000);
        g_assert_cmpuint(ald_history_lost_events(fixture->history), ==, max + 1 - kept);
        check_events_of(fixture, "liar", kept - 5, 30 + liars + 1);
        reopen(fixture);
        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        for (int i = 0; i < 300; i++)
                begin_event(fixture, "liar", 2000 + i);
        g_assert_cmpuint(ald_history_lost_events(fixture->history), >=, 300 - max / 64);
        check_events_of(fixture, "one", 3, 1);
        check_events_of(fixture, "", 2, 2);
        /* Others get their share of what the liar has. */
        for (int i = 0; i < (int) max / 3; i++)
                begin_event(fixture, "two", 3000 + i);
        check_events_of(fixture, "two", max / 3, max / 3);
        check_events_of(fixture, "one", 3, 1);
}

/* A lower budget leaves each its share, too. */
static void test_event_shares_in_a_smaller_budget(Fixture *fixture, gconstpointer data)
{
        for (int i = 0; i < 5; i++)
                begin_event(fixture, "one", i);
        for (int i = 0; i < 500; i++)
                begin_event(fixture, "liar", 100 + i);
        check_events_of(fixture, "liar", 500, 500);
        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        begin_event(fixture, "liar", 1000);
        check_events_of(fixture, "one", 5, 5);
}

#define ADD(name, function) g_test_add("/history-store/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        ADD("everywhere", test_everywhere);
        ADD("disorder", test_disorder);
        ADD("precision", test_precision);
        ADD("query-by-definition", test_query_by_definition);
        ADD("clock-jumps", test_clock_jumps);
        ADD("late-samples", test_late_samples);
        ADD("clock-behind-at-start", test_clock_behind_at_start);
        ADD("arguments", test_arguments);
        ADD("budget", test_budget);
        ADD("much-smaller-budget", test_much_smaller_budget);
        ADD("many-series-in-a-smaller-budget", test_many_series_in_a_smaller_budget);
        ADD("series-limit", test_series_limit);
        ADD("pending-shares", test_pending_shares);
        ADD("refused-make-room", test_refused_make_room);
        ADD("many-names", test_many_names);
        ADD("events", test_events);
        ADD("many-events", test_many_events);
        ADD("event-shares", test_event_shares);
        ADD("event-shares-in-a-smaller-budget", test_event_shares_in_a_smaller_budget);
        return g_test_run();
}
