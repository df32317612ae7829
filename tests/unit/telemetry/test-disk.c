/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "record/record.h"
#include "services/telemetry/host/disk.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_UINT64

/* The root directory. */
static int slash;

/* What the last call told, by copy. */
typedef struct Told {
        unsigned n_calls;
        size_t n_rows;
        char *ids[8];
        AldDiskPath rows[8];
} Told;

static void forget(Told *told)
{
        for (size_t i = 0; i < told->n_rows; i++)
                g_free(told->ids[i]);
        told->n_rows = 0;
}

static void tell(const AldDisk *disk, void *userdata)
{
        Told *told = userdata;

        forget(told);
        told->n_calls++;
        told->n_rows = disk->paths.n;
        for (size_t i = 0; i < disk->paths.n; i++) {
                told->rows[i] = *(const AldDiskPath *) ald_rows_at(&disk->paths, i);
                told->rows[i].id = told->ids[i] = g_strdup(told->rows[i].id);
        }
}

static void wait_for_call(Told *told, unsigned n)
{
        while (told->n_calls < n)
                g_main_context_iteration(NULL, TRUE);
}

/* A kernel whose answers the test holds back: by path. */
static struct {
        GMutex lock;
        GCond changed;
        bool hung;
        unsigned asked_hung, in_hung;
        gint error, depth; /* of /moody */
} kernel;

static int ask_fake(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth)
{
        *ret_mount_depth = 0;
        if (strcmp(path, "/moody") == 0) {
                *ret_mount_depth = (unsigned) g_atomic_int_get(&kernel.depth);
                if (g_atomic_int_get(&kernel.error) < 0)
                        return g_atomic_int_get(&kernel.error);
        }
        if (strcmp(path, "/missing") == 0)
                return -ENOENT;
        if (strcmp(path, "/auto") == 0)
                return -EREMOTE;
        if (strcmp(path, "/hung") == 0) {
                g_mutex_lock(&kernel.lock);
                kernel.asked_hung++;
                kernel.in_hung++;
                g_cond_broadcast(&kernel.changed);
                while (kernel.hung)
                        g_cond_wait(&kernel.changed, &kernel.lock);
                kernel.in_hung--;
                g_mutex_unlock(&kernel.lock);
        }
        ret->total_bytes = 1000;
        ret->available_bytes = 10 * strlen(path);
        return 0;
}

static void hang(bool hung)
{
        g_mutex_lock(&kernel.lock);
        kernel.hung = hung;
        kernel.asked_hung = 0;
        g_cond_broadcast(&kernel.changed);
        g_mutex_unlock(&kernel.lock);
}

static unsigned asked_hung(void)
{
        unsigned n;

        g_mutex_lock(&kernel.lock);
        n = kernel.asked_hung;
        g_mutex_unlock(&kernel.lock);
        return n;
}

static void test_rows(void)
{
        static const char *const paths[] = { "/", "/missing", "/data", "/auto", NULL };
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        log_count_reset();
        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        for (unsigned round = 1; round <= 5; round++) {
                ald_disk_collector_sample(collector);
                wait_for_call(&told, round);
                g_assert_cmpuint(told.n_calls, ==, round);
                g_assert_cmpuint(told.n_rows, ==, 2);
                g_assert_cmpstr(told.rows[0].id, ==, "/");
                g_assert_cmpuint(told.rows[0].available_bytes, ==, 10);
                g_assert_cmpstr(told.rows[1].id, ==, "/data");
                g_assert_cmpuint(told.rows[1].available_bytes, ==, 50);
        }
        g_assert_cmpuint(log_count("/missing"), ==, 1);
        g_assert_cmpuint(log_count("/auto"), ==, 1);
        forget(&told);
}

/* However they are written, and however often. */
static void test_spellings(void)
{
        static const char *const paths[] = { "/data/", "//", "/data", "//data/./", "/./x//.hidden/.", "/..",
                NULL };
        static const char *const names[] = { "/data", "/", "/x/.hidden", "/.." };
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 1);
        g_assert_cmpuint(told.n_rows, ==, G_N_ELEMENTS(names));
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                g_assert_cmpstr(told.rows[i].id, ==, names[i]);
        forget(&told);
}

static void ask_moody(AldDiskCollector *collector, Told *told, int error, int depth, size_t n_rows)
{
        unsigned n = told->n_calls;

        g_atomic_int_set(&kernel.error, error);
        g_atomic_int_set(&kernel.depth, depth);
        ald_disk_collector_sample(collector);
        wait_for_call(told, n + 1);
        g_assert_cmpuint(told->n_rows, ==, n_rows);
}

/* Each outage is one line, and so is its end. */
static void test_outages(void)
{
        static const char *const paths[] = { "/moody", NULL };
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        log_count_reset();
        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ask_moody(collector, &told, 0, 0, 1);
        g_assert_cmpuint(log_count(""), ==, 0);
        for (unsigned outage = 1; outage <= 3; outage++) {
                ask_moody(collector, &told, -EIO, 0, 0);
                ask_moody(collector, &told, -EIO, 0, 0);
                ask_moody(collector, &told, -ENOENT, 0, 0);
                g_assert_cmpuint(log_count("/moody is not reported"), ==, outage);
                g_assert_cmpuint(log_count("/moody is reported now"), ==, outage - 1);
                ask_moody(collector, &told, 0, 0, 1);
                ask_moody(collector, &told, 0, 0, 1);
                g_assert_cmpuint(log_count("/moody is reported now"), ==, outage);
        }
        forget(&told);
}

/* A file system that was mounted once is awaited; what lies below its mount point is not taken for it. */
static void test_mount_that_goes(void)
{
        static const char *const paths[] = { "/moody", NULL }, *const more[] = { "/", "/moody", NULL };
        g_autoptr(AldDiskCollector) collector = NULL, other = NULL;
        Told told = { 0 };

        log_count_reset();
        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ask_moody(collector, &told, 0, 0, 1);
        ask_moody(collector, &told, 0, 1, 1);
        for (unsigned i = 0; i < 3; i++)
                ask_moody(collector, &told, 0, 0, 0);
        g_assert_cmpuint(log_count("/moody is not reported until its file system is mounted again"), ==, 1);
        ask_moody(collector, &told, 0, 1, 1);
        ask_moody(collector, &told, -EREMOTE, 0, 0);
        ask_moody(collector, &told, 0, 0, 0);
        ask_moody(collector, &told, 0, 2, 1);
        ask_moody(collector, &told, 0, 1, 0);

        /* Other paths in the configuration change nothing about this one. */
        other = ald_disk_collector_new(slash, more, ask_fake, tell, &told);
        ald_disk_collector_inherit(other, collector);
        ask_moody(other, &told, 0, 1, 1);
        g_assert_cmpstr(told.rows[0].id, ==, "/");
        ask_moody(other, &told, 0, 2, 2);
        forget(&told);
}

/* The same with file systems of the kernel. */
static void test_real_mounts(void)
{
        static const char *const paths[] = { "/data/below", NULL };
        g_autoptr(FakeRoot) root = NULL;
        g_autoptr(AldDiskCollector) collector = NULL;
        g_autofree char *data = NULL, *below = NULL;
        AldDiskPath row = ALD_DISK_PATH_INIT;
        Told told = { 0 };
        unsigned depth;

        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
                g_test_skip("only root may mount");
                return;
        }
        root = fake_root_new();
        fake_root_mkdir(root, "data/below");
        data = g_build_filename(root->dir, "data", NULL);
        below = g_build_filename(data, "below", NULL);
        collector = ald_disk_collector_new(root->fd, paths, ald_disk_ask, tell, &told);
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 1);
        g_assert_cmpuint(told.n_rows, ==, 1);
        g_assert_cmpuint(told.rows[0].total_bytes, !=, 1024 * 1024);

        for (unsigned round = 0; round < 2; round++) {
                g_assert_cmpint(mount("test", data, "tmpfs", 0, "size=1m"), ==, 0);
                fake_root_mkdir(root, "data/below");
                ald_disk_collector_sample(collector);
                wait_for_call(&told, 2 + 2 * round);
                g_assert_cmpuint(told.n_rows, ==, 1);
                g_assert_cmpuint(told.rows[0].total_bytes, ==, 1024 * 1024);
                g_assert_cmpint(ald_disk_ask(root->fd, "//data/./below/", &row, &depth), ==, 0);
                g_assert_cmpuint(depth, ==, 1);

                g_assert_cmpint(umount(data), ==, 0);
                ald_disk_collector_sample(collector);
                wait_for_call(&told, 3 + 2 * round);
                g_assert_cmpuint(told.n_rows, ==, 0);
        }
        forget(&told);
}

static void test_no_paths(void)
{
        static const char *const paths[] = { NULL };
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ald_disk_collector_sample(collector);
        g_assert_cmpuint(told.n_calls, ==, 1);
        g_assert_cmpuint(told.n_rows, ==, 0);
}

/* The main loop goes on, the others are told of, nobody asks twice, and a late answer is welcome. */
static void test_hung_path(void)
{
        static const char *const paths[] = { "/", "/hung", NULL };
        gint64 start = g_get_monotonic_time();
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        log_count_reset();
        hang(true);
        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 1);
        g_assert_cmpint(g_get_monotonic_time() - start, >=, ALD_DISK_TIMEOUT_MSEC * 1000);
        g_assert_cmpuint(told.n_rows, ==, 1);
        g_assert_cmpstr(told.rows[0].id, ==, "/");

        for (unsigned round = 2; round <= 5; round++) {
                /* Nobody waits for it any more. */
                ald_disk_collector_sample(collector);
                wait_for_call(&told, round);
                g_assert_cmpuint(told.n_rows, ==, 1);
        }
        g_assert_cmpint(g_get_monotonic_time() - start, <, 2 * ALD_DISK_TIMEOUT_MSEC * 1000);
        g_assert_cmpuint(asked_hung(), ==, 1);
        g_assert_cmpuint(log_count("/hung"), ==, 1);

        hang(false);
        wait_for_call(&told, 6);
        g_assert_cmpuint(told.n_rows, ==, 2);
        g_assert_cmpstr(told.rows[1].id, ==, "/hung");
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 7);
        g_assert_cmpuint(told.n_rows, ==, 2);
        g_assert_cmpuint(asked_hung(), ==, 1);

        /* It is waited for again, and its old row goes again. */
        hang(true);
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 8);
        g_assert_cmpuint(told.n_rows, ==, 1);
        hang(false);
        wait_for_call(&told, 9);
        forget(&told);
}

/* The collector may go while a thread waits; its answer is thrown away. */
static void test_freed_while_waiting(void)
{
        static const char *const paths[] = { "/hung", NULL };
        AldDiskCollector *collector;
        Told told = { 0 };

        hang(true);
        collector = ald_disk_collector_new(slash, paths, ask_fake, tell, &told);
        ald_disk_collector_sample(collector);
        g_mutex_lock(&kernel.lock);
        while (kernel.in_hung == 0)
                g_cond_wait(&kernel.changed, &kernel.lock);
        g_mutex_unlock(&kernel.lock);
        ald_disk_collector_free(collector);

        hang(false);
        /* One iteration for the answer, however long its thread takes. */
        g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(told.n_calls, ==, 0);
}

static void test_real(void)
{
        AldDiskPath row = ALD_DISK_PATH_INIT;
        g_autofree char *long_name = g_strnfill(300, 'x');
        unsigned depth = 7;

        g_assert_cmpint(ald_disk_ask(slash, "/", &row, &depth), ==, 0);
        g_assert_cmpuint(depth, ==, 0);
        g_assert_cmpuint(row.total_bytes, >, 0);
        g_assert_cmpuint(row.available_bytes, <=, row.total_bytes);
        g_assert_cmpint(ald_disk_ask(slash, "/tmp/", &row, &depth), ==, 0);
        g_assert_cmpint(ald_disk_ask(slash, "/no/such/path", &row, &depth), ==, -ENOENT);
        g_assert_cmpint(ald_disk_ask(slash, "/proc/self/cmdline/x", &row, &depth), ==, -ENOTDIR);
        g_assert_cmpint(ald_disk_ask(slash, long_name, &row, &depth), ==, -ENAMETOOLONG);

        /* A file system without a size says nothing; 0 would be a lie. */
        row = (AldDiskPath) ALD_DISK_PATH_INIT;
        g_assert_cmpint(ald_disk_ask(slash, "/proc", &row, &depth), ==, -ENODATA);
        g_assert_cmpuint(row.total_bytes, ==, ABSENT);
}

/* The answer of the thread comes to the main loop. */
static void test_real_rows(void)
{
        static const char *const paths[] = { "/", "/proc", NULL };
        g_autoptr(AldDiskCollector) collector = NULL;
        Told told = { 0 };

        collector = ald_disk_collector_new(slash, paths, ald_disk_ask, tell, &told);
        ald_disk_collector_sample(collector);
        wait_for_call(&told, 1);
        g_assert_cmpuint(told.n_rows, ==, 1);
        g_assert_cmpstr(told.rows[0].id, ==, "/");
        g_assert_cmpuint(told.rows[0].total_bytes, <, ABSENT);
        forget(&told);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        g_assert_cmpint(slash, >=, 0);
        g_test_add_func("/disk/rows", test_rows);
        g_test_add_func("/disk/spellings", test_spellings);
        g_test_add_func("/disk/outages", test_outages);
        g_test_add_func("/disk/mount-that-goes", test_mount_that_goes);
        g_test_add_func("/disk/no-paths", test_no_paths);
        g_test_add_func("/disk/hung-path", test_hung_path);
        g_test_add_func("/disk/freed-while-waiting", test_freed_while_waiting);
        g_test_add_func("/disk/real", test_real);
        g_test_add_func("/disk/real-rows", test_real_rows);
        /* The last, since it takes the process to a mount namespace of its own. */
        g_test_add_func("/disk/real-mounts", test_real_mounts);
        return g_test_run();
}
