/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/history/store/packed-rows.h"
#include "services/history/store/sample.h"
#include "services/history/store/series-table.h"
#include "services/history/store/tier-table.h"

#define SERIES_BITS 24
#define OLDEST_SERIES 64

const AldTierRule ald_tier_rules[ALD_TIERS] = {
        [ALD_TIER_RAW] = { ALD_SAMPLE_STEP_USEC, ALD_HOUR_USEC, 2 * ALD_DAY_USEC, ALD_DAY_USEC },
        [ALD_TIER_MINUTES] = { ALD_MINUTE_USEC, 6 * ALD_HOUR_USEC, 30 * ALD_DAY_USEC, 30 * ALD_DAY_USEC },
        [ALD_TIER_HOURS] = { ALD_HOUR_USEC, 10 * ALD_DAY_USEC, 730 * ALD_DAY_USEC, 365 * ALD_DAY_USEC },
};

static const struct {
        const char *load, *save, *drop, *first, *last, *ids;
} texts[ALD_TIERS] = {
#define TEXTS(table)                                                                                    \
        {                                                                                               \
                "SELECT data FROM " table " WHERE id = ?",                                              \
                        "REPLACE INTO " table " (id, data) VALUES (?, ?)",                              \
                        "DELETE FROM " table " WHERE id BETWEEN ? AND ?", "SELECT min(id) FROM " table, \
                        "SELECT max(id) FROM " table,                                                   \
                        "SELECT id FROM " table " WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"         \
        }
        [ALD_TIER_RAW] = TEXTS("raw"),
        [ALD_TIER_MINUTES] = TEXTS("minutes"),
        [ALD_TIER_HOURS] = TEXTS("hours"),
};

static int64_t key_of(AldTier tier, uint32_t series, int64_t time)
{
        return time / ald_tier_rules[tier].span << SERIES_BITS | series;
}

static int load_chunk(AldDatabase *database, AldTier tier, uint32_t series, int64_t time, GArray *rows)
{
        const AldTierRule *rule = &ald_tier_rules[tier];
        const int64_t from = ald_span_start(time, rule->span), to = from + rule->span;
        sqlite3_stmt *statement;
        const void *data;
        size_t n;
        int r;

        r = ald_database_query(database, &statement, texts[tier].load, "i", key_of(tier, series, time));
        if (r >= 0)
                r = ald_database_step(database, statement);
        if (r <= 0)
                return r;
        data = sqlite3_column_blob(statement, 0);
        n = (size_t) sqlite3_column_bytes(statement, 0);
        r = tier == ALD_TIER_RAW ? ald_samples_unpack(data, n, from, to, rows)
                                 : ald_buckets_unpack(data, n, rule->width, from, to, rows);
        ald_database_reset(statement);
        if (r < 0)
                g_warning("A chunk of the history is damaged; ignoring it");
        return 0;
}

int ald_tier_load_samples(AldDatabase *database, uint32_t series, int64_t time, GArray *samples)
{
        return load_chunk(database, ALD_TIER_RAW, series, time, samples);
}

int ald_tier_load_buckets(AldDatabase *database, AldTier tier, uint32_t series, int64_t time, GArray *buckets)
{
        return load_chunk(database, tier, series, time, buckets);
}

static int save_chunk(
        AldDatabase *database, AldTier tier, uint32_t series, int64_t time, GByteArray *data, size_t *bytes)
{
        *bytes += data->len;
        return ald_database_run(database, texts[tier].save, "ib", key_of(tier, series, time), data);
}

int ald_tier_save_samples(
        AldDatabase *database, uint32_t series, int64_t time, const GArray *samples, size_t *bytes)
{
        g_autoptr(GByteArray) data = ald_samples_pack(samples);

        return save_chunk(database, ALD_TIER_RAW, series, time, data, bytes);
}

int ald_tier_save_buckets(AldDatabase *database, AldTier tier, uint32_t series, int64_t time,
        const GArray *buckets, size_t *bytes)
{
        g_autoptr(GByteArray) data = ald_buckets_pack(buckets, ald_tier_rules[tier].width);

        return save_chunk(database, tier, series, time, data, bytes);
}

int ald_tier_extent(AldDatabase *database, AldTier tier, bool *ret_any, int64_t *ret_first, int64_t *ret_last)
{
        int64_t first = -1, last = -1;
        int r;

        r = ald_database_integer(database, texts[tier].first, -1, &first);
        if (r >= 0)
                r = ald_database_integer(database, texts[tier].last, -1, &last);
        if (r < 0)
                return r;
        /* No sample has a time this late, so the file is damaged. */
        if (last >> SERIES_BITS > INT64_MAX / 2 / ald_tier_rules[tier].span)
                return -EBADMSG;
        *ret_any = first >= 0;
        *ret_first = (first >> SERIES_BITS) * ald_tier_rules[tier].span;
        *ret_last = (last >> SERIES_BITS) * ald_tier_rules[tier].span;
        return 0;
}

int ald_tier_oldest(AldDatabase *database, int64_t *ret)
{
        int64_t oldest = INT64_MAX;

        for (AldTier tier = ALD_TIER_RAW; tier < ALD_TIERS; tier++) {
                int64_t first, last;
                bool any;
                int r;

                r = ald_tier_extent(database, tier, &any, &first, &last);
                if (r < 0)
                        return r;
                if (any)
                        oldest = MIN(oldest, first);
        }
        *ret = oldest;
        return 0;
}

/* Returns the first time of a chunk; INT64_MAX if it is damaged. */
static int find_first_time(AldDatabase *database, AldTier tier, uint32_t series, int64_t start, int64_t *ret)
{
        g_autoptr(GArray) rows = g_array_new(
                FALSE, FALSE, tier == ALD_TIER_RAW ? sizeof(AldSample) : sizeof(AldBucket));
        int r = load_chunk(database, tier, series, start, rows);

        if (r < 0 || rows->len == 0)
                *ret = INT64_MAX;
        else
                *ret = tier == ALD_TIER_RAW ? g_array_index(rows, AldSample, 0).time
                                            : g_array_index(rows, AldBucket, 0).start;
        return r;
}

/* Finds the first time in the span that starts at `start`, among the chunks of the series that were recorded
 * first. */
static int find_oldest_in(AldDatabase *database, AldTier tier, int64_t start, int64_t *oldest)
{
        const int64_t key = key_of(tier, 0, start);
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        sqlite3_stmt *statement;
        int r;

        r = ald_database_query(database, &statement, texts[tier].ids, "iii", key, key | ALD_SERIES_ID_MAX,
                (int64_t) OLDEST_SERIES);
        while (r >= 0 && (r = ald_database_step(database, statement)) > 0) {
                const uint32_t id = (uint32_t) (sqlite3_column_int64(statement, 0) & ALD_SERIES_ID_MAX);

                g_array_append_val(ids, id);
        }
        for (guint i = 0; i < ids->len && r >= 0; i++) {
                int64_t time;

                r = find_first_time(database, tier, g_array_index(ids, uint32_t, i), start, &time);
                *oldest = MIN(*oldest, time);
        }
        return r;
}

int ald_tier_oldest_time(AldDatabase *database, int64_t *ret)
{
        int64_t oldest = INT64_MAX;

        for (AldTier tier = ALD_TIER_RAW; tier < ALD_TIERS; tier++) {
                int64_t first, last, time = INT64_MAX;
                bool any;
                int r;

                r = ald_tier_extent(database, tier, &any, &first, &last);
                if (r >= 0 && any && first < oldest)
                        r = find_oldest_in(database, tier, first, &time);
                if (r < 0)
                        return r;
                /* A bucket of data that a finer tier has as well begins earlier, so only a greater difference
                 * counts. */
                if (time <= oldest - ald_tier_rules[tier].width)
                        oldest = time;
        }
        *ret = oldest;
        return 0;
}

int ald_tier_drop(AldDatabase *database, AldTier tier, int64_t start)
{
        const int64_t key = key_of(tier, 0, start);

        return ald_database_run(database, texts[tier].drop, "ii", key, key | ALD_SERIES_ID_MAX);
}
