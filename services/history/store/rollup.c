/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "services/history/store/recent.h"
#include "services/history/store/rollup.h"
#include "services/history/store/tier-table.h"

typedef struct AldRollup {
        AldDatabase *database;
        size_t bytes, limit; /* bytes of the transaction so far, and their limit */
        uint32_t series;
        int64_t hour; /* start of the hour */
} AldRollup;

/* Merges the hour's samples in the tier with new ones. */
static int join_raw(AldRollup *rollup, GArray *joined, GArray *samples)
{
        g_array_append_vals(joined, samples->data, samples->len);
        ald_samples_settle(joined);
        g_array_set_size(samples, 0);
        g_array_append_vals(samples, joined->data, joined->len);
        return ald_tier_save_samples(rollup->database, rollup->series, rollup->hour, samples, &rollup->bytes);
}

/*
 * Stores the buckets of the hour in a tier: they replace the existing ones if they were computed from all
 * known data, else they are merged. Returns all buckets of the hour, and whether there were any before.
 */
static int join_tier(
        AldRollup *rollup, AldTier tier, const GArray *buckets, bool replace, bool *ret_had_any, GArray **ret)
{
        const int64_t from = rollup->hour, to = from + ALD_HOUR_USEC;
        g_autoptr(GArray) span = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        g_autoptr(GArray) before = NULL, hour = NULL, joined = NULL;
        int r;

        r = ald_tier_load_buckets(rollup->database, tier, rollup->series, from, span);
        if (r < 0)
                return r;
        before = ald_buckets_within(span, from, to);
        hour = replace ? ald_buckets_within(buckets, from, to) : ald_buckets_merge(before, buckets);
        joined = ald_buckets_replace(span, from, to, hour);
        r = ald_tier_save_buckets(rollup->database, tier, rollup->series, from, joined, &rollup->bytes);
        if (r < 0)
                return r;
        *ret_had_any = before->len > 0;
        if (ret)
                *ret = g_steal_pointer(&hour);
        return 0;
}

/* Removes samples of minutes that exist: they are probably among the samples that were dropped. */
static void remove_known(GArray *samples, const GArray *minutes)
{
        guint at = 0, n = 0;

        for (guint i = 0; i < samples->len; i++) {
                const AldSample sample = g_array_index(samples, AldSample, i);
                const int64_t minute = ald_span_start(sample.time, ALD_MINUTE_USEC);

                while (at < minutes->len && g_array_index(minutes, AldBucket, at).start < minute)
                        at++;
                if (at == minutes->len || g_array_index(minutes, AldBucket, at).start != minute)
                        g_array_index(samples, AldSample, n++) = sample;
        }
        g_array_set_size(samples, n);
}

static int load_minutes(const AldRollup *rollup, GArray **ret)
{
        g_autoptr(GArray) span = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        int r;

        r = ald_tier_load_buckets(rollup->database, ALD_TIER_MINUTES, rollup->series, rollup->hour, span);
        if (r >= 0)
                *ret = ald_buckets_within(span, rollup->hour, rollup->hour + ALD_HOUR_USEC);
        return r;
}

/* Merges samples into an hour. An hour whose samples were dropped gets no new ones, since a tier has either
 * all or nothing of an hour. Likewise, an hour whose minutes were dropped is not computed from the remaining
 * ones. */
static int roll_hour(AldRollup *rollup, GArray *samples)
{
        g_autoptr(GArray) known_samples = g_array_new(FALSE, FALSE, sizeof(AldSample));
        g_autoptr(GArray) known = NULL, minutes = NULL, all_minutes = NULL, hours = NULL;
        bool had_minutes = false, had_hour = false, had_samples;
        int r;

        r = ald_tier_load_samples(rollup->database, rollup->series, rollup->hour, known_samples);
        if (r >= 0)
                r = load_minutes(rollup, &known);
        if (r < 0)
                return r;
        had_samples = known_samples->len > 0;
        if (had_samples || known->len == 0)
                r = join_raw(rollup, known_samples, samples);
        else
                remove_known(samples, known);
        if (r < 0 || samples->len == 0)
                return r;
        minutes = ald_buckets_of_samples(samples, ALD_MINUTE_USEC);
        r = join_tier(rollup, ALD_TIER_MINUTES, minutes, had_samples, &had_minutes, &all_minutes);
        if (r < 0)
                return r;
        hours = ald_buckets_widen(all_minutes, ALD_HOUR_USEC);
        return join_tier(rollup, ALD_TIER_HOURS, hours, had_minutes, &had_hour, NULL);
}

static int renew_transaction(AldRollup *rollup)
{
        int r;

        if (rollup->bytes < rollup->limit)
                return 0;
        rollup->bytes = 0;
        r = ald_database_commit(rollup->database);
        return r < 0 ? r : ald_database_begin(rollup->database);
}

/* Moves the samples of a series, one hour at a time. */
static int roll_series(AldRollup *rollup, GArray *samples)
{
        const AldSample *all = (const AldSample *) (const void *) samples->data;
        int r = 0;

        ald_samples_settle(samples);
        for (guint i = 0; i < samples->len && r >= 0;) {
                g_autoptr(GArray) of_hour = g_array_new(FALSE, FALSE, sizeof(AldSample));

                rollup->hour = ald_span_start(all[i].time, ALD_HOUR_USEC);
                for (; i < samples->len && all[i].time < rollup->hour + ALD_HOUR_USEC; i++)
                        g_array_append_val(of_hour, all[i]);
                r = roll_hour(rollup, of_hour);
                if (r >= 0)
                        r = renew_transaction(rollup);
        }
        return r;
}

static int roll_group(AldRollup *rollup, uint32_t group, GArray *of_series[ALD_RECENT_GROUP])
{
        int r;

        r = ald_recent_load_group(rollup->database, group, of_series);
        for (unsigned i = 0; i < ALD_RECENT_GROUP && r >= 0; i++) {
                rollup->series = group * ALD_RECENT_GROUP + i;
                r = roll_series(rollup, of_series[i]);
        }
        return r;
}

int ald_rollup_group(AldDatabase *database, uint32_t group, size_t transaction_bytes)
{
        AldRollup rollup = { .database = database, .limit = transaction_bytes };
        GArray *of_series[ALD_RECENT_GROUP];
        int r;

        for (unsigned i = 0; i < ALD_RECENT_GROUP; i++)
                of_series[i] = g_array_new(FALSE, FALSE, sizeof(AldSample));
        r = ald_database_begin(database);
        if (r >= 0)
                r = roll_group(&rollup, group, of_series);
        if (r >= 0)
                r = ald_database_commit(database);
        else
                ald_database_rollback(database);
        for (unsigned i = 0; i < ALD_RECENT_GROUP; i++)
                g_array_unref(of_series[i]);
        return r;
}
