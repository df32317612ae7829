/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "services/common/saved-file.h"
#include "services/history/finding-log.h"
#include "services/history/notice-limit.h"
#include "state/alerts/alert-key.h"
#include "state/alerts/alerts-saved.h"
#include "state/findings/findings-words.h"
#include "state/store/clock.h"

#define VERSION 1
#define SILENCES_FILE_MAX (16u * 1024 * 1024) /* bytes */
#define NODES_MAX 32u                         /* nodes kept in a row that is too long */

/* An alert that has begun. */
typedef struct AldLoggedFinding {
        uint64_t event; /* absent if it could not be written */
        uint64_t began;
        bool reported; /* its beginning was reported, by itself or among others */
        bool withheld; /* it is or will be reported among others, and its end is not */
} AldLoggedFinding;

typedef struct AldEventEnd {
        int64_t event, began, ended;
} AldEventEnd;

struct AldFindingLog {
        AldHistory *history;
        const AldFindingLogHandler *handler;
        void *userdata;
        AldSavedFile *alerts_file, *silences_file;
        AldAlerts *alerts;
        AldSilences *silences;
        AldNoticeLimit *limit;
        GHashTable *logged;      /* key of the alert → AldLoggedFinding */
        GArray *unwritten;       /* of AldEventEnd that could not be written */
        char *saved_alerts;      /* the text of the file; NULL if unknown */
        uint64_t shift;          /* due for events that began before the clock was set; 0: none */
        bool ours;               /* the directory and the history belong to this process */
        bool changed;            /* the contents of the other file have changed since it was saved */
        bool warned_alerts_full; /* the warning about too many alerts was logged */
};

static void read_alerts(AldFindingLog *log)
{
        g_autofree char *text = NULL, *reason = NULL;
        gsize n;

        text = ald_saved_file_read(log->alerts_file, &n);
        if (text && ald_alerts_parse(text, n, &log->alerts, &reason) < 0)
                ald_saved_file_refuse(log->alerts_file, reason);
        if (!log->alerts)
                log->alerts = ald_alerts_new();
        if (ald_alerts_left_out(log->alerts) > 0)
                g_warning(
                        "%u saved alerts were dropped, since there are more than %u or their rows are longer "
                        "than 20 MiB",
                        ald_alerts_left_out(log->alerts), ALD_ALERTS_MAX);
}

static void read_logged(AldFindingLog *log, json_t *json)
{
        json_int_t began, event = -1;
        const char *key;
        int reported, withheld = false;
        AldLoggedFinding *logged;

        if (json_unpack(json, "{s:s, s:I, s:b, s?I, s?b}", "key", &key, "began", &began, "reported",
                    &reported, "event", &event, "withheld", &withheld) < 0 ||
                began < 0)
                return;
        logged = g_new(AldLoggedFinding, 1);
        *logged = (AldLoggedFinding){ .event = event < 0 ? ALD_ABSENT_UINT64 : (uint64_t) event,
                .began = (uint64_t) began,
                .reported = reported,
                .withheld = withheld };
        g_hash_table_insert(log->logged, ald_alert_key_shorten(key), logged);
}

static void read_silences(AldFindingLog *log)
{
        g_autofree char *text = NULL, *reason = NULL;
        json_t *root = NULL, *silences, *logged, *notices = NULL, *json;
        unsigned dropped;
        int version;
        gsize n;
        size_t i;

        text = ald_saved_file_read(log->silences_file, &n);
        if (!text)
                return;
        if (ald_json_load(text, n, SILENCES_FILE_MAX, &root, &reason) < 0 ||
                json_unpack(root, "{s:i, s:o, s:o, s?o}", "version", &version, "silences", &silences,
                        "logged", &logged, "notices", &notices) < 0 ||
                version != VERSION) {
                ald_saved_file_refuse(log->silences_file, reason ? reason : "version or lists are wrong");
                json_decref(root);
                return;
        }
        dropped = ald_silences_add_json(log->silences, silences);
        if (dropped > 0)
                g_warning("%u invalid silences were dropped", dropped);
        json_array_foreach(logged, i, json)
                read_logged(log, json);
        ald_notice_limit_add_json(log->limit, notices);
        json_decref(root);
}

static json_t *logged_to_json(const char *key, const AldLoggedFinding *logged)
{
        json_t *json = json_pack("{s:s, s:I, s:b}", "key", key, "began", (json_int_t) logged->began,
                "reported", logged->reported);

        if (json && logged->event != ALD_ABSENT_UINT64)
                json_object_set_new(json, "event", json_integer((json_int_t) logged->event));
        if (json && logged->withheld)
                json_object_set_new(json, "withheld", json_true());
        return json;
}

static char *format_silences(const AldFindingLog *log)
{
        json_t *array = json_array();
        json_t *root = json_pack("{s:i, s:o, s:o, s:o}", "version", VERSION, "silences",
                ald_silences_to_json(log->silences), "logged", array, "notices",
                ald_notice_limit_to_json(log->limit));
        GHashTableIter iter;
        gpointer key, logged;
        char *dump, *text;

        g_hash_table_iter_init(&iter, log->logged);
        while (g_hash_table_iter_next(&iter, &key, &logged))
                json_array_append_new(array, logged_to_json(key, logged));
        dump = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
        text = g_strconcat(dump, "\n", NULL);
        free(dump);
        json_decref(root);
        return text;
}

static bool save_silences(AldFindingLog *log)
{
        g_autofree char *text = format_silences(log);

        log->changed = !ald_saved_file_write(log->silences_file, text);
        return !log->changed;
}

static bool write_end(AldFindingLog *log, const AldEventEnd *end)
{
        int r = ald_history_end_event(log->history, end->event, end->began, end->ended);

        return r >= 0 || r == -ENODATA;
}

static void write_ends(AldFindingLog *log)
{
        while (log->unwritten->len > 0) {
                if (!write_end(log, &g_array_index(log->unwritten, AldEventEnd, 0)))
                        return;
                g_array_remove_index(log->unwritten, 0);
        }
}

static bool is_of_unset_clock(uint64_t time)
{
        return !ald_clock_is_set(time);
}

/* Shifts events that began before the clock was set, in the database and in memory. As long as the database
 * cannot be changed, memory keeps the times by which it knows the events. If that takes a while, some have
 * ended meanwhile, at the right time. */
static void shift_events(AldFindingLog *log)
{
        GHashTableIter iter;
        AldLoggedFinding *logged;

        if (!log->ours || log->shift == 0 ||
                ald_history_shift_events(log->history, (int64_t) ALD_CLOCK_LEAST_USEC, (int64_t) log->shift) <
                        0)
                return;
        g_hash_table_iter_init(&iter, log->logged);
        while (g_hash_table_iter_next(&iter, NULL, (gpointer *) &logged))
                if (is_of_unset_clock(logged->began))
                        logged->began += log->shift;
        for (guint i = 0; i < log->unwritten->len; i++) {
                AldEventEnd *end = &g_array_index(log->unwritten, AldEventEnd, i);

                if (is_of_unset_clock((uint64_t) end->began))
                        end->began += (int64_t) log->shift;
                if (is_of_unset_clock((uint64_t) end->ended))
                        end->ended += (int64_t) log->shift;
        }
        log->shift = 0;
        log->changed = true;
}

/* Restarts events that began before the clock was set: it is unknown by how much the clock was set while this
 * service was not running. */
static void restart_events(AldFindingLog *log, uint64_t now)
{
        GHashTableIter iter;
        AldLoggedFinding *logged;

        if (!ald_clock_is_set(now) ||
                ald_history_restart_events(log->history, (int64_t) ALD_CLOCK_LEAST_USEC, (int64_t) now) < 0)
                return;
        g_hash_table_iter_init(&iter, log->logged);
        while (g_hash_table_iter_next(&iter, NULL, (gpointer *) &logged)) {
                log->changed |= is_of_unset_clock(logged->began);
                if (is_of_unset_clock(logged->began))
                        logged->began = now;
        }
}

/* Saves the beginnings that were logged first. If the process is killed before the alerts are saved, they
 * begin again and are found to have been logged. */
void ald_finding_log_save(AldFindingLog *log)
{
        g_autofree char *text = ald_alerts_format(log->alerts);

        shift_events(log);
        write_ends(log);
        if (log->changed)
                save_silences(log);
        if (g_strcmp0(text, log->saved_alerts) == 0 || !ald_saved_file_write(log->alerts_file, text))
                return;
        g_free(log->saved_alerts);
        log->saved_alerts = g_steal_pointer(&text);
}

AldFindingLog *ald_finding_log_new(
        const char *directory, AldHistory *history, const AldFindingLogHandler *handler, void *userdata)
{
        AldFindingLog *log = g_new0(AldFindingLog, 1);

        log->history = history;
        log->handler = handler;
        log->userdata = userdata;
        log->alerts_file = ald_saved_file_new(directory, "alerts.json", "alerts");
        log->silences_file = ald_saved_file_new(directory, "silences.json", "silences");
        log->silences = ald_silences_new();
        log->limit = ald_notice_limit_new();
        log->logged = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        log->unwritten = g_array_new(FALSE, FALSE, sizeof(AldEventEnd));
        read_alerts(log);
        read_silences(log);
        return log;
}

void ald_finding_log_free(AldFindingLog *log)
{
        if (!log)
                return;
        ald_alerts_free(log->alerts);
        ald_silences_free(log->silences);
        ald_notice_limit_free(log->limit);
        ald_saved_file_free(log->alerts_file);
        ald_saved_file_free(log->silences_file);
        g_hash_table_unref(log->logged);
        g_array_unref(log->unwritten);
        g_free(log->saved_alerts);
        g_free(log);
}

static char *row_to_text(const AldFindingRow *row)
{
        json_t *json = ald_struct_to_json(&ald_finding_row_struct, row);
        char *dump = json_dumps(json, JSON_COMPACT), *text = g_strdup(dump);

        free(dump);
        json_decref(json);
        return text;
}

/* Formats a row within the limit. Drops the remedy first, which follows from the rest, then names, then most
 * nodes. The text, which contains all of them, is dropped last. */
static char *format_row_within_limit(const AldFindingRow *row)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();
        AldFindingRow copy = *row;
        char *text = row_to_text(&copy);

        for (unsigned i = 0; i < 4 && strlen(text) > ALD_EVENT_TEXT_MAX; i++) {
                if (i == 0)
                        copy.remedy = NULL;
                else if (i == 1)
                        copy.names = copy.values = NULL;
                else if (i == 2) {
                        for (unsigned k = 0; copy.nodes && copy.nodes[k] && k < NODES_MAX; k++)
                                g_ptr_array_add(nodes, (gpointer) copy.nodes[k]);
                        g_ptr_array_add(nodes, NULL);
                        copy.nodes = (const char *const *) nodes->pdata;
                        copy.reason = NULL;
                } else
                        copy.text = NULL;
                g_free(text);
                text = row_to_text(&copy);
        }
        return text;
}

AldFindingRow *ald_finding_log_row(const char *text)
{
        g_autofree char *words = NULL, *remedy = NULL;
        g_autofree AldFindingRow *row = NULL;
        AldFindingRow complete;
        json_t *json;

        if (ald_json_load(text, strlen(text), ALD_EVENT_TEXT_MAX, &json, NULL) < 0)
                return NULL;
        row = ald_struct_from_json(&ald_finding_row_struct, json);
        json_decref(json);
        if (!row || !row->id)
                return NULL;
        complete = *row;
        if (!complete.text)
                complete.text = words = ald_finding_text(row);
        if (!complete.remedy)
                complete.remedy = remedy = ald_finding_remedy(row);
        return ald_struct_dup(&ald_finding_row_struct, &complete);
}

static uint64_t write_beginning(AldFindingLog *log, const AldFindingRow *row, uint64_t began)
{
        g_autofree char *nodes = row->nodes ? g_strjoinv(",", (char **) row->nodes) : g_strdup("");
        g_autofree char *text = format_row_within_limit(row);
        const AldKeptEvent event = { .began = (int64_t) began,
                .ended = INT64_MAX,
                .finding = row->id,
                .nodes = strlen(nodes) <= ALD_EVENT_TEXT_MAX ? nodes : "",
                .text = text,
                .reporter = row->reporter ? row->reporter : "" };
        int64_t id;

        return ald_history_begin_event(log->history, &event, &id) < 0 ? ALD_ABSENT_UINT64 : (uint64_t) id;
}

typedef struct LostEventSearch {
        GHashTable *known; /* numbers of events that are logged */
        GArray *lost;      /* of AldEventEnd, for other events that have not ended */
        int64_t now;
} LostEventSearch;

static void collect_lost_event(const AldKeptEvent *event, void *userdata)
{
        const LostEventSearch *search = userdata;

        const AldEventEnd end = { event->id, event->began, MAX(search->now, event->began) };

        if (!g_hash_table_contains(search->known, &event->id))
                g_array_append_val(search->lost, end);
}

/* Ends events that no alert would end. */
static void end_lost_events(AldFindingLog *log, uint64_t now)
{
        g_autoptr(GHashTable) known = g_hash_table_new(g_int64_hash, g_int64_equal);
        g_autoptr(GArray) lost = g_array_new(FALSE, FALSE, sizeof(AldEventEnd));
        LostEventSearch search = { known, lost, (int64_t) now };
        GHashTableIter iter;
        AldLoggedFinding *logged;

        g_hash_table_iter_init(&iter, log->logged);
        while (g_hash_table_iter_next(&iter, NULL, (gpointer *) &logged))
                g_hash_table_add(known, &logged->event);
        (void) ald_history_visit_open_events(log->history, collect_lost_event, &search);
        for (guint i = 0; i < lost->len; i++)
                (void) write_end(log, &g_array_index(lost, AldEventEnd, i));
}

/* Drops the beginnings of alerts that are no longer known. */
static void drop_logged_without_alert(AldFindingLog *log)
{
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, log->logged);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                if (!ald_alerts_has(log->alerts, key)) {
                        g_hash_table_iter_remove(&iter);
                        log->changed = true;
                }
}

void ald_finding_log_begin(AldFindingLog *log, uint64_t now)
{
        ald_saved_file_begin(log->alerts_file);
        ald_saved_file_begin(log->silences_file);
        log->ours = true;
        log->shift = 0;
        drop_logged_without_alert(log);
        restart_events(log, now);
        end_lost_events(log, now);
        ald_finding_log_expire(log, now);
}

static bool is_about(const AldFindingRow *row, const char *node)
{
        return !node || !row->nodes || !row->nodes[0] || g_strv_contains(row->nodes, node);
}

static void send_notice(
        AldFindingLog *log, const AldLoggedFinding *logged, const AldAlert *alert, uint64_t ended_usec)
{
        const AldFindingNotice notice = { .begins = ended_usec == ALD_ABSENT_UINT64,
                .event = logged->event,
                .began_usec = logged->began,
                .ended_usec = ended_usec,
                .symptoms = alert->symptoms,
                .row = alert->row };

        log->handler->notice(&notice, log->userdata);
}

static void begin_finding(AldFindingLog *log, const AldAlert *alert, uint64_t now)
{
        uint64_t began = MIN(alert->damping.first_usec, alert->damping.changed_usec);
        AldLoggedFinding *logged = g_new(AldLoggedFinding, 1);

        /* It began before the clock was set, and this service has been started since. */
        if (is_of_unset_clock(began) && ald_clock_is_set(now))
                began = now;

        *logged = (AldLoggedFinding){ .began = began, .event = write_beginning(log, alert->row, began) };
        g_hash_table_insert(log->logged, g_strdup(alert->key), logged);
        log->changed = true;
}

/* Ends a finding, at no time before it began, even if the clock was set back. */
static void end_finding(AldFindingLog *log, const AldAlertNotice *notice)
{
        const AldLoggedFinding *logged = g_hash_table_lookup(log->logged, notice->alert->key);
        AldEventEnd end;
        uint64_t ended;

        if (!logged)
                return;
        ended = MAX(notice->at_usec, logged->began);
        end = (AldEventEnd){ (int64_t) logged->event, (int64_t) logged->began, (int64_t) ended };
        if (logged->event != ALD_ABSENT_UINT64 && !write_end(log, &end))
                g_array_append_val(log->unwritten, end);
        if (logged->reported && !logged->withheld && !ald_silences_cover(log->silences, notice->alert->row))
                send_notice(log, logged, notice->alert, ended);
        g_hash_table_remove(log->logged, notice->alert->key);
        log->changed = true;
}

/* Logs alerts that have just begun, and those that were excluded from the log when they began. */
static void log_beginnings(AldFindingLog *log, const GPtrArray *begun, const char *only, uint64_t now)
{
        for (guint i = 0; i < begun->len; i++) {
                const AldAlert *alert = begun->pdata[i];

                if (!alert->hidden && !g_hash_table_contains(log->logged, alert->key) &&
                        is_about(alert->row, only))
                        begin_finding(log, alert, now);
        }
}

static const AldAlert *find_alert(const GPtrArray *begun, const char *key)
{
        for (guint i = 0; i < begun->len; i++)
                if (strcmp(((const AldAlert *) begun->pdata[i])->key, key) == 0)
                        return begun->pdata[i];
        return NULL;
}

static void notify_withheld(AldFindingLog *log, const AldWithheld *withheld)
{
        const char *const nodes[] = { withheld->reporter, NULL }, *const names[] = { withheld->name, NULL };
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autofree char *text = NULL;
        const AldFindingNotice notice = { .begins = true,
                .event = ALD_ABSENT_UINT64,
                .began_usec = withheld->began_usec,
                .ended_usec = ALD_ABSENT_UINT64,
                .row = &row };

        row.id = withheld->finding;
        row.severity = withheld->severity;
        if (withheld->reporter && withheld->name) {
                row.reporter = withheld->reporter;
                row.nodes = nodes;
                row.names = names;
        }
        row.left_out = withheld->n;
        row.text = text = ald_finding_text(&row);
        if (!ald_silences_cover(log->silences, &row))
                log->handler->notice(&notice, log->userdata);
}

static bool is_silent(const AldFindingLog *log, const AldAlert *alert)
{
        return alert->hidden || ald_silences_cover(log->silences, alert->row);
}

/* Reports withheld findings. A group of one that still lasts is reported by itself after all, which says more
 * than its number. One that is silenced is reported after the silence, as if it had not been counted. */
static void report_withheld(AldFindingLog *log, const GPtrArray *begun, uint64_t now)
{
        AldWithheld *next;

        while ((next = ald_notice_limit_next(log->limit, now))) {
                g_autoptr(AldWithheld) withheld = next;
                const AldAlert *alert = withheld->n == 1 ? find_alert(begun, withheld->key) : NULL;
                AldLoggedFinding *logged = alert ? g_hash_table_lookup(log->logged, withheld->key) : NULL;

                log->changed = true;
                if (logged && logged->withheld) {
                        logged->withheld = false;
                        logged->reported = !is_silent(log, alert);
                        if (logged->reported)
                                send_notice(log, logged, alert, ALD_ABSENT_UINT64);
                } else
                        notify_withheld(log, withheld);
        }
}

/* Reports alerts that have just begun, and those that began during a silence. */
static void report_beginnings(AldFindingLog *log, const GPtrArray *begun, uint64_t now)
{
        for (guint i = 0; i < begun->len; i++) {
                const AldAlert *alert = begun->pdata[i];
                AldLoggedFinding *logged = g_hash_table_lookup(log->logged, alert->key);

                if (!logged || logged->reported || is_silent(log, alert))
                        continue;
                logged->reported = true;
                logged->withheld = !ald_notice_limit_take(
                        log->limit, alert->row, alert->key, logged->began, now);
                log->changed = true;
                if (!logged->withheld)
                        send_notice(log, logged, alert, ALD_ABSENT_UINT64);
        }
        report_withheld(log, begun, now);
}

static void warn_left_out(AldFindingLog *log)
{
        const guint n = ald_alerts_left_out(log->alerts);

        if (n > 0 && !log->warned_alerts_full)
                g_warning("%u findings are not logged, since there are more than %u or their rows are longer "
                          "than 20 MiB: those of the nodes that report the most",
                        n, ALD_ALERTS_MAX);
        log->warned_alerts_full = n > 0;
}

void ald_finding_log_update(
        AldFindingLog *log, const GPtrArray *findings, AldAlertPaths *paths, const char *only, uint64_t now)
{
        g_autoptr(GArray) notices = ald_alerts_update(log->alerts, findings, paths, now);
        g_autoptr(GPtrArray) begun = NULL;
        const bool changed = log->changed;

        for (guint i = 0; i < notices->len; i++) {
                const AldAlertNotice *notice = &g_array_index(notices, AldAlertNotice, i);

                if (!notice->begins)
                        end_finding(log, notice);
        }
        begun = ald_alerts_begun(log->alerts);
        log_beginnings(log, begun, only, now);
        report_beginnings(log, begun, now);
        warn_left_out(log);
        if (notices->len > 0 || log->changed != changed)
                ald_finding_log_save(log);
}

void ald_finding_log_shift(AldFindingLog *log, uint64_t usec)
{
        ald_alerts_shift(log->alerts, usec);
        log->shift += usec;
        shift_events(log);
}

uint64_t ald_finding_log_due(const AldFindingLog *log)
{
        return MIN(MIN(ald_alerts_due(log->alerts), ald_silences_due(log->silences)),
                ald_notice_limit_due(log->limit));
}

static void report_after_silences(AldFindingLog *log, uint64_t now)
{
        g_autoptr(GPtrArray) begun = ald_alerts_begun(log->alerts);

        log->handler->silences_changed(log->userdata);
        report_beginnings(log, begun, now);
}

void ald_finding_log_expire(AldFindingLog *log, uint64_t now)
{
        if (!ald_silences_expire(log->silences, now))
                return;
        log->changed = true;
        report_after_silences(log, now);
        ald_finding_log_save(log);
}

/* Saves a change of the silences that must not be lost. It is undone if it cannot be written. */
static int commit_silences(AldFindingLog *log, AldSilences *before, uint64_t now)
{
        if (!save_silences(log)) {
                ald_silences_free(log->silences);
                log->silences = before;
                return -EIO;
        }
        ald_silences_free(before);
        report_after_silences(log, now);
        if (log->changed)
                save_silences(log);
        return 0;
}

static AldSilences *copy_silences(const AldFindingLog *log)
{
        AldSilences *copy = ald_silences_new();
        json_t *json = ald_silences_to_json(log->silences);

        (void) ald_silences_add_json(copy, json);
        json_decref(json);
        return copy;
}

int ald_finding_log_silence(AldFindingLog *log, const AldSilenceRow *row, uint64_t now)
{
        AldSilences *before;
        int r;

        ald_finding_log_expire(log, now);
        before = copy_silences(log);
        r = ald_silences_add(log->silences, row);
        if (r < 0) {
                ald_silences_free(before);
                return r;
        }
        return commit_silences(log, before, now);
}

int ald_finding_log_unsilence(AldFindingLog *log, const char *node, const char *peer, uint64_t now)
{
        AldSilences *before;
        int r;

        ald_finding_log_expire(log, now);
        before = copy_silences(log);
        r = ald_silences_remove(log->silences, node, peer);
        if (r < 0) {
                ald_silences_free(before);
                return r;
        }
        return commit_silences(log, before, now);
}

guint ald_finding_log_left_out(const AldFindingLog *log)
{
        return ald_alerts_left_out(log->alerts);
}

uint64_t ald_finding_log_withheld(const AldFindingLog *log)
{
        return ald_notice_limit_count(log->limit);
}

const AldSilences *ald_finding_log_silences(const AldFindingLog *log)
{
        return log->silences;
}
