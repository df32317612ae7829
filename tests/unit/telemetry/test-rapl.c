/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/field.h"
#include "services/telemetry/host/rapl.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_UINT64
#define CAP "sys/class/powercap/"
#define RAPL0 CAP "intel-rapl:0/"
#define RAPL1 CAP "intel-rapl:1/"
#define SEC UINT64_C(1000000)

static void add_domain(FakeRoot *root, const char *domain, const char *name, const char *energy)
{
        static const char *const files[] = { "name", "energy_uj", "max_energy_range_uj" };
        const char *contents[] = { name, energy, "262143328850\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *path = g_strdup_printf(CAP "%s/%s", domain, files[i]);

                fake_root_write(root, path, contents[i]);
        }
}

static void test_nothing_there(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        log_count_reset();
        for (uint64_t now = 1; now < 100; now++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, now * SEC), ==, ABSENT);
        g_assert_null(ald_rapl_collector_reason(collector));
        g_assert_cmpuint(log_count(""), ==, 0);

        /* The driver is loaded after all. */
        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 200 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "5000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 201 * SEC), ==, 5000000);
}

/* Packages only: not their parts, not the platform, not the same package by another way. */
static void test_sums_packages(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        fake_root_mkdir(root, CAP "intel-rapl");
        add_domain(root, "intel-rapl:0", "package-0\n", "1000000\n");
        add_domain(root, "intel-rapl:0:0", "core\n", "1000000\n");
        add_domain(root, "intel-rapl:0:1", "package-0-die-0\n", "1000000\n");
        add_domain(root, "intel-rapl:1", "package-1\n", "2000000\n");
        add_domain(root, "intel-rapl:2", "psys\n", "1000000\n");
        add_domain(root, "intel-rapl-mmio:0", "package-0\n", "1000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, SEC), ==, ABSENT);

        for (int i = 0; i < 6; i++) {
                static const char *const names[] = { "intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1",
                        "intel-rapl:1", "intel-rapl:2", "intel-rapl-mmio:0" };
                g_autofree char *path = g_strdup_printf(CAP "%s/energy_uj", names[i]);

                fake_root_write(root, path, "101000000\n");
        }
        /* 100 J and 99 J in 2 s. */
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 3 * SEC), ==, 99500000);
}

static void test_wraps(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        add_domain(root, "intel-rapl:0", "package-0\n", "262143000000\n");
        ald_rapl_collector_sample(collector, SEC);
        fake_root_write(root, RAPL0 "energy_uj", "671150\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 2 * SEC), ==, 1000000);
        /* A reset looks like a wrap of a quarter of a megawatt. */
        fake_root_write(root, RAPL0 "energy_uj", "100\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 3 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "3000100\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 4 * SEC), ==, 3000000);
}

static void test_wraps_without_range(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        add_domain(root, "intel-rapl:0", "package-0\n", "5000000\n");
        fake_root_remove(root, RAPL0 "max_energy_range_uj");
        ald_rapl_collector_sample(collector, SEC);
        fake_root_write(root, RAPL0 "energy_uj", "1000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 2 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "2000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 3 * SEC), ==, 1000000);
}

/* A sum without one of its parts would be wrong, so it is absent; and one line is logged. */
static void test_one_package_broken(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);
        static const char *const broken[] = { "", "x\n", "-5\n", "99999999999999999999999\n" };

        log_count_reset();
        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        add_domain(root, "intel-rapl:1", "package-1\n", "0\n");
        ald_rapl_collector_sample(collector, SEC);
        for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
                fake_root_write(root, RAPL1 "energy_uj", broken[i]);
                g_assert_cmpuint(ald_rapl_collector_sample(collector, (i + 2) * SEC), ==, ABSENT);
        }
        g_assert_cmpuint(log_count("intel-rapl:1"), ==, 1);
        g_assert_null(ald_rapl_collector_reason(collector));

        fake_root_write(root, RAPL1 "energy_uj", "10\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 9 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "1000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 10 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "3000000\n");
        fake_root_write(root, RAPL1 "energy_uj", "4000010\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 11 * SEC), ==, 4000000);
}

/* A counter that is read more often than each second shows more than the power. */
static void test_at_most_each_second(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        ald_rapl_collector_sample(collector, SEC);
        fake_root_write(root, RAPL0 "energy_uj", "500000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, SEC + SEC / 4), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "1000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 2 * SEC), ==, 1000000);
        fake_root_write(root, RAPL0 "energy_uj", "5000000\n");
        for (unsigned i = 1; i < 4; i++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, 2 * SEC + i * SEC / 4), ==, 1000000);
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 3 * SEC), ==, 4000000);
}

static void test_absurd_number_of_packages(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        log_count_reset();
        for (unsigned i = 0; i < 200; i++) {
                g_autofree char *domain = g_strdup_printf("intel-rapl:%u", i);

                add_domain(root, domain, "package-0\n", "0\n");
        }
        for (uint64_t now = 1; now < 100; now++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, now * SEC), ==, ABSENT);
        g_assert_cmpuint(log_count("more than 128 packages"), ==, 1);
}

static void test_no_time_passed(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        ald_rapl_collector_sample(collector, SEC);
        fake_root_write(root, RAPL0 "energy_uj", "1000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, SEC), ==, ABSENT);
}

/* As in a virtual machine: the counter is there, and never moves. A sum of one that stands still and one that
 * does not is no sum. */
static void test_stands_still(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        add_domain(root, "intel-rapl:0", "package-0\n", "1000000\n");
        add_domain(root, "intel-rapl:1", "package-1\n", "1000000\n");
        for (uint64_t now = 1; now < 5; now++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, now * SEC), ==, ABSENT);
        fake_root_write(root, RAPL1 "energy_uj", "9000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 5 * SEC), ==, ABSENT);

        /* Renewed late: 6 J in the 5 s since it was first seen to stand, and 2 J in the last one. */
        fake_root_write(root, RAPL0 "energy_uj", "7000000\n");
        fake_root_write(root, RAPL1 "energy_uj", "11000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 6 * SEC), ==, 1200000 + 2000000);

        /* Its growth over a long time does not give the current power; counting starts again. */
        for (uint64_t now = 7; now < 40; now++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, now * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "10000000\n");
        fake_root_write(root, RAPL1 "energy_uj", "14000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 40 * SEC), ==, ABSENT);
        fake_root_write(root, RAPL0 "energy_uj", "11000000\n");
        fake_root_write(root, RAPL1 "energy_uj", "16000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 41 * SEC), ==, 3000000);
}

/* Power of 100 W, by a counter that is updated once per this many seconds. */
static uint64_t sample_renewed(unsigned period, unsigned n)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);
        uint64_t power = ABSENT;

        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        for (unsigned now = 0; now <= n * period; now++) {
                g_autofree char *energy = g_strdup_printf("%u\n", now / period * period * 100000000u);

                fake_root_write(root, RAPL0 "energy_uj", energy);
                power = ald_rapl_collector_sample(collector, (now + 1) * SEC);
        }
        return power;
}

static void test_renewed_late(void)
{
        g_assert_cmpuint(sample_renewed(1, 3), ==, 100000000);
        g_assert_cmpuint(sample_renewed(9, 3), ==, 100000000);
        g_assert_cmpuint(sample_renewed(10, 3), ==, ABSENT);
        g_assert_cmpuint(sample_renewed(12, 3), ==, ABSENT);
}

static void refuse(FakeRoot *root, bool refused)
{
        g_autofree char *path = g_build_filename(root->dir, RAPL0 "energy_uj", NULL);

        g_assert_cmpint(chmod(path, refused ? 0 : 0644), ==, 0);
}

static void check_reason(FakeRoot *root)
{
        g_autoptr(AldRaplCollector) collector = ald_rapl_collector_new(root->fd);

        log_count_reset();
        refuse(root, true);
        for (uint64_t now = 1; now < 50; now++)
                g_assert_cmpuint(ald_rapl_collector_sample(collector, now * SEC), ==, ABSENT);
        g_assert_true(g_str_has_prefix(ald_rapl_collector_reason(collector),
                "PowerMicroWatts: permission denied reading /sys/class/powercap/intel-rapl:0/energy_uj; "
                "to allow it, run as root: /"));
        g_assert_true(
                g_str_has_suffix(ald_rapl_collector_reason(collector), "/doc/alidade/examples/rapl/enable"));
        g_assert_cmpuint(log_count("intel-rapl:0"), ==, 1);

        /* The administrator grants it: no restart is needed. */
        refuse(root, false);
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 60 * SEC), ==, ABSENT);
        g_assert_null(ald_rapl_collector_reason(collector));
        fake_root_write(root, RAPL0 "energy_uj", "5000000\n");
        g_assert_cmpuint(ald_rapl_collector_sample(collector, 61 * SEC), ==, 5000000);
}

/* root reads everything, so a child gives its rights up. */
static void test_reason_when_refused(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        int status;
        pid_t pid;

        add_domain(root, "intel-rapl:0", "package-0\n", "0\n");
        if (geteuid() != 0) {
                check_reason(root);
                return;
        }
        g_assert_cmpint(chown(root->dir, 65534, 65534), ==, 0);
        pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
                g_autofree char *path = g_build_filename(root->dir, RAPL0 "energy_uj", NULL);

                if (chown(path, 65534, 65534) < 0 || chmod(root->dir, 0755) < 0 || setgid(65534) < 0 ||
                        setuid(65534) < 0)
                        _exit(EXIT_FAILURE);
                check_reason(root);
                _exit(EXIT_SUCCESS);
        }
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_cmpint(status, ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/rapl/nothing-there", test_nothing_there);
        g_test_add_func("/rapl/sums-packages", test_sums_packages);
        g_test_add_func("/rapl/wraps", test_wraps);
        g_test_add_func("/rapl/wraps-without-range", test_wraps_without_range);
        g_test_add_func("/rapl/one-package-broken", test_one_package_broken);
        g_test_add_func("/rapl/stands-still", test_stands_still);
        g_test_add_func("/rapl/renewed-late", test_renewed_late);
        g_test_add_func("/rapl/no-time-passed", test_no_time_passed);
        g_test_add_func("/rapl/at-most-each-second", test_at_most_each_second);
        g_test_add_func("/rapl/reason-when-refused", test_reason_when_refused);
        g_test_add_func("/rapl/absurd-number-of-packages", test_absurd_number_of_packages);
        return g_test_run();
}
