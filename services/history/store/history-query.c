/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "services/history/store/history-query.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"

typedef struct AldSeriesQuery {
        AldDatabase *database;
        uint32_t series;
        int64_t from, to, step; /* width of a point */
} AldSeriesQuery;

/* Converts samples to buckets at once: there can be more raw samples than points. */
static GArray *to_buckets(AldTier tier, const GArray *samples)
{
        return ald_buckets_of_samples(
                samples, tier == ALD_TIER_RAW ? ALD_SAMPLE_STEP_USEC : ald_tier_rules[tier].width);
}

static int load_span(const AldSeriesQuery *query, AldTier tier, int64_t start, GArray *buckets)
{
        g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(AldSample));
        g_autoptr(GArray) some = NULL;
        int r;

        if (tier != ALD_TIER_RAW)
                return ald_tier_load_buckets(query->database, tier, query->series, start, buckets);
        r = ald_tier_load_samples(query->database, query->series, start, samples);
        if (r < 0)
                return r;
        some = to_buckets(tier, samples);
        g_array_append_vals(buckets, some->data, some->len);
        return 0;
}

/* Appends the buckets of a tier within [from, to). *ret_from is where its data begins. */
static int load_tier(
        const AldSeriesQuery *query, AldTier tier, int64_t to, int64_t *ret_from, GArray *buckets)
{
        const int64_t span = ald_tier_rules[tier].span;
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        g_autoptr(GArray) within = NULL;
        int64_t first, last, from;
        bool any;
        int r;

        r = ald_tier_extent(query->database, tier, &any, &first, &last);
        if (r < 0)
                return r;
        *ret_from = any ? MAX(first, query->from) : to;
        from = ald_span_start(*ret_from, ald_tier_rules[tier].width);
        for (int64_t start = ald_span_start(from, span); any && start < MIN(to, last + span); start += span) {
                r = load_span(query, tier, start, all);
                if (r < 0)
                        return r;
        }
        within = ald_buckets_within(all, from, to);
        g_array_append_vals(buckets, within->data, within->len);
        return 0;
}

/* Loads from this tier on, the later data before the earlier. */
static int load_tiers(const AldSeriesQuery *query, AldTier tier, GArray **buckets)
{
        int64_t to = query->to;

        for (; tier < ALD_TIERS && to > query->from; tier++) {
                g_autoptr(GArray) earlier = g_array_new(FALSE, FALSE, sizeof(AldBucket));
                g_autoptr(GArray) later = *buckets;
                int64_t from = to;
                int r;

                r = load_tier(query, tier, to, &from, earlier);
                *buckets = ald_buckets_merge(earlier, later);
                if (r < 0)
                        return r;
                to = MIN(to, from);
        }
        return 0;
}

static GArray *fold_into_points(const AldSeriesQuery *query, const GArray *buckets)
{
        GArray *points = g_array_new(FALSE, FALSE, sizeof(AldBucket));

        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);
                int64_t after = MAX(bucket->start - query->from, 0);
                const AldBucket fresh = ald_bucket_at(query->from + ald_span_start(after, query->step));

                if (points->len == 0 || g_array_index(points, AldBucket, points->len - 1).start < fresh.start)
                        g_array_append_val(points, fresh);
                ald_bucket_join(&g_array_index(points, AldBucket, points->len - 1), bucket);
        }
        return points;
}

/* Returns whether the settled samples contain this time, from *at on. */
static bool has_time(const GArray *samples, guint *at, int64_t time)
{
        while (*at < samples->len && g_array_index(samples, AldSample, *at).time < time)
                ++*at;
        return *at < samples->len && g_array_index(samples, AldSample, *at).time == time;
}

/* Selects the recent samples that are not in the tiers. Some are in both if the move was interrupted, and
 * would count twice. */
static int select_new(const AldSeriesQuery *query, const GArray *recent, GArray *selected)
{
        g_autoptr(GArray) raw = g_array_new(FALSE, FALSE, sizeof(AldSample));
        int64_t hour = INT64_MIN;
        guint at = 0;

        for (guint i = 0; i < recent->len; i++) {
                const AldSample *sample = &g_array_index(recent, AldSample, i);
                int r;

                if (ald_span_start(sample->time, ALD_HOUR_USEC) != hour) {
                        hour = ald_span_start(sample->time, ALD_HOUR_USEC);
                        g_array_set_size(raw, 0);
                        at = 0;
                        r = ald_tier_load_samples(query->database, query->series, hour, raw);
                        if (r < 0)
                                return r;
                }
                if (!has_time(raw, &at, sample->time))
                        g_array_append_val(selected, *sample);
        }
        return 0;
}

int ald_query_series(AldDatabase *database, uint32_t series, const GArray *recent, int64_t from, int64_t to,
        unsigned points, GArray **ret)
{
        const int64_t step = (to - from + points - 1) / points;
        const AldSeriesQuery query = { database, series, from, to, step };
        g_autoptr(GArray) selected = g_array_new(FALSE, FALSE, sizeof(AldSample));
        g_autoptr(GArray) all_recent = NULL, within = NULL;
        GArray *buckets = g_array_new(FALSE, FALSE, sizeof(AldBucket));
        AldTier tier = ALD_TIER_HOURS;
        int r;

        while (tier > ALD_TIER_RAW && ald_tier_rules[tier].width > step)
                tier--;
        r = load_tiers(&query, tier, &buckets);
        if (r >= 0)
                r = select_new(&query, recent, selected);
        all_recent = to_buckets(tier, selected);
        within = ald_buckets_within(all_recent, ald_span_start(from, ald_tier_rules[tier].width), to);
        if (r >= 0) {
                g_autoptr(GArray) all = ald_buckets_merge(buckets, within);

                *ret = fold_into_points(&query, all);
        }
        g_array_unref(buckets);
        return r;
}
