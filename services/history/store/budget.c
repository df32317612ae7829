/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>

#include "services/history/store/budget.h"
#include "services/history/store/events.h"
#include "services/history/store/series-table.h"
#include "services/history/store/tier-table.h"

#define LOG_MAX (UINT64_C(4) << 20)
#define TRANSACTION_MAX ((size_t) 256 << 10)
#define VACUUM_PAGES 64
#define STEPS_MAX 32u
#define RETIRED_SPANS 2u
#define EVENTS_PER_DROP 32

static uint64_t max_log_size(uint64_t budget)
{
        return MIN(budget / 4, LOG_MAX);
}

size_t ald_budget_transaction(uint64_t budget)
{
        return MIN((size_t) (budget / 32), TRANSACTION_MAX);
}

unsigned ald_budget_series(uint64_t budget)
{
        return (unsigned) MIN(budget / 1024, ALD_SERIES_ID_MAX / 2);
}

unsigned ald_budget_events(uint64_t budget)
{
        return (unsigned) MIN(budget / 8192, UINT16_MAX);
}

static uint64_t max_file_size(uint64_t budget)
{
        return budget - max_log_size(budget);
}

int ald_budget_set(AldDatabase *database, uint64_t budget)
{
        return ald_database_limit(database, max_file_size(budget));
}

/* Returns the tier whose oldest span is dropped next; ALD_TIERS if there is none. */
static int choose_tier_to_drop(AldDatabase *database, AldTier *ret, int64_t *ret_start)
{
        double most = 0;
        int r;

        *ret = ALD_TIERS;
        for (AldTier tier = ALD_TIER_RAW; tier < ALD_TIERS; tier++) {
                const AldTierRule *rule = &ald_tier_rules[tier];
                int64_t first, last;
                double share;
                bool any;

                r = ald_tier_extent(database, tier, &any, &first, &last);
                if (r < 0)
                        return r;
                share = any ? (double) (last + rule->span - first) / (double) rule->goal : 0;
                if (share > most) {
                        most = share;
                        *ret = tier;
                        *ret_start = first;
                }
        }
        return 0;
}

static int drop_span(AldDatabase *database, AldTier tier, int64_t start)
{
        int r;

        r = ald_database_begin(database);
        if (r < 0)
                return r;
        r = ald_tier_drop(database, tier, start);
        if (r >= 0)
                return ald_database_commit(database);
        ald_database_rollback(database);
        return r;
}

/* Drops the oldest span or some events. Returns 0 if nothing is left to drop. */
static int drop_oldest(AldDatabase *database, uint64_t *events)
{
        AldTier tier;
        int64_t start = 0, n = 0;
        int r;

        r = choose_tier_to_drop(database, &tier, &start);
        if (r < 0)
                return r;
        if (tier < ALD_TIERS)
                return (r = drop_span(database, tier, start)) < 0 ? r : 1;
        r = ald_database_integer(database, "SELECT count(*) FROM events", 0, &n);
        if (r < 0 || n == 0)
                return r;
        r = ald_events_drop(database, EVENTS_PER_DROP);
        if (r < 0)
                return r;
        *events += (uint64_t) MIN(n, (int64_t) EVENTS_PER_DROP);
        return 1;
}

/* Measures the file, after emptying a log that has reached half of its maximum. A reader may delay that as
 * long as the log has room for two transactions. */
static int measure_size(AldDatabase *database, uint64_t budget, AldDatabaseSize *size)
{
        const uint64_t log_max = max_log_size(budget);
        int r;

        r = ald_database_size(database, size);
        if (r < 0 || size->log <= log_max / 2)
                return r;
        r = ald_database_checkpoint(database);
        if (r >= 0)
                return ald_database_size(database, size);
        return r == -EBUSY && size->log + ald_budget_transaction(budget) * 2 < log_max ? 0 : r;
}

int ald_budget_keep(AldDatabase *database, uint64_t budget, uint64_t *events)
{
        const uint64_t room = 2 * ald_budget_transaction(budget) + 32 * ALD_DATABASE_PAGE;
        AldDatabaseSize size;
        unsigned steps = 0;
        int r;

        r = measure_size(database, budget, &size);
        while (r >= 0 && size.file - size.unused + room > max_file_size(budget)) {
                if (steps++ == STEPS_MAX)
                        return 1;
                r = drop_oldest(database, events);
                if (r == 0)
                        break;
                if (r > 0)
                        r = measure_size(database, budget, &size);
        }
        /* Removes unused pages from the end of the file, a few at a time, since each moved page is written to
         * the log. */
        while (r >= 0 && size.file > max_file_size(budget) && size.unused > 0) {
                if (steps++ == STEPS_MAX)
                        return 1;
                r = ald_database_run(
                        database, "PRAGMA incremental_vacuum(" G_STRINGIFY(VACUUM_PAGES) ")", "");
                if (r >= 0)
                        r = measure_size(database, budget, &size);
        }
        return r;
}

int ald_budget_retire(AldDatabase *database, int64_t now)
{
        int r = 0;

        for (AldTier tier = ALD_TIER_RAW; tier < ALD_TIERS; tier++)
                for (unsigned i = 0; i < RETIRED_SPANS && r >= 0; i++) {
                        const AldTierRule *rule = &ald_tier_rules[tier];
                        int64_t first, last;
                        bool any;

                        r = ald_tier_extent(database, tier, &any, &first, &last);
                        if (r < 0)
                                return r;
                        if (any && first + rule->span < now - rule->keep)
                                r = drop_span(database, tier, first);
                        else if (any && last > now + ALD_DAY_USEC)
                                r = drop_span(database, tier, last);
                }
        return r;
}
