/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "services/history/finding-log.h"
#include "services/history/notice-limit.h"
#include "state/alerts/alert-accounts.h"
#include "state/alerts/alert-key.h"
#include "tests/unit/history/history-folder.h"
#include "tests/unit/log-count.h"

#define SECOND (UINT64_C(1000) * 1000)
#define START (UINT64_C(1700000000) * SECOND)
#define BUDGET (UINT64_C(64) << 20)
#define ONE "00000001000000000000000000000000"
#define TWO "00000002000000000000000000000000"
#define THREE "00000003000000000000000000000000"

typedef struct Fixture {
        HistoryFolder folder;
        AldHistory *history;
        AldFindingLog *log;
        uint64_t now;
        GString *notices; /* "+id" and "-id", or "+n×id" of several; of many equal ones see check_many() */
        unsigned silences_changed;
} Fixture;

static void on_notice(const AldFindingNotice *notice, void *userdata)
{
        Fixture *fixture = userdata;

        if (notice->row->left_out != ALD_ABSENT_UINT64)
                g_string_append_printf(
                        fixture->notices, "+%u×%s ", (unsigned) notice->row->left_out, notice->row->id);
        else
                g_string_append_printf(
                        fixture->notices, "%c%s ", notice->begins ? '+' : '-', notice->row->id);
        g_assert_true(notice->begins == (notice->ended_usec == ALD_ABSENT_UINT64));
}

static void on_silences_changed(void *userdata)
{
        ((Fixture *) userdata)->silences_changed++;
}

static const AldFindingLogHandler handler = { on_notice, on_silences_changed };

static void open_all(Fixture *fixture)
{
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
        fixture->log = ald_finding_log_new(fixture->folder.folder, fixture->history, &handler, fixture);
        ald_finding_log_begin(fixture->log, fixture->now);
}

static void close_all(Fixture *fixture)
{
        ald_finding_log_free(fixture->log);
        ald_history_free(fixture->history);
}

/* As if the process had been killed: nothing is saved on the way. */
static void restart(Fixture *fixture)
{
        close_all(fixture);
        open_all(fixture);
}

static void set_up(Fixture *fixture, gconstpointer data)
{
        log_count_reset();
        history_folder_make(&fixture->folder);
        fixture->now = START;
        fixture->notices = g_string_new(NULL);
        open_all(fixture);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        close_all(fixture);
        g_string_free(fixture->notices, TRUE);
        history_folder_remove(&fixture->folder);
}

#define OF(...) ((const char *const[]){ __VA_ARGS__, NULL })

static AldFindingRow make_row(AldFindingRowId id, const char *const *nodes)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        row.id = ald_finding_row_id_to_string(id);
        row.severity = "warning";
        row.nodes = row.names = nodes;
        row.text = "Something.";
        return row;
}

/* An update after so many seconds, with rows that end with NULL. */
static void look_only(Fixture *fixture, unsigned seconds, const char *only, const AldFindingRow *row, ...)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new();
        va_list ap;

        fixture->now += seconds * SECOND;
        va_start(ap, row);
        for (; row; row = va_arg(ap, const AldFindingRow *))
                g_ptr_array_add(rows, (gpointer) row);
        va_end(ap);
        ald_finding_log_update(fixture->log, rows, NULL, only, fixture->now);
}
#define look(fixture, seconds, ...) look_only(fixture, seconds, NULL, __VA_ARGS__, NULL)

static void check_notices(Fixture *fixture, const char *expected)
{
        g_assert_cmpstr(fixture->notices->str, ==, expected);
        g_string_truncate(fixture->notices, 0);
}

static void add_event(const AldKeptEvent *event, void *userdata)
{
        GString *text = userdata;
        g_autofree AldFindingRow *row = ald_finding_log_row(event->text);

        g_assert_nonnull(row);
        g_assert_cmpstr(row->id, ==, event->finding);
        g_assert_cmpstr(row->text, ==, "Something."); /* of long ones too */
        g_string_append_printf(
                text, "%s %d", event->finding, (int) ((uint64_t) event->began / SECOND % 100000));
        if (event->ended != INT64_MAX) {
                g_assert_cmpint(event->ended, <, (int64_t) (2 * START)); /* not moved twice */
                g_string_append_printf(text, "-%d", (int) ((uint64_t) event->ended / SECOND % 100000));
        }
        g_string_append(text, "; ");
}

static void check_events(Fixture *fixture, const char *expected)
{
        g_autoptr(GString) text = g_string_new(NULL);

        g_assert_cmpint(
                ald_history_visit_events(fixture->history, 0, ALD_HISTORY_TIME_MAX, 100, add_event, text), ==,
                0);
        g_assert_cmpstr(text->str, ==, expected);
}

static void test_begins_and_ends(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));

        look(fixture, 0, &row);
        check_notices(fixture, "");
        check_events(fixture, "");
        look(fixture, 30, &row);
        check_notices(fixture, "+disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0; ");
        look(fixture, 10, NULL);
        look(fixture, 299, NULL);
        check_notices(fixture, "");
        look(fixture, 1, NULL);
        check_notices(fixture, "-disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0-40; ");
}

/* A process that is killed neither repeats what it reported nor forgets that it did. */
static void test_restart(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));

        look(fixture, 0, &row);
        look(fixture, 30, &row);
        check_notices(fixture, "+disk-nearly-full ");
        restart(fixture);
        look(fixture, 5, &row);
        look(fixture, 40, &row);
        check_notices(fixture, "");
        look(fixture, 5, NULL);
        restart(fixture);
        look(fixture, 300, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "-disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0-380; ");
}

/* An older version saved long keys as they were. The event lasts, and neither its beginning is reported again
 * nor its end forgotten. */
static void test_long_key_of_an_older_version(Fixture *fixture, gconstpointer data)
{
        g_autofree char *long_path = g_strnfill(300, 'x'), *text = NULL;
        g_autofree char *path = g_build_filename(fixture->folder.folder, "silences.json", NULL);
        AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        g_autoptr(GString) changed = NULL;
        g_autofree char *key = NULL, *old = NULL;

        row.path = long_path;
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        check_notices(fixture, "+disk-nearly-full ");
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        {
                g_autofree char *now = ald_alert_key(&row);
                g_auto(GStrv) lines = g_strsplit(now, "\n", -1);

                key = g_strjoinv("\\n", lines);
        }
        old = g_strdup_printf("disk-nearly-full\\nNode=" ONE "\\nPath=%s", long_path);
        changed = g_string_new(text);
        g_assert_cmpuint(g_string_replace(changed, key, old, 0), ==, 1);
        g_assert_true(g_file_set_contents(path, changed->str, -1, NULL));
        restart(fixture);
        look(fixture, 30, &row);
        check_notices(fixture, "");
        check_events(fixture, "disk-nearly-full 0; ");
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "-disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0-60; ");
}

/* Alerts that were not saved: the event ends when that is noticed. */
static void test_lost_alerts(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        g_autofree char *path = g_build_filename(fixture->folder.folder, "alerts.json", NULL);

        look(fixture, 0, &row);
        look(fixture, 30, &row);
        check_notices(fixture, "+disk-nearly-full ");
        g_assert_true(g_file_set_contents(path, "{\"version\": 7}", -1, NULL));
        restart(fixture);
        g_assert_cmpuint(log_count("alerts.json is damaged"), ==, 1);
        check_events(fixture, "disk-nearly-full 0-30; ");
}

static int silence(Fixture *fixture, const char *node, const char *peer, uint64_t until)
{
        AldSilenceRow row = ALD_SILENCE_ROW_INIT;

        row.node = node;
        row.peer = peer;
        row.began_usec = fixture->now;
        row.until_usec = until;
        return ald_finding_log_silence(fixture->log, &row, fixture->now);
}

/* It is kept as an event; if it outlasts the silence, it is reported then. */
static void test_silence(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        const AldFindingRow other = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(TWO));

        g_assert_cmpint(silence(fixture, ONE, NULL, fixture->now + 100 * SECOND), ==, 0);
        g_assert_cmpuint(fixture->silences_changed, ==, 1);
        look(fixture, 0, &row, &other);
        look(fixture, 30, &row, &other);
        check_notices(fixture, "+disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0; disk-nearly-full 0; ");
        restart(fixture);
        look(fixture, 30, &row, &other);
        check_notices(fixture, "");
        g_assert_cmpuint(ald_finding_log_due(fixture->log), ==, START + 100 * SECOND);
        fixture->now = START + 100 * SECOND;
        ald_finding_log_expire(fixture->log, fixture->now);
        check_notices(fixture, "+disk-nearly-full ");
        g_assert_cmpuint(fixture->silences_changed, ==, 2);
        g_assert_cmpuint(ald_silences_rows(ald_finding_log_silences(fixture->log))->len, ==, 0);
}

/* Its end is not reported, either, and what ends in silence was never reported. */
static void test_ends_in_silence(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));

        g_assert_cmpint(silence(fixture, ONE, NULL, ALD_ABSENT_UINT64), ==, 0);
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_events(fixture, "disk-nearly-full 0-30; ");
        g_assert_cmpint(ald_finding_log_unsilence(fixture->log, ONE, NULL, fixture->now), ==, 0);
        g_assert_cmpint(ald_finding_log_unsilence(fixture->log, ONE, NULL, fixture->now), ==, -ENOENT);
        check_notices(fixture, "");
}

static void test_silence_of_link(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow there = make_row(ALD_FINDING_ROW_ID_LINK_BELOW_NEGOTIATED, OF(ONE, TWO));
        const AldFindingRow back = make_row(ALD_FINDING_ROW_ID_LINK_BELOW_NEGOTIATED, OF(TWO, ONE));
        const AldFindingRow other = make_row(ALD_FINDING_ROW_ID_LINK_UNSTEADY, OF(ONE, THREE));
        const AldFindingRow of_both = make_row(ALD_FINDING_ROW_ID_VERSIONS_DIFFER, OF(ONE, TWO));

        g_assert_cmpint(silence(fixture, TWO, ONE, ALD_ABSENT_UINT64), ==, 0);
        look(fixture, 0, &there, &back, &other);
        look(fixture, 30, &there, &back, &other);
        check_notices(fixture, "+link-unsteady ");
        look(fixture, 0, &there, &back, &other, &of_both);
        look(fixture, 30, &there, &back, &other, &of_both);
        check_notices(fixture, "+versions-differ ");
        g_assert_cmpint(ald_finding_log_unsilence(fixture->log, ONE, NULL, fixture->now), ==, -ENOENT);
        g_assert_cmpint(ald_finding_log_unsilence(fixture->log, ONE, TWO, fixture->now), ==, 0);
        check_notices(fixture, "+link-below-negotiated +link-below-negotiated ");
}

static void test_valid_silences(Fixture *fixture, gconstpointer data)
{
        g_assert_cmpint(silence(fixture, "no id", NULL, ALD_ABSENT_UINT64), ==, -EINVAL);
        g_assert_cmpint(silence(fixture, ONE, ONE, ALD_ABSENT_UINT64), ==, -EINVAL);
        g_assert_cmpint(silence(fixture, ONE, NULL, ALD_ABSENT_UINT64), ==, 0);
        g_assert_cmpint(silence(fixture, ONE, NULL, fixture->now + SECOND), ==, 0);
        g_assert_cmpuint(ald_silences_rows(ald_finding_log_silences(fixture->log))->len, ==, 1);
        restart(fixture);
        g_assert_cmpuint(ald_silences_rows(ald_finding_log_silences(fixture->log))->len, ==, 1);
}

static void test_number_of_silences(void)
{
        g_autoptr(AldSilences) silences = ald_silences_new();
        AldSilenceRow row = ALD_SILENCE_ROW_INIT;

        row.began_usec = START;
        for (unsigned i = 1; i <= ALD_SILENCES_MAX; i++) {
                g_autofree char *node = g_strdup_printf("%032x", i);

                row.node = node;
                g_assert_cmpint(ald_silences_add(silences, &row), ==, 0);
        }
        row.node = "00000000000000000000000000000001";
        g_assert_cmpint(ald_silences_add(silences, &row), ==, 0);
        row.node = ONE;
        g_assert_cmpint(ald_silences_add(silences, &row), ==, -E2BIG);
}

static void test_damaged_silences(Fixture *fixture, gconstpointer data)
{
        g_autofree char *path = g_build_filename(fixture->folder.folder, "silences.json", NULL);
        static const char *const texts[] = { "", "[]", "{\"version\": 2, \"silences\": [], \"logged\": []}",
                "{\"version\": 1, \"silences\": {", "\xff\xfe" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                log_count_reset();
                g_assert_true(g_file_set_contents(path, texts[i], -1, NULL));
                restart(fixture);
                g_assert_cmpuint(log_count("silences.json is damaged"), ==, 1);
                g_assert_cmpuint(ald_silences_rows(ald_finding_log_silences(fixture->log))->len, ==, 0);
        }
        log_count_reset();
        g_assert_true(g_file_set_contents(
                path, "{\"version\": 1, \"silences\": [7, {\"Node\": \"x\"}], \"logged\": [7]}", -1, NULL));
        restart(fixture);
        g_assert_cmpuint(log_count("2 invalid silences were dropped"), ==, 1);
}

/* A file that cannot be written: the silence is refused, not forgotten at the next start. */
static void test_unwritable(Fixture *fixture, gconstpointer data)
{
        g_autofree char *path = g_build_filename(fixture->folder.folder, "silences.json", NULL);

        g_unlink(path);
        g_assert_cmpint(g_mkdir(path, 0755), ==, 0);
        g_assert_cmpint(silence(fixture, ONE, NULL, ALD_ABSENT_UINT64), ==, -EIO);
        g_assert_cmpuint(ald_silences_rows(ald_finding_log_silences(fixture->log))->len, ==, 0);
        g_assert_cmpuint(fixture->silences_changed, ==, 0);
        g_assert_cmpuint(log_count("Failed to save silences"), ==, 1);
        g_rmdir(path);
}

/* Where the history is local, others' findings are hidden causes at most. */
static void test_only_own(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow own = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        const AldFindingRow other = make_row(ALD_FINDING_ROW_ID_MEMORY_PRESSURE, OF(TWO));
        const AldFindingRow of_all = make_row(ALD_FINDING_ROW_ID_NO_BROKER, NULL);

        look_only(fixture, 0, ONE, &own, &other, &of_all, NULL);
        look_only(fixture, 30, ONE, &own, &other, &of_all, NULL);
        check_notices(fixture, "+disk-nearly-full +no-broker ");
        look_only(fixture, 0, ONE, NULL);
        look_only(fixture, 300, ONE, NULL);
        check_notices(fixture, "-disk-nearly-full -no-broker ");
}

/* Once the history is of all nodes, so is what it reports. */
static void test_all_after_own(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow own = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        const AldFindingRow other = make_row(ALD_FINDING_ROW_ID_MEMORY_PRESSURE, OF(TWO));

        look_only(fixture, 0, ONE, &own, &other, NULL);
        look_only(fixture, 30, ONE, &own, &other, NULL);
        check_notices(fixture, "+disk-nearly-full ");
        restart(fixture);
        look(fixture, 30, &own, &other);
        check_notices(fixture, "+memory-pressure ");
        check_events(fixture, "disk-nearly-full 0; memory-pressure 0; ");
}

/* What the history cannot hold is left out of its events, not of the notice. */
static void test_long_row(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func(g_free);
        AldFindingRow row;

        for (unsigned i = 1; i <= 500; i++)
                g_ptr_array_add(nodes, g_strdup_printf("%032x", i));
        g_ptr_array_add(nodes, NULL);
        row = make_row(ALD_FINDING_ROW_ID_OS_VERSIONS_DIFFER, (const char *const *) nodes->pdata);
        row.values = row.nodes;
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        check_notices(fixture, "+os-versions-differ ");
        check_events(fixture, "os-versions-differ 0; ");
        restart(fixture);
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_events(fixture, "os-versions-differ 0-30; ");
}

/* What is left out of a long row does not make it another finding. */
static void test_long_row_after_restart(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func(g_free);
        AldFindingRow row;

        for (unsigned i = 1; i <= 60; i++)
                g_ptr_array_add(nodes, g_strdup_printf("%032x", i));
        g_ptr_array_add(nodes, NULL);
        row = make_row(ALD_FINDING_ROW_ID_FIELD_ABSENT, (const char *const *) nodes->pdata);
        row.reason = "the kernel lacks it";
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        restart(fixture);
        look(fixture, 10, &row);
        check_notices(fixture, "+field-absent ");
        check_events(fixture, "field-absent 0; ");
        look(fixture, 10, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "-field-absent ");
}

/* What is found before the clock is set has not lasted for longer by that. */
/* Rows about as many paths of a node that reports them itself. */
static GPtrArray *many_rows(const char *node, unsigned first, unsigned n)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);

        for (unsigned i = first; i < first + n; i++) {
                g_autofree char *path = g_strdup_printf("/%u", i);
                AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(node));

                row.path = path;
                row.reporter = node;
                g_ptr_array_add(rows, ald_struct_dup(&ald_finding_row_struct, &row));
        }
        return rows;
}

static void look_at_many(Fixture *fixture, unsigned seconds, const GPtrArray *rows)
{
        fixture->now += seconds * SECOND;
        ald_finding_log_update(fixture->log, rows, NULL, NULL, fixture->now);
}

/* So many equal notices, and then another text. */
static void check_many(Fixture *fixture, unsigned n, const char *notice, const char *end)
{
        g_autoptr(GString) expected = g_string_new(NULL);

        while (n-- > 0)
                g_string_append(expected, notice);
        g_string_append(expected, end);
        check_notices(fixture, expected->str);
}

#define FULL "+disk-nearly-full "
#define OVER "-disk-nearly-full "

/* Some are reported by themselves, the others by their number, once and not again after a restart. Ends are
 * reported of the former only. */
static void test_many_of_a_reporter(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) rows = many_rows(ONE, 0, 100), none = g_ptr_array_new();
        const AldFindingRow other = make_row(ALD_FINDING_ROW_ID_SWAP_NEARLY_FULL, OF(TWO));

        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        check_many(fixture, ALD_NOTICES_SAVED, FULL, "");
        g_assert_cmpuint(ald_finding_log_withheld(fixture->log), ==, 100 - ALD_NOTICES_SAVED);
        restart(fixture);
        g_ptr_array_add(rows, ald_struct_dup(&ald_finding_row_struct, &other));
        look_at_many(fixture, 1, rows);
        look_at_many(fixture, 30, rows);
        check_notices(fixture, "+swap-nearly-full ");
        g_assert_cmpuint(ald_finding_log_due(fixture->log), ==, START + 30 * SECOND + ALD_NOTICE_USEC);
        fixture->now = START + 30 * SECOND + ALD_NOTICE_USEC;
        look_at_many(fixture, 0, rows);
        check_notices(fixture, "+80×disk-nearly-full ");
        restart(fixture);
        look_at_many(fixture, 3000, rows);
        check_notices(fixture, "");
        look_at_many(fixture, 0, none);
        look_at_many(fixture, 300, none);
        check_many(fixture, ALD_NOTICES_SAVED, OVER, "-swap-nearly-full ");
        g_assert_cmpuint(ald_finding_log_left_out(fixture->log), ==, 0);
}

/* Ever new ones cause one notice in five minutes, however long that goes on. */
static void test_ever_new(Fixture *fixture, gconstpointer data)
{
        const unsigned rounds = 40, each = 50;
        unsigned counted = 0, notices = 0;

        for (unsigned i = 0; i < rounds; i++) {
                g_autoptr(GPtrArray) rows = many_rows(ONE, i * each, each);

                look_at_many(fixture, 0, rows);
                look_at_many(fixture, 30, rows);
        }
        {
                g_autoptr(GPtrArray) none = g_ptr_array_new();

                look_at_many(fixture, 600, none);
        }
        {
                g_auto(GStrv) words = g_strsplit(fixture->notices->str, " ", -1);

                for (unsigned i = 0; words[i] && *words[i]; i++) {
                        notices += words[i][0] == '+';
                        if (words[i][0] == '+')
                                counted += g_ascii_isdigit(words[i][1]) ? (unsigned) atoi(words[i] + 1) : 1;
                }
        }
        g_assert_cmpuint(counted, ==, rounds * each);
        g_assert_cmpuint(notices, <=, ALD_NOTICES_SAVED + rounds * 30 / 300 + 2);
        g_string_truncate(fixture->notices, 0);
}

/* One alone that was withheld is reported by itself, and so is its end. */
static void test_one_withheld(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) rows = many_rows(ONE, 0, ALD_NOTICES_SAVED + 1), none = g_ptr_array_new();

        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        check_many(fixture, ALD_NOTICES_SAVED, FULL, "");
        restart(fixture);
        look_at_many(fixture, 300, rows);
        check_notices(fixture, FULL);
        look_at_many(fixture, 0, none);
        look_at_many(fixture, 300, none);
        check_many(fixture, ALD_NOTICES_SAVED + 1, OVER, "");
}

/* One alone that was withheld and has become silent since is reported after the silence. */
static void test_one_withheld_in_silence(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) rows = many_rows(ONE, 0, ALD_NOTICES_SAVED + 1), none = g_ptr_array_new();

        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        check_many(fixture, ALD_NOTICES_SAVED, FULL, "");
        g_assert_cmpint(silence(fixture, ONE, NULL, ALD_ABSENT_UINT64), ==, 0);
        look_at_many(fixture, 300, rows);
        check_notices(fixture, "");
        restart(fixture);
        look_at_many(fixture, 300, rows);
        check_notices(fixture, "");
        g_assert_cmpint(ald_finding_log_unsilence(fixture->log, ONE, NULL, fixture->now), ==, 0);
        check_notices(fixture, FULL);
        look_at_many(fixture, 0, none);
        look_at_many(fixture, 300, none);
        check_many(fixture, ALD_NOTICES_SAVED + 1, OVER, "");
}

/* What this machine concludes of many nodes is not withheld so soon. */
static void test_many_unreported(Fixture *fixture, gconstpointer data)
{
        const unsigned n = ALD_NOTICES_SAVED * ALD_NOTICES_UNREPORTED;
        g_autoptr(GPtrArray) rows = many_rows(ONE, 0, n);

        for (unsigned i = 0; i < n; i++)
                ((AldFindingRow *) rows->pdata[i])->reporter = NULL;
        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        check_many(fixture, n, FULL, "");
}

static void count_event(const AldKeptEvent *event, void *userdata)
{
        unsigned *lasting = userdata;

        *lasting += event->ended == INT64_MAX && strcmp(event->reporter, ONE) == 0;
}

/* Rows of ONE that fill nearly all places, the last 50 of them short. */
static GPtrArray *filling_rows(void)
{
        g_autofree char *reason = g_strnfill(99 * ALD_ALERT_BYTES, 'x');
        GPtrArray *rows = many_rows(ONE, 0, 50);

        for (unsigned i = 0; i < 99; i++) {
                g_autofree char *group = g_strdup_printf("%u", i);
                AldFindingRow row = make_row(ALD_FINDING_ROW_ID_CONFIGURATION_REFUSED, OF(ONE));

                row.reporter = ONE;
                row.group = group;
                row.reason = reason;
                g_ptr_array_insert(rows, 0, ald_struct_dup(&ald_finding_row_struct, &row));
        }
        return rows;
}

/* Alerts that make room for those of others end as events, also if the process is killed after that. */
static void test_dropped_alerts(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GPtrArray) rows = filling_rows(), others = many_rows(TWO, 0, 150);
        unsigned lasting = 0;

        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        (void) ald_history_visit_events(
                fixture->history, 0, ALD_HISTORY_TIME_MAX, 1000, count_event, &lasting);
        g_assert_cmpuint(lasting, ==, 149);
        g_ptr_array_extend_and_steal(rows, g_steal_pointer(&others));
        check_many(fixture, ALD_NOTICES_SAVED, "+configuration-refused ", "");
        look_at_many(fixture, 1, rows);
        check_notices(fixture, "-configuration-refused ");
        g_assert_cmpuint(ald_finding_log_left_out(fixture->log), ==, 0);
        restart(fixture);
        lasting = 0;
        (void) ald_history_visit_events(
                fixture->history, 0, ALD_HISTORY_TIME_MAX, 1000, count_event, &lasting);
        g_assert_cmpuint(lasting, ==, 98);
        look_at_many(fixture, 1, rows); /* short ones have a place again */
        g_assert_cmpuint(ald_finding_log_left_out(fixture->log), ==, 1);
        g_string_truncate(fixture->notices, 0);
}

static void test_clock_set_forward(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));

        look(fixture, 0, &row);
        ald_finding_log_shift(fixture->log, 7200 * SECOND);
        look(fixture, 7200 + 5, &row);
        check_notices(fixture, "");
        look(fixture, 25, &row);
        check_notices(fixture, "+disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 7200; ");
}

static void run_other(sqlite3 *other, const char *sql)
{
        g_assert_cmpint(sqlite3_exec(other, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

/* A machine without a clock of its own: once the network has set it, nothing began in 1970, and everything
 * lasted as long as it did. */
static void test_start_in_1970(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow lasts = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE)),
                            ends = make_row(ALD_FINDING_ROW_ID_FIELD_ABSENT, OF(ONE));

        fixture->now = 10 * SECOND;
        look(fixture, 0, &lasts, &ends);
        look(fixture, 30, &lasts, &ends);
        look(fixture, 10, &lasts);
        look(fixture, 300, &lasts);
        check_events(fixture, "disk-nearly-full 10; field-absent 10-50; ");
        fixture->now += START;
        ald_finding_log_shift(fixture->log, START);
        look(fixture, 5, &lasts);
        check_events(fixture, "disk-nearly-full 10; field-absent 10-50; ");
        g_assert_cmpint(
                ald_history_visit_events(fixture->history, 0, (int64_t) START, 100, add_event, NULL), ==, 0);
        look(fixture, 10, NULL);
        look(fixture, 300, NULL);
        check_events(fixture, "disk-nearly-full 10-365; field-absent 10-50; ");
        check_notices(fixture, "+disk-nearly-full +field-absent -field-absent -disk-nearly-full ");
}

/* By how much is not known then. */
static void test_clock_set_while_stopped(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow lasts = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE)),
                            ends = make_row(ALD_FINDING_ROW_ID_FIELD_ABSENT, OF(ONE)),
                            comes = make_row(ALD_FINDING_ROW_ID_MEMORY_PRESSURE, OF(ONE));

        fixture->now = 10 * SECOND;
        look(fixture, 0, &lasts, &ends);
        look(fixture, 30, &lasts, &ends);
        look(fixture, 10, &lasts);
        look(fixture, 300, &lasts, &comes);
        fixture->now = START + 7 * SECOND;
        restart(fixture);
        look(fixture, 1, &lasts, &comes);
        check_events(fixture, "disk-nearly-full 7; memory-pressure 8; ");
        look(fixture, 10, NULL);
        look(fixture, 300, NULL);
        check_events(fixture, "disk-nearly-full 7-18; memory-pressure 8-18; ");
}

/* It is done later, also if the finding ends before that, whose end is right. */
static void check_clock_set_while_locked(Fixture *fixture, bool until_the_end)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        sqlite3 *other;

        fixture->now = 10 * SECOND;
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        g_assert_cmpint(sqlite3_open(fixture->folder.path, &other), ==, SQLITE_OK);
        run_other(other, "BEGIN IMMEDIATE");
        fixture->now += START;
        ald_finding_log_shift(fixture->log, START);
        if (!until_the_end)
                run_other(other, "ROLLBACK");
        look(fixture, 10, NULL);
        look(fixture, 300, NULL);
        if (until_the_end) {
                run_other(other, "ROLLBACK");
                ald_finding_log_save(fixture->log);
        }
        sqlite3_close(other);
        check_events(fixture, "disk-nearly-full 10-50; ");
        g_assert_cmpint(
                ald_history_visit_events(fixture->history, 0, (int64_t) START, 100, add_event, NULL), ==, 0);
}

static void test_clock_set_while_locked(Fixture *fixture, gconstpointer data)
{
        check_clock_set_while_locked(fixture, false);
}

static void test_locked_until_the_end(Fixture *fixture, gconstpointer data)
{
        check_clock_set_while_locked(fixture, true);
}

/* What ended did not do so before it began. */
static void test_clock_set_back(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));

        look(fixture, 0, &row);
        look(fixture, 30, &row);
        fixture->now -= 7200 * SECOND;
        look(fixture, 0, &row);
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "+disk-nearly-full -disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0-0; ");
}

static void find_end(const AldKeptEvent *event, void *userdata)
{
        if (strcmp(event->finding, "memory-pressure") == 0)
                *(int64_t *) userdata = event->ended;
}

/* It is written as it was, also if alerts are dropped before that. */
static void test_an_unwritten_end_before_a_drop(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_MEMORY_PRESSURE, OF(THREE));
        g_autoptr(GPtrArray) rows = filling_rows(), others = many_rows(TWO, 0, 150);
        AldFindingRow *ends = ald_struct_dup(&ald_finding_row_struct, &row);
        int64_t ended = 0;
        sqlite3 *other;

        g_ptr_array_add(rows, ends);
        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 30, rows);
        g_ptr_array_remove(rows, ends);
        g_assert_cmpint(sqlite3_open(fixture->folder.path, &other), ==, SQLITE_OK);
        run_other(other, "BEGIN IMMEDIATE");
        look_at_many(fixture, 0, rows);
        look_at_many(fixture, 300, rows);
        run_other(other, "ROLLBACK");
        sqlite3_close(other);
        g_string_truncate(fixture->notices, 0);
        g_ptr_array_extend_and_steal(rows, g_steal_pointer(&others));
        look_at_many(fixture, 1, rows);
        check_notices(fixture, "-configuration-refused ");
        (void) ald_history_visit_events(fixture->history, 0, ALD_HISTORY_TIME_MAX, 1000, find_end, &ended);
        g_assert_cmpint(ended, ==, (int64_t) (START + 30 * SECOND));
}

/* It is written later. */
static void test_an_end_that_cannot_be_written(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        sqlite3 *other;

        look(fixture, 0, &row);
        look(fixture, 30, &row);
        g_assert_cmpint(sqlite3_open(fixture->folder.path, &other), ==, SQLITE_OK);
        run_other(other, "BEGIN IMMEDIATE");
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "+disk-nearly-full -disk-nearly-full ");
        check_events(fixture, "disk-nearly-full 0; ");
        run_other(other, "ROLLBACK");
        sqlite3_close(other);
        ald_finding_log_save(fixture->log);
        check_events(fixture, "disk-nearly-full 0-30; ");
}

/* Without a history there are still notices, also after a restart. */
static void test_locked_history(Fixture *fixture, gconstpointer data)
{
        const AldFindingRow row = make_row(ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, OF(ONE));
        g_autofree char *log = NULL;

        close_all(fixture);
        history_folder_empty(&fixture->folder);
        g_assert_cmpint(g_mkdir(fixture->folder.path, 0), ==, 0);
        log = g_build_filename(fixture->folder.path, "entry", NULL);
        g_assert_true(g_file_set_contents(log, "", 0, NULL));
        open_all(fixture);
        look(fixture, 0, &row);
        look(fixture, 30, &row);
        restart(fixture);
        look(fixture, 0, NULL);
        look(fixture, 300, NULL);
        check_notices(fixture, "+disk-nearly-full -disk-nearly-full ");
        g_unlink(log);
        g_rmdir(fixture->folder.path);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
#define TEST(name, function) \
        g_test_add("/history/finding-log/" name, Fixture, NULL, set_up, function, tear_down)
        TEST("begins-and-ends", test_begins_and_ends);
        TEST("restart", test_restart);
        TEST("long-key-of-an-older-version", test_long_key_of_an_older_version);
        TEST("lost-alerts", test_lost_alerts);
        TEST("silence", test_silence);
        TEST("ends-in-silence", test_ends_in_silence);
        TEST("silence-of-link", test_silence_of_link);
        TEST("valid-silences", test_valid_silences);
        g_test_add_func("/history/finding-log/number-of-silences", test_number_of_silences);
        TEST("damaged-silences", test_damaged_silences);
        TEST("unwritable", test_unwritable);
        TEST("only-own", test_only_own);
        TEST("all-after-own", test_all_after_own);
        TEST("long-row", test_long_row);
        TEST("long-row-after-restart", test_long_row_after_restart);
        TEST("many-of-a-reporter", test_many_of_a_reporter);
        TEST("ever-new", test_ever_new);
        TEST("one-withheld", test_one_withheld);
        TEST("one-withheld-in-silence", test_one_withheld_in_silence);
        TEST("many-unreported", test_many_unreported);
        TEST("dropped-alerts", test_dropped_alerts);
        TEST("clock-set-forward", test_clock_set_forward);
        TEST("start-in-1970", test_start_in_1970);
        TEST("clock-set-while-stopped", test_clock_set_while_stopped);
        TEST("clock-set-while-locked", test_clock_set_while_locked);
        TEST("locked-until-the-end", test_locked_until_the_end);
        TEST("clock-set-back", test_clock_set_back);
        TEST("an-end-that-cannot-be-written", test_an_end_that_cannot_be_written);
        TEST("an-unwritten-end-before-a-drop", test_an_unwritten_end_before_a_drop);
        TEST("locked-history", test_locked_history);
        return g_test_run();
}
