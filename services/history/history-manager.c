/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <malloc.h>
#include <string.h>

#include "services/common/time-share.h"
#include "services/common/timer.h"
#include "services/history/finding-journal.h"
#include "services/history/history-manager.h"
#include "services/history/model-paths.h"
#include "services/history/past-watch.h"

#define FLUSH_USEC (60 * G_USEC_PER_SEC)
#define FLUSH_AGAIN_USEC (5 * G_USEC_PER_SEC) /* if many samples wait */
/* A file that exceeds its budget is reduced in steps with this interval. */
#define SHRINK_USEC (G_USEC_PER_SEC / 2)
/* The interval of attempts while nothing can be written. The state service reports this as a finding. */
#define REPAIR_USEC (10 * G_USEC_PER_SEC)
#define COUNT_USEC G_USEC_PER_SEC
/* A state service that restarts is back sooner. */
#define LOST_USEC (30 * G_USEC_PER_SEC)
/* The maximum time between two checks, since the clock may be set. */
#define CHECK_USEC (60 * G_USEC_PER_SEC)
#define SOON_USEC (G_USEC_PER_SEC / 10)
/* The adjustment of a clock stays below this. */
#define STEP_USEC (5 * G_USEC_PER_SEC)
/* The largest cluster in which every node records everything by default. */
#define NODES_OF_ALL 16u
#define BYTES_OF_MB (UINT64_C(1) << 20)

static const char *refuse_scope(const char *value)
{
        static const char *const scopes[] = { "auto", "all", "local", "off", NULL };

        return g_strv_contains(scopes, value) ? NULL : "it must be auto, all, local or off";
}

const AldConfigKey ald_history_config_keys[] = {
        { .group = "history",
                .key = "history",
                .type = ALD_CONFIG_STRING,
                .fallback = "auto",
                .refuse = refuse_scope,
                .shut = "off" },
        { .group = "history",
                .key = "history-mb",
                .type = ALD_CONFIG_UINT,
                .min = 1,
                .max = 65536,
                .fallback = "64" },
        { 0 },
};

struct AldHistoryManager {
        AldModel *model;
        AldHistoryChanged changed;
        void *userdata;
        char *wanted; /* the scope, as configured */
        uint64_t budget;
        AldHistory *history;
        AldRecorder *recorder;
        AldRecordFeed *feed;
        AldPastWatch *past;
        AldFindingLog *log;
        AldFindingJournal *journal;
        AldTimer *flush, *count, *lost, *check, *announce;
        AldTimeShare share; /* of the time spent on checking the findings */
        gint64 check_at;    /* next check, CLOCK_MONOTONIC in µs, like the next two */
        gint64 waits_since; /* for results to be compared; 0: not waiting */
        gint64 flushed;
        int64_t clock_offset; /* CLOCK_REALTIME less CLOCK_MONOTONIC; 0: unknown */
        bool announces;       /* a change of the slower-than-past findings is to be announced */
        bool ours;            /* the directory belongs to this process */
        bool in_step;         /* the model is up to date */
};

static int64_t now_usec(void)
{
        return g_get_real_time();
}

static void set_check(AldHistoryManager *manager, gint64 at)
{
        manager->check_at = at;
        ald_timer_set(manager->check, at);
}

/* Schedules the next check. `due` is CLOCK_REALTIME, which may be set, so it is checked at least every
 * minute. */
static void plan_check(AldHistoryManager *manager, uint64_t due)
{
        int64_t left = due == ALD_ABSENT_UINT64 ? CHECK_USEC : (int64_t) due - now_usec();

        set_check(manager, MAX(g_get_monotonic_time() + CLAMP(left, SOON_USEC, CHECK_USEC),
                                   ald_time_share_next(&manager->share)));
}

/* Schedules a check after a short delay, since several changes come together, unless one is due sooner. */
static void check_soon(AldHistoryManager *manager)
{
        const gint64 at = MAX(g_get_monotonic_time() + SOON_USEC, ald_time_share_next(&manager->share));

        if (at < manager->check_at)
                set_check(manager, at);
}

/* Returns whether the findings are known; until then, the previous ones remain. After a start, waits for a
 * limited time until the results have been compared with their past. */
static bool knows_findings(AldHistoryManager *manager)
{
        if (!manager->ours || !manager->in_step || ald_record_feed_scope(manager->feed) == ALD_HISTORY_OFF)
                return false;
        if (!ald_past_watch_is_busy(manager->past)) {
                manager->waits_since = 0;
                return true;
        }
        if (manager->waits_since == 0)
                manager->waits_since = g_get_monotonic_time();
        return g_get_monotonic_time() - manager->waits_since > CHECK_USEC;
}

/* Follows jumps of the clock, including a suspend, during which nothing lasts. */
static void follow_clock(AldHistoryManager *manager)
{
        const int64_t offset = now_usec() - g_get_monotonic_time();

        if (manager->clock_offset != 0 && offset - manager->clock_offset > STEP_USEC)
                ald_finding_log_shift(manager->log, (uint64_t) (offset - manager->clock_offset));
        manager->clock_offset = offset;
}

static void update_findings(AldHistoryManager *manager)
{
        const AldRows *rows = ald_model_findings(manager->model);
        bool is_local = ald_record_feed_scope(manager->feed) == ALD_HISTORY_LOCAL;
        g_autoptr(AldNodeNames) names = ald_node_names_new(manager->model);
        g_autoptr(AldAlertPaths) paths = ald_model_paths_new(manager->model, names);
        g_autoptr(GPtrArray) slower = ald_past_watch_findings(manager->past, names);
        g_autoptr(GPtrArray) all = g_ptr_array_new();

        for (size_t i = 0; i < rows->n; i++)
                g_ptr_array_add(all, (gpointer) ald_rows_at(rows, i));
        for (guint i = 0; i < slower->len; i++)
                g_ptr_array_add(all, slower->pdata[i]);
        ald_finding_log_update(manager->log, all, paths, is_local ? ald_model_node_id(manager->model) : NULL,
                (uint64_t) now_usec());
}

static void on_check_due(void *userdata)
{
        AldHistoryManager *manager = userdata;
        const gint64 begun = g_get_monotonic_time();
        const AldSilences *silences = ald_finding_log_silences(manager->log);

        follow_clock(manager);
        ald_finding_log_expire(manager->log, (uint64_t) now_usec());
        if (!knows_findings(manager)) {
                plan_check(manager, ald_silences_due(silences));
                return;
        }
        update_findings(manager);
        ald_time_share_note_work(&manager->share, g_get_monotonic_time() - begun);
        plan_check(manager, ald_finding_log_due(manager->log));
}

/* Announces changes at most once a second. */
static void on_announce(void *userdata)
{
        AldHistoryManager *manager = userdata;

        manager->announces = false;
        manager->changed(ALD_HISTORY_NEWS_FINDINGS, NULL, manager->userdata);
}

static void on_past_changed(void *userdata)
{
        AldHistoryManager *manager = userdata;

        if (!manager->announces)
                ald_timer_set(manager->announce, g_get_monotonic_time() + COUNT_USEC);
        manager->announces = true;
        check_soon(manager);
}

static void on_notice(const AldFindingNotice *notice, void *userdata)
{
        AldHistoryManager *manager = userdata;

        ald_finding_journal_write(manager->journal, notice);
        manager->changed(ALD_HISTORY_NEWS_NOTICE, notice, manager->userdata);
}

static void on_silences_changed(void *userdata)
{
        AldHistoryManager *manager = userdata;

        manager->changed(ALD_HISTORY_NEWS_SILENCES, NULL, manager->userdata);
        check_soon(manager);
}

static AldHistoryScope find_scope(const AldHistoryManager *manager)
{
        if (strcmp(manager->wanted, "off") == 0)
                return ALD_HISTORY_OFF;
        if (!manager->ours || !manager->in_step)
                return ald_record_feed_scope(manager->feed);
        if (strcmp(manager->wanted, "all") == 0)
                return ALD_HISTORY_ALL;
        return strcmp(manager->wanted, "auto") == 0 && ald_model_nodes(manager->model)->len <= NODES_OF_ALL
                       ? ALD_HISTORY_ALL
                       : ALD_HISTORY_LOCAL;
}

static void update_scope(AldHistoryManager *manager)
{
        const AldHistoryScope scope = find_scope(manager);

        if (scope == ald_record_feed_scope(manager->feed))
                return;
        ald_record_feed_set_scope(manager->feed, scope, now_usec());
        ald_past_watch_restart(manager->past);
        manager->changed(ALD_HISTORY_NEWS_PROPERTIES, NULL, manager->userdata);
        check_soon(manager);
}

static void on_count(void *userdata)
{
        update_scope(userdata);
}

static void flush_samples(AldHistoryManager *manager)
{
        int r;

        manager->flushed = g_get_monotonic_time();
        r = ald_history_flush(manager->history, now_usec());
        ald_finding_log_save(manager->log);
        /* Returns the memory of samples and of the database that was needed only for this write. */
        if (r == 0)
                malloc_trim(0);
        manager->changed(ALD_HISTORY_NEWS_PROPERTIES, NULL, manager->userdata);
        ald_timer_set(manager->flush, g_get_monotonic_time() + (r > 0          ? SHRINK_USEC
                                                                       : r < 0 ? REPAIR_USEC
                                                                               : FLUSH_USEC));
}

static void on_flush(void *userdata)
{
        flush_samples(userdata);
}

static void on_lost(void *userdata)
{
        AldHistoryManager *manager = userdata;

        ald_record_feed_pause(manager->feed, now_usec());
        ald_past_watch_restart(manager->past);
}

void ald_history_manager_synced(AldHistoryManager *manager)
{
        ald_timer_set(manager->lost, ALD_TIMER_NEVER);
        manager->in_step = true;
        ald_record_feed_resume(manager->feed, now_usec());
        update_scope(manager);
        ald_past_watch_restart(manager->past);
        check_soon(manager);
}

void ald_history_manager_lost(AldHistoryManager *manager)
{
        if (manager->in_step)
                ald_timer_set(manager->lost, g_get_monotonic_time() + LOST_USEC);
        manager->in_step = false;
}

void ald_history_manager_change(AldHistoryManager *manager, const AldChange *change)
{
        if (change->entity && !change->entity->is_link && change->type != ALD_CHANGE_CHANGED)
                ald_timer_set(manager->count, g_get_monotonic_time() + COUNT_USEC);
        if (ald_record_feed_change(manager->feed, change, now_usec()))
                ald_past_watch_node(manager->past, change->entity->id);
        else
                ald_past_watch_change(manager->past, change);
        if (ald_history_is_full(manager->history) &&
                g_get_monotonic_time() - manager->flushed > FLUSH_AGAIN_USEC)
                flush_samples(manager);
}

void ald_history_manager_findings(AldHistoryManager *manager)
{
        check_soon(manager);
}

static void read_config(AldHistoryManager *manager, const AldConfig *config)
{
        g_free(manager->wanted);
        manager->wanted = g_strdup(ald_config_string(config, "history"));
        manager->budget = ald_config_uint(config, "history-mb") * BYTES_OF_MB;
}

AldHistoryManager *ald_history_manager_new(AldModel *model, const char *directory, const AldConfig *config)
{
        static const AldFindingLogHandler log_handler = { on_notice, on_silences_changed };
        g_autofree char *path = g_build_filename(directory, "history.sqlite", NULL);
        AldHistoryManager *manager = g_new0(AldHistoryManager, 1);

        manager->model = model;
        read_config(manager, config);
        manager->history = ald_history_new(path, manager->budget);
        manager->recorder = ald_recorder_new(manager->history);
        manager->feed = ald_record_feed_new(model, manager->recorder);
        manager->past = ald_past_watch_new(model, manager->history, manager->feed, on_past_changed, manager);
        manager->log = ald_finding_log_new(directory, manager->history, &log_handler, manager);
        manager->journal = ald_finding_journal_new();
        manager->flush = ald_timer_new("flush", on_flush, manager);
        manager->count = ald_timer_new("count", on_count, manager);
        manager->lost = ald_timer_new("lost", on_lost, manager);
        manager->check = ald_timer_new("look", on_check_due, manager);
        manager->check_at = ALD_TIMER_NEVER;
        manager->announce = ald_timer_new("announce", on_announce, manager);
        manager->share = ald_time_share_new(g_get_monotonic_time());
        return manager;
}

void ald_history_manager_free(AldHistoryManager *manager)
{
        if (!manager)
                return;
        if (manager->ours) {
                ald_record_feed_pause(manager->feed, now_usec());
                (void) ald_history_flush(manager->history, now_usec());
                ald_finding_log_save(manager->log);
        }
        ald_timer_free(manager->flush);
        ald_timer_free(manager->count);
        ald_timer_free(manager->lost);
        ald_timer_free(manager->check);
        ald_timer_free(manager->announce);
        ald_past_watch_free(manager->past);
        ald_finding_log_free(manager->log);
        ald_finding_journal_free(manager->journal);
        ald_record_feed_free(manager->feed);
        ald_recorder_free(manager->recorder);
        ald_history_free(manager->history);
        g_free(manager->wanted);
        g_free(manager);
}

void ald_history_manager_watch(AldHistoryManager *manager, AldHistoryChanged changed, void *userdata)
{
        manager->changed = changed;
        manager->userdata = userdata;
}

void ald_history_manager_begin(AldHistoryManager *manager)
{
        manager->ours = true;
        ald_finding_log_begin(manager->log, (uint64_t) now_usec());
        update_scope(manager);
        flush_samples(manager);
        check_soon(manager);
}

void ald_history_manager_configure(AldHistoryManager *manager, const AldConfig *config)
{
        const uint64_t budget = manager->budget;

        read_config(manager, config);
        if (manager->budget != budget && ald_history_set_budget(manager->history, manager->budget) > 0)
                ald_timer_set(manager->flush, g_get_monotonic_time() + SHRINK_USEC);
        update_scope(manager);
        manager->changed(ALD_HISTORY_NEWS_PROPERTIES, NULL, manager->userdata);
}

/* Returns the name of the scope: "unknown" until the state service has been read, since nothing is recorded
 * before, regardless of the configuration. */
const char *ald_history_manager_scope(const AldHistoryManager *manager)
{
        static const char *const names[] = {
                [ALD_HISTORY_ALL] = "all",
                [ALD_HISTORY_LOCAL] = "local",
                [ALD_HISTORY_OFF] = "off",
        };
        const AldHistoryScope scope = ald_record_feed_scope(manager->feed);

        return scope == ALD_HISTORY_OFF && strcmp(manager->wanted, "off") != 0 ? "unknown" : names[scope];
}

const char *ald_history_manager_problem(const AldHistoryManager *manager)
{
        const char *text;

        (void) ald_history_fault(manager->history, &text);
        return text;
}

uint64_t ald_history_manager_budget(const AldHistoryManager *manager)
{
        return manager->budget;
}

uint64_t ald_history_manager_lost_entries(const AldHistoryManager *manager)
{
        return ald_finding_journal_lost(manager->journal);
}

AldHistory *ald_history_manager_history(const AldHistoryManager *manager)
{
        return manager->history;
}

const AldFindingLog *ald_history_manager_log(const AldHistoryManager *manager)
{
        return manager->log;
}

int ald_history_manager_range(const AldHistoryManager *manager, uint64_t *ret_oldest, uint64_t *ret_now)
{
        int64_t oldest;
        int r = ald_history_oldest(manager->history, &oldest);

        if (r < 0)
                return r;
        *ret_oldest = (uint64_t) MAX(oldest, 0);
        *ret_now = (uint64_t) now_usec();
        return r;
}

bool ald_history_manager_keeps(const AldHistoryManager *manager, const char *id)
{
        return ald_record_feed_keeps(manager->feed, id);
}

GPtrArray *ald_history_manager_slower(const AldHistoryManager *manager)
{
        g_autoptr(AldNodeNames) names = ald_node_names_new(manager->model);

        return ald_past_watch_findings(manager->past, names);
}

const char *ald_history_silence_refuse(const AldSilenceRow *row)
{
        if (row->until_usec <= (uint64_t) now_usec())
                return "UntilUSec is past";
        if (row->until_usec != ALD_ABSENT_UINT64 && row->until_usec > ALD_HISTORY_TIME_MAX)
                return "UntilUSec must be at most 2^53, or UINT64_MAX";
        if (strlen(row->reason) > ALD_SILENCE_REASON_MAX)
                return "Reason is longer than 256 bytes";
        return NULL;
}

int ald_history_manager_silence(AldHistoryManager *manager, AldSilenceRow *row)
{
        row->began_usec = (uint64_t) now_usec();
        return ald_finding_log_silence(manager->log, row, row->began_usec);
}

int ald_history_manager_unsilence(AldHistoryManager *manager, const char *node, const char *peer)
{
        return ald_finding_log_unsilence(manager->log, node, peer, (uint64_t) now_usec());
}
