/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/history/store/budget.h"
#include "services/history/store/history-query.h"
#include "services/history/store/history-store.h"
#include "services/history/store/recent.h"
#include "services/history/store/rollup.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"
#include "state/store/clock.h"

/* The maximum number of series in memory; others are looked up again. */
#define SERIES_MAX 65536u
/* The number of writes after which recent samples are moved to the tiers before the hour has ended. */
#define RECENT_MAX 512u
/* Samples written in a transaction, about 3 bytes each. */
#define BATCH 8192u

typedef struct AldPendingSample {
        AldKeptSeries *series;
        AldSample sample;
} AldPendingSample;

struct AldHistory {
        char *path;
        uint64_t budget;
        bool exceeds;          /* the file may be larger than the budget */
        AldDatabase *database; /* NULL while it cannot be opened */
        AldSeriesTable *series;
        GArray *pending;     /* of AldPendingSample, in the order of arrival */
        GHashTable *waiting; /* id of a node → number of its pending samples */
        int64_t hour;        /* of the recent samples; -1 if unknown */
        int64_t first;       /* earliest time of a sample since the start; INT64_MAX if there is none */
        uint64_t lost, lost_events;
        GHashTable *refused; /* ids of nodes whose new series recently had no room */
        AldHistoryFault fault;
        char *text;
};

AldHistory *ald_history_new(const char *path, uint64_t budget)
{
        AldHistory *history = g_new0(AldHistory, 1);

        history->path = g_strdup(path);
        history->budget = MAX(budget, ALD_BUDGET_MIN);
        history->series = ald_series_table_new();
        ald_series_table_limit(history->series, ald_budget_series(history->budget));
        history->pending = g_array_new(FALSE, FALSE, sizeof(AldPendingSample));
        history->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        history->refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        history->hour = -1;
        history->first = INT64_MAX;
        return history;
}

void ald_history_free(AldHistory *history)
{
        if (!history)
                return;
        ald_database_close(history->database);
        ald_series_table_free(history->series);
        g_array_unref(history->pending);
        g_hash_table_unref(history->waiting);
        g_hash_table_unref(history->refused);
        g_free(history->path);
        g_free(history->text);
        g_free(history);
}

AldHistoryFault ald_history_fault(const AldHistory *history, const char **ret_text)
{
        if (ret_text)
                *ret_text = history->text ? history->text : "";
        return history->fault;
}

uint64_t ald_history_lost(const AldHistory *history)
{
        return history->lost;
}

uint64_t ald_history_lost_events(const AldHistory *history)
{
        return history->lost_events;
}

static AldHistoryFault fault_of(int error)
{
        switch (error) {
        case -EBUSY:
                return ALD_HISTORY_LOCKED;
        case -EROFS:
                return ALD_HISTORY_READ_ONLY;
        case -ENOSPC:
                return ALD_HISTORY_FULL;
        case -EBADMSG:
                return ALD_HISTORY_DAMAGED;
        case -EPROTONOSUPPORT:
                return ALD_HISTORY_NEWER;
        default:
                return ALD_HISTORY_FAILED;
        }
}

/* Logs the first of consecutive equal faults. note_success() logs their end. */
static void note_fault(AldHistory *history, int error, const char *reason)
{
        const AldHistoryFault fault = fault_of(error);

        if (fault == history->fault)
                return;
        g_free(history->text);
        history->text = g_strdup_printf("Cannot use the history %s: %s", history->path, reason);
        history->fault = fault;
        g_warning("%s", history->text);
}

static void note_success(AldHistory *history)
{
        if (history->fault != ALD_HISTORY_WORKS)
                g_message("The history %s works again", history->path);
        history->fault = ALD_HISTORY_WORKS;
        g_clear_pointer(&history->text, g_free);
}

static void close_database(AldHistory *history)
{
        g_clear_pointer(&history->database, ald_database_close);
        ald_series_table_forget_ids(history->series);
        history->hour = -1;
}

/* Renames an unusable file, so that a new one can be created. */
static int set_aside(AldHistory *history, int error, const char *reason)
{
        const char *word = error == -EPROTONOSUPPORT ? "newer" : "damaged";
        g_autofree char *aside = NULL;
        int r;

        close_database(history);
        r = ald_database_set_aside(history->path, word, &aside);
        if (r >= 0)
                g_warning("The history %s is %s (%s); renaming it to %s and starting a new one",
                        history->path, error == -EPROTONOSUPPORT ? "of a newer version" : "damaged", reason,
                        aside);
        return r;
}

static int open_database(AldHistory *history, char **ret_reason)
{
        int r;

        r = ald_database_open(history->path, &history->database, ret_reason);
        if (r < 0)
                return r;
        r = ald_budget_set(history->database, history->budget);
        if (r < 0) {
                *ret_reason = g_strdup(ald_database_reason(history->database));
                close_database(history);
        }
        history->exceeds = true;
        return r;
}

static int ensure_open(AldHistory *history)
{
        g_autofree char *reason = NULL;
        int r;

        if (history->database)
                return 0;
        r = open_database(history, &reason);
        if ((r == -EBADMSG || r == -EPROTONOSUPPORT) && set_aside(history, r, reason) >= 0) {
                g_clear_pointer(&reason, g_free);
                r = open_database(history, &reason);
        }
        if (r < 0)
                note_fault(history, r, reason);
        return r;
}

/* Handles an error of the open file. A damaged file is replaced by a new one. After other errors, the file is
 * opened again the next time, which may help. */
static int handle_error(AldHistory *history, int error)
{
        g_autofree char *reason = g_strdup(ald_database_reason(history->database));

        if (error == -EBADMSG && set_aside(history, error, reason) >= 0)
                return error;
        note_fault(history, error, reason);
        if (error != -EBUSY)
                close_database(history);
        return error;
}

static bool is_valid_name(const AldSeriesName *name)
{
        return name->field[0] != '\0' && strlen(name->node) <= ALD_SERIES_WORD_MAX &&
               strlen(name->kind) <= ALD_SERIES_WORD_MAX && strlen(name->key) <= ALD_SERIES_WORD_MAX &&
               strlen(name->field) <= ALD_SERIES_WORD_MAX;
}

bool ald_history_is_full(const AldHistory *history)
{
        return history->pending->len >= ALD_HISTORY_PENDING_MAX / 2;
}

static void count_waiting(AldHistory *history, AldKeptSeries *series, int more)
{
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(history->waiting, series->name.node)) + (guint) more;

        series->waiting += (guint) more;
        if (n == 0)
                g_hash_table_remove(history->waiting, series->name.node);
        else
                g_hash_table_replace(history->waiting, g_strdup(series->name.node), GUINT_TO_POINTER(n));
}

static void remove_pending(AldHistory *history, guint n)
{
        for (guint i = 0; i < n; i++)
                count_waiting(history, g_array_index(history->pending, AldPendingSample, i).series, -1);
        g_array_remove_range(history->pending, 0, n);
}

static const char *find_node_with_most(AldHistory *history)
{
        const char *node = NULL, *most = NULL;
        GHashTableIter iter;
        guint max = 0;
        gpointer n;

        g_hash_table_iter_init(&iter, history->waiting);
        while (g_hash_table_iter_next(&iter, (gpointer *) &node, &n))
                if (GPOINTER_TO_UINT(n) > max) {
                        max = GPOINTER_TO_UINT(n);
                        most = node;
                }
        return most;
}

/* Drops the oldest samples of the node that has the most, so that no node displaces the samples of others. */
static void lose_oldest_samples(AldHistory *history, guint n)
{
        g_autofree char *node = g_strdup(find_node_with_most(history));
        AldPendingSample *pending = (AldPendingSample *) (void *) history->pending->data;
        guint kept = 0;

        for (guint i = 0; i < history->pending->len; i++) {
                if (n == 0 || strcmp(pending[i].series->name.node, node) != 0) {
                        pending[kept++] = pending[i];
                        continue;
                }
                n--;
                count_waiting(history, pending[i].series, -1);
                history->lost++;
        }
        g_array_set_size(history->pending, kept);
}

/* Makes room for several samples at once, since moving the others takes time. The names of series are kept
 * while their samples wait. */
static void make_room(AldHistory *history)
{
        if (history->pending->len >= ALD_HISTORY_PENDING_MAX)
                lose_oldest_samples(history, ALD_HISTORY_PENDING_MAX / 16);
        if (ald_series_table_size(history->series) >= 2 * SERIES_MAX)
                ald_series_table_sweep(history->series);
}

int ald_history_put(AldHistory *history, const AldSeriesName *series, int64_t time, double value,
        double precision, int64_t now)
{
        AldPendingSample pending;

        if (!is_valid_name(series))
                return -EINVAL;
        if (time < 0 || time > ALD_HISTORY_TIME_MAX || now < 0 || now > ALD_HISTORY_TIME_MAX ||
                llabs(time - now) >= ALD_DAY_USEC || !ald_clock_is_set((uint64_t) now))
                return -ERANGE;
        make_room(history);
        pending = (AldPendingSample){
                .series = ald_series_table_get(history->series, series),
                .sample = { ald_span_start(time + ALD_SAMPLE_STEP_USEC / 2, ALD_SAMPLE_STEP_USEC),
                        ald_sample_round(value, precision) },
        };
        count_waiting(history, pending.series, 1);
        g_array_append_val(history->pending, pending);
        history->first = MIN(history->first, pending.sample.time);
        return 0;
}

static gint compare_recent(gconstpointer a, gconstpointer b)
{
        const AldRecentSample *one = a, *other = b;

        if (one->series != other->series)
                return one->series < other->series ? -1 : 1;
        return (one->sample.time > other->sample.time) - (one->sample.time < other->sample.time);
}

/* Does the same as ald_samples_settle(). */
static void settle_recent(GArray *samples)
{
        AldRecentSample *sample = (AldRecentSample *) (void *) samples->data;
        guint n = 0;

        g_array_sort(samples, compare_recent);
        for (guint i = 0; i < samples->len; i++) {
                if (n > 0 && compare_recent(&sample[n - 1], &sample[i]) == 0)
                        n--;
                sample[n++] = sample[i];
        }
        g_array_set_size(samples, n);
}

/* Enters the first `n` pending samples with the ids of their series. Samples of series without room are lost;
 * the first loss is logged. */
static int enter_pending(AldHistory *history, guint n, GArray *samples, uint64_t *ret_lost)
{
        for (guint i = 0; i < n; i++) {
                const AldPendingSample *pending = &g_array_index(history->pending, AldPendingSample, i);
                AldRecentSample sample = { .sample = pending->sample };
                int r;

                r = ald_series_enter(history->series, history->database, pending->series,
                        pending->sample.time / ALD_DAY_USEC);
                if (r == -E2BIG) {
                        if (history->lost + *ret_lost == 0)
                                g_warning("The history has too many series of node %s; samples of new ones "
                                          "are lost",
                                        pending->series->name.node);
                        ++*ret_lost;
                        g_hash_table_add(history->refused, g_strdup(pending->series->name.node));
                        continue;
                }
                if (r < 0)
                        return r;
                sample.series = pending->series->id;
                g_array_append_val(samples, sample);
        }
        return 0;
}

static int write_batch(AldHistory *history, guint n)
{
        g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(AldRecentSample));
        uint64_t lost = 0;
        int r;

        r = ald_database_begin(history->database);
        if (r < 0)
                return r;
        r = enter_pending(history, n, samples, &lost);
        settle_recent(samples);
        if (r >= 0)
                r = ald_recent_append(history->database, samples);
        if (r >= 0)
                r = ald_database_commit(history->database);
        if (r < 0) {
                ald_database_rollback(history->database);
                ald_series_table_forget_ids(history->series);
                return r;
        }
        history->lost += lost;
        remove_pending(history, n);
        return 0;
}

/* Makes room for a transaction. Returns 1 if the file still exceeds the budget. Series are dropped first:
 * they take room as well, and could leave none for samples. A file is never limited to less than its size,
 * and shrinks only after a checkpoint, which readers delay. */
static int keep_budget(AldHistory *history)
{
        int r = 0;

        if (history->exceeds) {
                r = ald_series_drop_excess(history->database, ald_budget_series(history->budget));
                ald_series_table_forget_ids(history->series);
        }
        if (r > 0) {
                r = ald_database_checkpoint(history->database);
                return r < 0 && r != -EBUSY ? r : 1;
        }
        if (r < 0)
                return r;
        r = ald_budget_keep(history->database, history->budget, &history->lost_events);
        if (r == 0 && history->exceeds) {
                r = ald_database_checkpoint(history->database);
                if (r == -EBUSY)
                        return 1;
                if (r >= 0)
                        r = ald_budget_set(history->database, history->budget);
        }
        if (r >= 0)
                history->exceeds = r > 0;
        return r;
}

static int write_pending(AldHistory *history)
{
        int r = 0;

        while (history->pending->len > 0 && r >= 0) {
                r = keep_budget(history);
                if (r >= 0)
                        r = write_batch(history, MIN(history->pending->len, BATCH));
        }
        if (r >= 0 && ald_series_table_size(history->series) > SERIES_MAX)
                ald_series_table_sweep(history->series);
        return r;
}

/* Removes series without any data, whose ids may be reused. If there are too many series, also removes some
 * that ended, such as those of interfaces of containers. */
static int remove_series(AldHistory *history, int64_t now)
{
        int64_t oldest;
        int r;

        r = ald_tier_oldest(history->database, &oldest);
        if (r < 0 || oldest == INT64_MAX)
                return r;
        r = ald_series_remove_before(history->database, oldest / ALD_DAY_USEC);
        if (r >= 0)
                r = ald_series_make_room(history->database, ald_budget_series(history->budget),
                        history->refused, now / ALD_DAY_USEC - 1);
        ald_series_table_forget_ids(history->series);
        return r;
}

/* Moves recent samples to the tiers. Data is dropped by age only once the clock has been right for an hour,
 * as far as that can be determined: it may be wrong until the network sets it. */
static int roll_up(AldHistory *history, const GArray *groups, bool settled, int64_t now)
{
        int r = 0;

        for (guint i = 0; i < groups->len && r >= 0; i++) {
                r = keep_budget(history);
                if (r >= 0)
                        r = ald_rollup_group(history->database, g_array_index(groups, uint32_t, i),
                                ald_budget_transaction(history->budget));
        }
        if (r >= 0)
                r = ald_recent_drop(history->database);
        if (r >= 0 && settled)
                r = ald_budget_retire(history->database, now);
        return r < 0 ? r : remove_series(history, now);
}

static int roll_up_if_due(AldHistory *history, int64_t now)
{
        const int64_t hour = now / ALD_HOUR_USEC;
        g_autoptr(GArray) groups = NULL;
        unsigned n_written = 0;
        int r;

        groups = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        r = ald_recent_groups(history->database, groups, &n_written);
        if (r < 0)
                return r;
        if ((groups->len > 0 || g_hash_table_size(history->refused) > 0) &&
                (hour != history->hour || n_written > RECENT_MAX))
                r = roll_up(history, groups, history->hour >= 0 && hour == history->hour + 1, now);
        if (r >= 0)
                history->hour = hour;
        return r;
}

int ald_history_flush(AldHistory *history, int64_t now)
{
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = keep_budget(history);
        if (r >= 0)
                r = write_pending(history);
        if (r >= 0)
                r = roll_up_if_due(history, now);
        if (r < 0)
                return handle_error(history, r);
        note_success(history);
        return history->exceeds;
}

int ald_history_set_budget(AldHistory *history, uint64_t budget)
{
        int r;

        history->budget = MAX(budget, ALD_BUDGET_MIN);
        history->exceeds = true;
        ald_series_table_limit(history->series, ald_budget_series(history->budget));
        r = ensure_open(history);
        if (r < 0)
                return r;
        r = keep_budget(history);
        return r < 0 ? handle_error(history, r) : r;
}

/* Finds the pending samples of a series, and those that are written but not in the tiers yet. */
static int find_recent(AldHistory *history, const AldSeriesName *name, uint32_t id, GArray *samples)
{
        const AldKeptSeries *series = ald_series_table_find(history->series, name);
        int r;

        r = id > 0 ? ald_recent_load(history->database, id, samples) : 0;
        for (guint i = 0; r >= 0 && series && series->waiting > 0 && i < history->pending->len; i++) {
                const AldPendingSample *pending = &g_array_index(history->pending, AldPendingSample, i);

                if (pending->series == series)
                        g_array_append_val(samples, pending->sample);
        }
        ald_samples_settle(samples);
        return r;
}

int ald_history_query(AldHistory *history, const AldSeriesName *name, int64_t from, int64_t to,
        unsigned points, GArray **ret)
{
        g_autoptr(GArray) recent = g_array_new(FALSE, FALSE, sizeof(AldSample));
        uint32_t id = 0;
        int r;

        if (!is_valid_name(name) || from < 0 || to <= from || to > ALD_HISTORY_TIME_MAX)
                return -EINVAL;
        if (points == 0 || points > ALD_HISTORY_POINTS_MAX)
                return -ERANGE;
        r = ensure_open(history);
        if (r < 0)
                return r;
        r = ald_series_find(history->database, name, &id);
        if (r >= 0 || r == -ENODATA)
                r = find_recent(history, name, id, recent);
        if (r >= 0 && id == 0 && recent->len == 0)
                return -ENODATA;
        if (r >= 0)
                r = ald_query_series(history->database, id, recent, from, to, points, ret);
        return r < 0 ? handle_error(history, r) : 0;
}

int ald_history_size(AldHistory *history, uint64_t *ret)
{
        AldDatabaseSize size;
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = ald_database_size(history->database, &size);
        if (r < 0)
                return handle_error(history, r);
        *ret = size.file + size.log;
        return 0;
}

/* Samples that are not in the tiers yet were put by this process, or are at most an hour old. */
int ald_history_oldest(AldHistory *history, int64_t *ret)
{
        int64_t oldest;
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = ald_tier_oldest_time(history->database, &oldest);
        if (r < 0)
                return handle_error(history, r);
        oldest = MIN(oldest, history->first);
        if (oldest == INT64_MAX)
                return -ENODATA;
        *ret = oldest;
        return 0;
}

/* Keeps the file open after an error that the caller has caused. */
static int finish_request(AldHistory *history, int r)
{
        return r < 0 && r != -ENODATA && r != -E2BIG ? handle_error(history, r) : r;
}

int ald_history_begin_event(AldHistory *history, const AldKeptEvent *event, int64_t *ret_id)
{
        uint64_t dropped = 0;
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = keep_budget(history);
        if (r >= 0)
                r = ald_event_begin(
                        history->database, event, ald_budget_events(history->budget), ret_id, &dropped);
        history->lost_events += dropped;
        return finish_request(history, r);
}

int ald_history_end_event(AldHistory *history, int64_t id, int64_t began, int64_t ended)
{
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = keep_budget(history);
        if (r >= 0)
                r = ald_event_end(history->database, id, began, ended);
        return finish_request(history, r);
}

int ald_history_shift_events(AldHistory *history, int64_t before, int64_t usec)
{
        int r;

        r = ensure_open(history);
        return r < 0 ? r : finish_request(history, ald_events_shift(history->database, before, usec));
}

int ald_history_restart_events(AldHistory *history, int64_t before, int64_t began)
{
        int r;

        r = ensure_open(history);
        return r < 0 ? r : finish_request(history, ald_events_restart(history->database, before, began));
}

int ald_history_visit_open_events(AldHistory *history, AldEventVisit visit, void *userdata)
{
        int r;

        r = ensure_open(history);
        return r < 0 ? r : finish_request(history, ald_events_visit_open(history->database, visit, userdata));
}

int ald_history_visit_events(
        AldHistory *history, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata)
{
        int r;

        r = ensure_open(history);
        if (r < 0)
                return r;
        r = ald_events_visit(history->database, from, to, MIN(max, ALD_HISTORY_EVENTS_MAX), visit, userdata);
        return finish_request(history, r);
}
