/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to the file of a history, and to the process that writes it. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "common/fd.h"
#include "services/history/store/budget.h"
#include "services/history/store/history-store.h"
#include "services/history/store/tier-table.h"
#include "tests/unit/history/history-folder.h"
#include "tests/unit/log-count.h"

#define SECOND INT64_C(1000000)
#define BEGIN (INT64_C(1700000000) * SECOND / ALD_DAY_USEC * ALD_DAY_USEC)
#define BUDGET (UINT64_C(64) << 20)
#define NOBODY 65534
#define KILLS 12

static const AldSeriesName name = { "0123", "Node1.Memory", "", "AvailableBytes" };

typedef struct Fixture {
        HistoryFolder folder;
        AldHistory *history;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        log_count_reset();
        history_folder_make(&fixture->folder);
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        ald_history_free(fixture->history);
        history_folder_remove(&fixture->folder);
}

static int put_and_flush(Fixture *fixture, int64_t time, double value)
{
        g_assert_cmpint(ald_history_put(fixture->history, &name, time, value, 0, time), ==, 0);
        return ald_history_flush(fixture->history, time);
}

static void reopen(Fixture *fixture)
{
        ald_history_free(fixture->history);
        fixture->history = ald_history_new(fixture->folder.path, BUDGET);
}

/* The values of these seconds, from 0, are their numbers. */
static void check_values(Fixture *fixture, guint n)
{
        g_autoptr(GArray) seconds = NULL;

        g_assert_cmpint(
                ald_history_query(fixture->history, &name, BEGIN, BEGIN + 100 * SECOND, 100, &seconds), ==,
                0);
        g_assert_cmpuint(seconds->len, ==, n);
        for (guint i = 0; i < n; i++)
                g_assert_cmpfloat(g_array_index(seconds, AldBucket, i).mean, ==, i);
}

static const char *fault_name(AldHistoryFault fault)
{
        static const char *const names[] = {
                [ALD_HISTORY_WORKS] = "",
                [ALD_HISTORY_LOCKED] = "locked",
                [ALD_HISTORY_READ_ONLY] = "read-only",
                [ALD_HISTORY_FULL] = "full",
                [ALD_HISTORY_DAMAGED] = "damaged",
                [ALD_HISTORY_NEWER] = "newer",
                [ALD_HISTORY_FAILED] = "failed",
        };

        return names[fault];
}

static void check_fault(Fixture *fixture, const char *fault)
{
        const char *text;

        g_assert_cmpstr(fault_name(ald_history_fault(fixture->history, &text)), ==, fault);
        g_assert_true((*fault == '\0') == (*text == '\0'));
}

static sqlite3 *open_other(Fixture *fixture)
{
        sqlite3 *other;

        g_assert_cmpint(sqlite3_open(fixture->folder.path, &other), ==, SQLITE_OK);
        return other;
}

static void run_other(sqlite3 *other, const char *sql)
{
        g_assert_cmpint(sqlite3_exec(other, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

static void change_file(Fixture *fixture, const char *sql)
{
        sqlite3 *other = open_other(fixture);

        run_other(other, sql);
        sqlite3_close(other);
}

static char *read_file(Fixture *fixture, const char *end, gsize *ret_n)
{
        g_autofree char *path = g_strconcat(fixture->folder.path, end, NULL);
        char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, ret_n, NULL));
        return text;
}

/* Files that cannot be used */

static void test_newer(Fixture *fixture, gconstpointer data)
{
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 7), ==, 0);
        ald_history_free(g_steal_pointer(&fixture->history));
        change_file(
                fixture, "PRAGMA user_version = 99; CREATE TABLE later (x); PRAGMA wal_checkpoint(TRUNCATE)");
        {
                gsize n, n_aside;
                g_autofree char *before = read_file(fixture, "", &n), *aside = NULL;

                reopen(fixture);
                g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
                check_values(fixture, 1);
                aside = read_file(fixture, ".newer", &n_aside);
                g_assert_cmpmem(before, n, aside, n_aside);
        }
        check_fault(fixture, "");
        g_assert_cmpuint(log_count("of a newer version"), ==, 1);
}

static void note_event(const AldKeptEvent *event, void *userdata)
{
        g_string_append_printf(
                userdata, "%d %s %s %s;", (int) event->id, event->finding, event->nodes, event->reporter);
}

/* A file as version 0.1 made it, which did not note who reports an event. */
static void test_older(Fixture *fixture, gconstpointer data)
{
        static const char first_schema[] =
                "CREATE TABLE series (node TEXT, kind TEXT, key TEXT, field TEXT, id INTEGER NOT NULL,"
                " last INTEGER NOT NULL, PRIMARY KEY (node, kind, key, field)) WITHOUT ROWID;"
                "CREATE TABLE recent (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
                "CREATE TABLE raw (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
                "CREATE TABLE minutes (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
                "CREATE TABLE hours (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
                "CREATE TABLE events (id INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER,"
                " finding TEXT NOT NULL, nodes TEXT NOT NULL, text TEXT NOT NULL);"
                "CREATE INDEX event_began ON events (began);"
                "INSERT INTO events (began, ended, finding, nodes, text) VALUES (5, 6, 'a', 'n', '{}');"
                "INSERT INTO events (began, finding, nodes, text) VALUES (7, 'b', 'm', '{}');"
                "PRAGMA user_version = 1; PRAGMA application_id = 1095517256;";
        const AldKeptEvent event = {
                .began = 8, .finding = "c", .nodes = "n", .text = "{}", .reporter = "r"
        };
        g_autoptr(GString) events = g_string_new(NULL);
        int64_t id;

        g_clear_pointer(&fixture->history, ald_history_free);
        change_file(fixture, first_schema);
        reopen(fixture);
        g_assert_cmpint(ald_history_begin_event(fixture->history, &event, &id), ==, 0);
        g_assert_cmpint(ald_history_end_event(fixture->history, 2, 7, 9), ==, 0);
        reopen(fixture);
        g_assert_cmpint(ald_history_visit_events(fixture->history, 0, 100, 10, note_event, events), ==, 0);
        g_assert_cmpstr(events->str, ==, "1 a n ;2 b m ;3 c n r;");
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        check_values(fixture, 1);
        check_fault(fixture, "");
        g_assert_cmpuint(log_count("starting a new one"), ==, 0);
}

/* Random bytes, a text, and a database of another program: each is kept as it is. */
static void test_foreign(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        g_autofree char *random = g_malloc(8192);
        gsize n;

        for (unsigned i = 0; i < 8192; i++)
                random[i] = (char) g_rand_int_range(rand, 0, 256);
        g_assert_true(g_file_set_contents(fixture->folder.path, random, 8192, NULL));
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        check_values(fixture, 1);
        {
                g_autofree char *aside = read_file(fixture, ".damaged", &n);

                g_assert_cmpmem(random, 8192, aside, n);
        }
        ald_history_free(g_steal_pointer(&fixture->history));
        g_assert_cmpint(g_unlink(fixture->folder.path), ==, 0);
        change_file(fixture, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
        {
                g_autofree char *before = read_file(fixture, "", &n), *aside = NULL;
                gsize n_aside;

                reopen(fixture);
                g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
                aside = read_file(fixture, ".damaged.2", &n_aside);
                g_assert_cmpmem(before, n, aside, n_aside);
        }
        check_values(fixture, 1);
        check_fault(fixture, "");
        g_assert_cmpuint(log_count("starting a new one"), ==, 2);
}

/* What nobody looks after does not fill the disk. */
static void test_asides_are_few(Fixture *fixture, gconstpointer data)
{
        for (unsigned i = 0; i < 12; i++) {
                ald_history_free(g_steal_pointer(&fixture->history));
                g_assert_true(g_file_set_contents(fixture->folder.path, "no database, but a text", -1, NULL));
                reopen(fixture);
                g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, i < 9 ? 0 : -EBADMSG);
                check_fault(fixture, i < 9 ? "" : "damaged");
        }
        g_assert_cmpint(g_unlink(fixture->folder.path), ==, 0);
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        check_values(fixture, 1);
}

/* Wherever pages are overwritten, nothing but what was there is lost, and no value is another. */
static void test_damaged_pages(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (unsigned i = 0; i < 40; i++) {
                guint8 page[512];
                ald_fd int fd = -1;
                int64_t now = BEGIN;
                struct stat status;

                for (int second = 0; second < 100; second++)
                        g_assert_cmpint(ald_history_put(fixture->history, &name, now + second * SECOND,
                                                second, 0, now),
                                ==, 0);
                (void) ald_history_flush(fixture->history, now);
                (void) ald_history_flush(fixture->history, now + ALD_HOUR_USEC);
                ald_history_free(g_steal_pointer(&fixture->history));
                for (unsigned k = 0; k < sizeof page; k++)
                        page[k] = (guint8) g_rand_int_range(rand, 0, 256);
                fd = open(fixture->folder.path, O_RDWR | O_CLOEXEC);
                g_assert_cmpint(fstat(fd, &status), ==, 0);
                g_assert_cmpint(pwrite(fd, page, sizeof page,
                                        g_rand_int_range(rand, 0, (gint32) status.st_size / 512) * 512),
                        ==, sizeof page);
                reopen(fixture);
                for (unsigned turn = 0; turn < 2; turn++) {
                        g_autoptr(GArray) seconds = NULL;

                        (void) ald_history_flush(fixture->history, now + ALD_HOUR_USEC);
                        if (ald_history_query(
                                    fixture->history, &name, BEGIN, BEGIN + 100 * SECOND, 100, &seconds) < 0)
                                continue;
                        for (guint k = 0; k < seconds->len; k++) {
                                const AldBucket *bucket = &g_array_index(seconds, AldBucket, k);

                                g_assert_cmpfloat(bucket->mean, ==, (bucket->start - BEGIN) / SECOND);
                        }
                }
                ald_history_free(g_steal_pointer(&fixture->history));
                history_folder_empty(&fixture->folder);
                reopen(fixture);
        }
}

/* Other programs */

static void test_locked(Fixture *fixture, gconstpointer data)
{
        sqlite3 *other;

        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        other = open_other(fixture);
        run_other(other, "BEGIN IMMEDIATE");
        g_assert_cmpint(put_and_flush(fixture, BEGIN + SECOND, 1), ==, -EBUSY);
        check_fault(fixture, "locked");
        check_values(fixture, 2);
        g_assert_cmpint(put_and_flush(fixture, BEGIN + 2 * SECOND, 2), ==, -EBUSY);
        run_other(other, "COMMIT");
        g_assert_cmpint(put_and_flush(fixture, BEGIN + 3 * SECOND, 3), ==, 0);
        sqlite3_close(other);
        check_fault(fixture, "");
        reopen(fixture);
        check_values(fixture, 4);
        g_assert_cmpuint(log_count("Cannot use the history"), ==, 1);
        g_assert_cmpuint(log_count("works again"), ==, 1);
}

/* As it is opened. What cannot wait any more is lost, the oldest first. */
static void test_locked_from_the_beginning(Fixture *fixture, gconstpointer data)
{
        sqlite3 *other = open_other(fixture);

        run_other(
                other, "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE x (y); DROP TABLE x; BEGIN EXCLUSIVE");
        for (unsigned i = 0; i <= ALD_HISTORY_PENDING_MAX; i++)
                g_assert_cmpint(
                        ald_history_put(fixture->history, &name, BEGIN + i * SECOND / 10, i, 0, BEGIN), ==,
                        0);
        g_assert_true(ald_history_is_full(fixture->history));
        g_assert_cmpuint(ald_history_lost(fixture->history), ==, ALD_HISTORY_PENDING_MAX / 16);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN), ==, -EBUSY);
        check_fault(fixture, "locked");
        run_other(other, "COMMIT");
        sqlite3_close(other);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN), ==, 0);
        check_fault(fixture, "");
        g_assert_false(ald_history_is_full(fixture->history));
}

/* A program that reads for hours keeps the log from being emptied, but not the budget from being kept. */
static void test_reader(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        uint64_t most = 0;
        sqlite3 *other;
        int r = 0;

        g_assert_cmpint(ald_history_set_budget(fixture->history, ALD_BUDGET_MIN), ==, 0);
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        other = open_other(fixture);
        run_other(other, "BEGIN; SELECT * FROM recent");
        for (int64_t now = BEGIN; now < BEGIN + 200 * ALD_MINUTE_USEC && r >= 0; now += ALD_MINUTE_USEC) {
                for (int i = 0; i < 600; i++)
                        g_assert_cmpint(ald_history_put(fixture->history, &name, now + i * SECOND / 10,
                                                g_rand_double(rand), 0, now),
                                ==, 0);
                r = ald_history_flush(fixture->history, now);
                most = MAX(most, history_folder_bytes(&fixture->folder));
        }
        g_assert_cmpint(r, ==, -EBUSY);
        check_fault(fixture, "locked");
        g_assert_cmpint(put_and_flush(fixture, BEGIN + 200 * ALD_MINUTE_USEC, 0), ==, -EBUSY);
        most = MAX(most, history_folder_bytes(&fixture->folder));
        g_assert_cmpuint(most, <=, ALD_BUDGET_MIN);
        run_other(other, "COMMIT");
        sqlite3_close(other);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN + 200 * ALD_MINUTE_USEC), ==, 0);
        g_assert_cmpuint(history_folder_bytes(&fixture->folder), <=, ALD_BUDGET_MIN);
}

/* Disks */

static void test_read_only(Fixture *fixture, gconstpointer data)
{
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        reopen(fixture);
        g_assert_cmpint(g_chmod(fixture->folder.folder, 0555), ==, 0);
        /* Permissions are nothing to root. */
        if (geteuid() == 0)
                g_assert_cmpint(seteuid(NOBODY), ==, 0);
        g_assert_cmpint(put_and_flush(fixture, BEGIN + SECOND, 1), ==, -EROFS);
        check_fault(fixture, "read-only");
        if (getuid() == 0)
                g_assert_cmpint(seteuid(0), ==, 0);
        g_assert_cmpint(g_chmod(fixture->folder.folder, 0755), ==, 0);
        g_assert_cmpint(put_and_flush(fixture, BEGIN + 2 * SECOND, 2), ==, 0);
        check_values(fixture, 3);
        check_fault(fixture, "");
}

static void test_no_folder(Fixture *fixture, gconstpointer data)
{
        ald_history_free(fixture->history);
        fixture->history = ald_history_new("/nonexistent/history.sqlite", BUDGET);
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, -EROFS);
        check_fault(fixture, "read-only");
        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, -EROFS);
        g_assert_cmpuint(log_count("Cannot use the history"), ==, 1);
}

/* Until the disk is full. */
static void fill(const char *path)
{
        ald_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        static const char zeros[4096];

        g_assert_cmpint(fd, >=, 0);
        while (write(fd, zeros, sizeof zeros) > 0)
                ;
        g_assert_cmpint(errno, ==, ENOSPC);
}

static bool mount_small_disk(const char *folder)
{
        return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
               mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
               mount("none", folder, "tmpfs", 0, "size=1m") == 0;
}

static void run_full_disk(Fixture *fixture)
{
        g_autofree char *filler = g_build_filename(fixture->folder.folder, "filler", NULL);
        int r = 0;

        g_assert_cmpint(put_and_flush(fixture, BEGIN, 0), ==, 0);
        fill(filler);
        /* What is allocated already may still take some. */
        for (int64_t i = 1; i < 100; i++) {
                r = put_and_flush(fixture, BEGIN + i * SECOND, (double) i);
                for (int k = 0; k < 500; k++) {
                        const AldSeriesName other = { "0123", "Node1.System", "", "Noise" };

                        g_assert_cmpint(ald_history_put(fixture->history, &other, BEGIN + k * SECOND / 10,
                                                g_random_double(), 0, BEGIN),
                                ==, 0);
                }
        }
        g_assert_cmpint(r, ==, -ENOSPC);
        check_fault(fixture, "full");
        g_assert_cmpint(g_unlink(filler), ==, 0);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN), ==, 0);
        check_fault(fixture, "");
        check_values(fixture, 100);
        reopen(fixture);
        check_values(fixture, 100);
        fill(filler);
        reopen(fixture);
        r = put_and_flush(fixture, BEGIN + 100 * SECOND, 100);
        g_assert_true(r == 0 || r == -ENOSPC);
        g_assert_cmpint(g_unlink(filler), ==, 0);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN), ==, 0);
        check_values(fixture, 100);
}

static void test_full_disk(void)
{
        Fixture fixture;

        if (!g_test_subprocess()) {
                g_test_trap_subprocess(NULL, 0, 0);
                if (g_test_trap_reached_timeout())
                        g_test_fail();
                g_test_trap_assert_passed();
                return;
        }
        set_up(&fixture, NULL);
        if (mount_small_disk(fixture.folder.folder)) {
                run_full_disk(&fixture);
                g_assert_cmpint(umount2(fixture.folder.folder, MNT_DETACH), ==, 0);
        } else
                g_test_skip("mounting needs root or user namespaces");
        tear_down(&fixture, NULL);
}

/* Killed processes */

/* Writes for ever, a minute at a time, and reports each that is written. Each minute has a number as its
 * value. */
static G_GNUC_NORETURN void write_minutes(const char *path, int64_t minute, int fd)
{
        AldHistory *history = ald_history_new(path, ALD_BUDGET_MIN * 4);

        for (;; minute++) {
                const int64_t now = BEGIN + minute * ALD_MINUTE_USEC;

                for (unsigned i = 0; i < 20; i++) {
                        g_autofree char *field = g_strdup_printf("Field%u", i);
                        const AldSeriesName series = { "0123", "Node1.System", "", field };

                        for (int k = 0; k < 6; k++)
                                (void) ald_history_put(history, &series, now + k * 10 * SECOND,
                                        (double) (minute % 400), 0, now);
                }
                if (ald_history_flush(history, now) < 0 || write(fd, &minute, sizeof minute) != sizeof minute)
                        _exit(1);
        }
}

/* The last minute that was written before the process was killed at some moment. */
static int64_t write_and_kill(const char *path, int64_t minute, unsigned usec)
{
        int64_t last = minute - 1;
        int pipes[2], status;
        pid_t pid;

        g_assert_cmpint(pipe2(pipes, O_CLOEXEC), ==, 0);
        pid = fork();
        if (pid == 0)
                write_minutes(path, minute, pipes[1]);
        close(pipes[1]);
        /* From the first minute on, so that each round does something. */
        while (last < minute + 65 && read(pipes[0], &last, sizeof last) == sizeof last)
                ;
        g_usleep(usec);
        kill(pid, SIGKILL);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFSIGNALED(status));
        while (read(pipes[0], &last, sizeof last) == sizeof last)
                ;
        close(pipes[0]);
        return last;
}

static void check_intact(Fixture *fixture)
{
        sqlite3 *other = open_other(fixture);
        sqlite3_stmt *statement;

        g_assert_cmpint(
                sqlite3_prepare_v2(other, "PRAGMA integrity_check", -1, &statement, NULL), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
        g_assert_cmpstr((const char *) sqlite3_column_text(statement, 0), ==, "ok");
        sqlite3_finalize(statement);
        sqlite3_close(other);
}

/* All minutes up to the last one that was written are there, and perhaps one that was not reported. */
static void check_minutes(Fixture *fixture, int64_t last)
{
        const AldSeriesName series = { "0123", "Node1.System", "", "Field7" };
        g_autoptr(GArray) minutes = NULL;

        g_assert_cmpint(ald_history_query(fixture->history, &series, BEGIN,
                                BEGIN + (last + 2) * ALD_MINUTE_USEC, (unsigned) last + 2, &minutes),
                ==, 0);
        g_assert_cmpuint(minutes->len, >=, last + 1);
        for (guint i = 0; i < minutes->len; i++) {
                const AldBucket *bucket = &g_array_index(minutes, AldBucket, i);

                g_assert_cmpint(bucket->start, ==, BEGIN + i * ALD_MINUTE_USEC);
                g_assert_cmpuint(bucket->count, ==, 6);
                g_assert_cmpfloat(bucket->min, ==, i % 400);
                g_assert_cmpfloat(bucket->max, ==, i % 400);
        }
}

static void test_killed(Fixture *fixture, gconstpointer data)
{
        g_autoptr(GRand) rand = g_rand_new();
        int64_t last = -1;

        for (unsigned i = 0; i < KILLS; i++) {
                last = write_and_kill(
                        fixture->folder.path, last + 1, (unsigned) g_rand_int_range(rand, 0, 20000));
                check_intact(fixture);
                reopen(fixture);
                check_minutes(fixture, last);
        }
        g_assert_cmpuint(log_count("damaged"), ==, 0);
}

#define ADD(name, function) g_test_add("/history-faults/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        ADD("newer", test_newer);
        ADD("older", test_older);
        ADD("foreign", test_foreign);
        ADD("asides-are-few", test_asides_are_few);
        ADD("damaged-pages", test_damaged_pages);
        ADD("locked", test_locked);
        ADD("locked-from-the-beginning", test_locked_from_the_beginning);
        ADD("reader", test_reader);
        ADD("read-only", test_read_only);
        ADD("no-folder", test_no_folder);
        g_test_add_func("/history-faults/full-disk", test_full_disk);
        ADD("killed", test_killed);
        return g_test_run();
}
