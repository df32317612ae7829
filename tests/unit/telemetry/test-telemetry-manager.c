/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "record/record.h"
#include "services/telemetry/telemetry-manager.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define MSEC UINT64_C(1000)
#define SEC (UINT64_C(1000) * 1000)

static const char *const just_root[] = { "/", NULL };
static const AldTelemetrySettings usual = { { 500 * MSEC, SEC, 30 * SEC }, just_root };

/* What was emitted: how often, and the last of each. */
typedef struct Seen {
        unsigned n[ALD_N_KINDS];
        AldRecord *last[ALD_N_KINDS];
} Seen;

static void see(AldKind kind, const void *fields, void *userdata)
{
        Seen *seen = userdata;

        seen->n[kind]++;
        g_clear_pointer(&seen->last[kind], ald_record_unref);
        g_assert_cmpint(ald_record_new(kind, fields, &seen->last[kind]), ==, 0);
}

static AldTelemetryManager *start(FakeRoot *root, const AldTelemetrySettings *settings, Seen *seen)
{
        AldTelemetryManager *manager = ald_telemetry_manager_new(root->fd, settings);

        ald_telemetry_manager_start(manager, see, seen);
        return manager;
}

static void forget(Seen *seen)
{
        for (int kind = 0; kind < ALD_N_KINDS; kind++)
                g_clear_pointer(&seen->last[kind], ald_record_unref);
}

static void wait_for(Seen *seen, AldKind kind, unsigned n)
{
        while (seen->n[kind] < n)
                g_main_context_iteration(NULL, TRUE);
}

static FakeRoot *make_root(void)
{
        FakeRoot *root = fake_root_new();

        fake_root_write_all(root, "proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n", "proc/stat",
                "cpu  100 0 0 100\n", NULL);
        return root;
}

static void test_all_at_start(void)
{
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(AldTelemetryManager) manager = NULL;
        Seen seen = { 0 };

        manager = start(root, &usual, &seen);
        /* These need nobody's answer, so they are there before the name is. */
        g_assert_cmpuint(seen.n[ALD_KIND_MEMORY], ==, 1);
        g_assert_cmpuint(seen.n[ALD_KIND_SYSTEM], ==, 1);
        g_assert_cmpuint(seen.n[ALD_KIND_BACKENDS], ==, 1);
        g_assert_cmpuint(seen.n[ALD_KIND_PROCESSOR], ==, 1);
        g_assert_cmpuint(ald_record_as(seen.last[ALD_KIND_MEMORY], MEMORY, AldMemory)->total_bytes, ==, 8192);
        wait_for(&seen, ALD_KIND_DISK, 1);
        wait_for(&seen, ALD_KIND_NETWORK, 1);
        g_assert_cmpuint(ald_record_as(seen.last[ALD_KIND_DISK], DISK, AldDisk)->paths.n, ==, 1);
        forget(&seen);
}

/* However long the interval is, load does not make the first screen wait for it. */
static void test_load_comes_soon(void)
{
        const AldTelemetrySettings slow = { { 60 * SEC, 60 * SEC, 3600 * SEC }, just_root };
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(AldTelemetryManager) manager = NULL;
        Seen seen = { 0 };

        manager = start(root, &slow, &seen);
        g_assert_true(isnan(ald_record_as(seen.last[ALD_KIND_SYSTEM], SYSTEM, AldSystem)->cpu_usage));
        fake_root_write(root, "proc/stat", "cpu  175 0 0 125\n");
        wait_for(&seen, ALD_KIND_SYSTEM, 2);
        g_assert_cmpfloat(ald_record_as(seen.last[ALD_KIND_SYSTEM], SYSTEM, AldSystem)->cpu_usage, ==, 75);
        g_assert_cmpuint(seen.n[ALD_KIND_MEMORY], ==, 1);
        forget(&seen);
}

static void test_intervals(void)
{
        static const struct {
                uint64_t wanted, effective[ALD_N_RATES];
        } cases[] = {
                { 1, { 100 * MSEC, 250 * MSEC, 5 * SEC } },
                { UINT64_MAX, { 60 * SEC, 60 * SEC, 3600 * SEC } },
                { 7 * SEC, { 7 * SEC, 7 * SEC, 7 * SEC } },
                { 0, { 500 * MSEC, SEC, 30 * SEC } },
        };
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(AldTelemetryManager) manager = NULL;
        Seen seen = { 0 };

        manager = start(root, &usual, &seen);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (AldRate rate = 0; rate < ALD_N_RATES; rate++) {
                        uint64_t wanted = cases[i].effective[rate];

                        g_assert_cmpuint(ald_telemetry_manager_set_interval(manager, rate, cases[i].wanted),
                                ==, wanted);
                        g_assert_cmpuint(ald_telemetry_manager_interval(manager, rate), ==, wanted);
                }
        forget(&seen);
}

static void test_set_interval_is_obeyed(void)
{
        const AldTelemetrySettings slow = { { 60 * SEC, 60 * SEC, 3600 * SEC }, just_root };
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(AldTelemetryManager) manager = NULL;
        Seen seen = { 0 };

        manager = start(root, &slow, &seen);
        ald_telemetry_manager_set_interval(manager, ALD_RATE_MEMORY, 100 * MSEC);
        wait_for(&seen, ALD_KIND_MEMORY, 4);
        g_assert_cmpuint(seen.n[ALD_KIND_SYSTEM], <=, 2);
        forget(&seen);
}

static void test_configure(void)
{
        const char *const more_paths[] = { "/", "/proc/..", NULL };
        const AldTelemetrySettings other = { { 700 * MSEC, 1, 60 * SEC }, more_paths };
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(AldTelemetryManager) manager = NULL;
        Seen seen = { 0 };

        manager = start(root, &usual, &seen);
        wait_for(&seen, ALD_KIND_DISK, 1);
        ald_telemetry_manager_set_interval(manager, ALD_RATE_MEMORY, 2 * SEC);
        ald_telemetry_manager_configure(manager, &other);
        /* What was set by hand stays until it is given back. */
        g_assert_cmpuint(ald_telemetry_manager_interval(manager, ALD_RATE_MEMORY), ==, 2 * SEC);
        g_assert_cmpuint(ald_telemetry_manager_interval(manager, ALD_RATE_SYSTEM), ==, 250 * MSEC);
        g_assert_cmpuint(ald_telemetry_manager_interval(manager, ALD_RATE_DISK), ==, 60 * SEC);
        g_assert_cmpuint(ald_telemetry_manager_set_interval(manager, ALD_RATE_MEMORY, 0), ==, 700 * MSEC);
        wait_for(&seen, ALD_KIND_DISK, 2);
        /* The same paths again are no reason to ask again: a file system may still owe its answer. */
        ald_telemetry_manager_configure(manager, &other);
        wait_for(&seen, ALD_KIND_SYSTEM, seen.n[ALD_KIND_SYSTEM] + 2);
        g_assert_cmpuint(seen.n[ALD_KIND_DISK], ==, 2);
        g_assert_cmpuint(ald_record_as(seen.last[ALD_KIND_DISK], DISK, AldDisk)->paths.n, ==, 2);
        forget(&seen);
}

static void test_kinds_with_a_rate(void)
{
        g_assert_cmpint(ald_rate_from_kind(ALD_KIND_MEMORY), ==, ALD_RATE_MEMORY);
        g_assert_cmpint(ald_rate_from_kind(ALD_KIND_SYSTEM), ==, ALD_RATE_SYSTEM);
        g_assert_cmpint(ald_rate_from_kind(ALD_KIND_DISK), ==, ALD_RATE_DISK);
        g_assert_cmpint(ald_rate_from_kind(ALD_KIND_NETWORK), <, 0);
        g_assert_cmpint(ald_rate_from_kind(-1), <, 0);
}

/* The processor computes in the memory of the container. */
static void test_limit_of_processor(void)
{
        g_autoptr(FakeRoot) root = make_root();
        AldTelemetryManager *manager;
        const AldBackends *backends;
        Seen seen = {};

        fake_root_write_all(root, ".dockerenv", "", "sys/fs/cgroup/memory.max", "4096\n",
                "sys/fs/cgroup/memory.current", "96\n", NULL);
        manager = start(root, &usual, &seen);
        wait_for(&seen, ALD_KIND_BACKENDS, 2);
        backends = ald_record_as(seen.last[ALD_KIND_BACKENDS], BACKENDS, AldBackends);
        g_assert_cmpuint(backends->devices.n, ==, 1);
        g_assert_cmpuint(((const AldBackend *) ald_rows_at(&backends->devices, 0))->shared_bytes, ==, 4096);
        ald_telemetry_manager_free(manager);
        forget(&seen);
}

int main(int argc, char *argv[])
{
        g_autoptr(FakeRoot) no_helpers = NULL;

        g_test_init(&argc, &argv, NULL);
        log_count_install();
        no_helpers = fake_root_new();
        g_setenv("ALIDADE_LIBEXEC_DIR", no_helpers->dir, TRUE);
        g_test_add_func("/telemetry-manager/all-at-start", test_all_at_start);
        g_test_add_func("/telemetry-manager/load-comes-soon", test_load_comes_soon);
        g_test_add_func("/telemetry-manager/intervals", test_intervals);
        g_test_add_func("/telemetry-manager/set-interval-is-obeyed", test_set_interval_is_obeyed);
        g_test_add_func("/telemetry-manager/configure", test_configure);
        g_test_add_func("/telemetry-manager/kinds-with-a-rate", test_kinds_with_a_rate);
        g_test_add_func("/telemetry-manager/limit-of-processor", test_limit_of_processor);
        return g_test_run();
}
