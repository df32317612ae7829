/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "services/telemetry/host/cpu.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define STAT "proc/stat"

static void test_parse_table(void)
{
        static const struct {
                const char *text;
                bool good;
                uint64_t user, idle, steal;
        } cases[] = {
                { "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n", true, 1, 4, 8 },
                { "cpu  1 2 3 4\n", true, 1, 4, 0 }, /* 2.4 */
                { "cpu  1 2 3 4 5 6 7\n", true, 1, 4, 0 },
                { "cpu 18446744073709551615 0 0 18446744073709551615 0\n", true, UINT64_MAX, UINT64_MAX, 0 },
                { "cpu  1 2 3 4 5 6 7 8 9 10 11 12 and what may yet come\n", true, 1, 4, 8 },
                { "cpu  18446744073709551616 2 3 4\n", false, 0, 0, 0 },
                { "cpu  1 2 3\n", false, 0, 0, 0 },
                { "cpu  1 2 3 4", false, 0, 0, 0 }, /* perhaps 42 */
                { "cpu  1 2 -3 4\n", false, 0, 0, 0 },
                { "cpu  1 2 x 4\n", false, 0, 0, 0 },
                { "cpu  1 2 3x 4\n", false, 0, 0, 0 },
                { "cpu0 1 2 3 4 5 6 7 8\n", false, 0, 0, 0 },
                { "cpu", false, 0, 0, 0 },
                { "cpu \n", false, 0, 0, 0 },
                { "intr 1 2 3 4\n", false, 0, 0, 0 },
                { "", false, 0, 0, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldCpuTimes times;

                g_test_message("case %zu", i);
                g_assert_cmpint(ald_cpu_times_parse(cases[i].text, &times), ==, cases[i].good);
                if (!cases[i].good)
                        continue;
                g_assert_cmpuint(times.ticks[ALD_CPU_USER], ==, cases[i].user);
                g_assert_cmpuint(times.ticks[ALD_CPU_IDLE], ==, cases[i].idle);
                g_assert_cmpuint(times.ticks[ALD_CPU_STEAL], ==, cases[i].steal);
        }
}

static void test_usage_table(void)
{
        static const struct {
                AldCpuTimes before, after;
                double usage;
        } cases[] = {
                { { { 0 } }, { { 50, 0, 0, 50 } }, 50 },
                { { { 100, 0, 0, 100 } }, { { 100, 0, 0, 200 } }, 0 },
                { { { 100, 0, 0, 100 } }, { { 200, 0, 0, 100 } }, 100 },
                { { { 0 } }, { { 10, 10, 10, 10, 10, 10, 10, 10 } },
                        75 }, /* waiting is idle, stolen is not */
                { { { 7, 7, 7, 7 } }, { { 7, 7, 7, 7 } }, NAN },
                /* One counter steps back, as iowait does. */
                { { { 100, 0, 0, 100, 50 } }, { { 110, 0, 0, 130, 40 } }, 25 },
                /* All of them do: another boot. */
                { { { 100, 1, 1, 100, 50 } }, { { 1, 0, 0, 1, 0 } }, NAN },
                /* More than 64 bits in sum. */
                { { { 0 } }, { { UINT64_MAX, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX } }, 50 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                double usage = ald_cpu_usage(&cases[i].before, &cases[i].after);

                g_test_message("case %zu", i);
                if (isnan(cases[i].usage))
                        g_assert_true(isnan(usage));
                else
                        g_assert_cmpfloat_with_epsilon(usage, cases[i].usage, 1e-9);
        }
}

static void test_needs_two_samples(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldCpuCollector) collector = ald_cpu_collector_new(root->fd);

        fake_root_write(root, STAT, "cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\n");
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        /* Nothing moved: no time has passed, so there is no share of it. */
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        fake_root_write(root, STAT, "cpu  125 0 0 175 0 0 0 0 0 0\n");
        g_assert_cmpfloat(ald_cpu_collector_sample(collector), ==, 25);
        fake_root_write(root, STAT, "cpu  225 0 0 175 0 0 0 0 0 0\n");
        g_assert_cmpfloat(ald_cpu_collector_sample(collector), ==, 100);
}

/* After a gap the next sample has nothing to count from. */
static void test_gap(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldCpuCollector) collector = ald_cpu_collector_new(root->fd);

        log_count_reset();
        fake_root_write(root, STAT, "cpu  100 0 0 100\n");
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        fake_root_write(root, STAT, "cpu  broken\n");
        for (int i = 0; i < 10; i++)
                g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        g_assert_cmpuint(log_count("/proc/stat"), ==, 1);
        fake_root_write(root, STAT, "cpu  200 0 0 200\n");
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        fake_root_write(root, STAT, "cpu  300 0 0 300\n");
        g_assert_cmpfloat(ald_cpu_collector_sample(collector), ==, 50);

        fake_root_remove(root, STAT);
        for (int i = 0; i < 10; i++)
                g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        g_assert_cmpuint(log_count("/proc/stat"), ==, 1);
        fake_root_write(root, STAT, "cpu  400 0 0 400\n");
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        fake_root_write(root, STAT, "cpu  400 0 0 500\n");
        g_assert_cmpfloat(ald_cpu_collector_sample(collector), ==, 0);
}

static void write_processors(FakeRoot *root, unsigned n, unsigned long long busy, unsigned long long idle)
{
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_append_printf(text, "cpu  %llu 0 0 %llu 0 0 0 0 0 0\n", n * busy, n * idle);
        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, "cpu%u %llu 0 0 %llu 0 0 0 0 0 0\n", i, busy, idle);
        g_string_append(text, "intr 123");
        for (unsigned i = 0; i < 4096; i++)
                g_string_append(text, " 0");
        g_string_append(text, "\nctxt 1\n");
        fake_root_write(root, STAT, text->str);
}

static void test_hundreds_of_processors(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldCpuCollector) collector = ald_cpu_collector_new(root->fd);

        write_processors(root, 768, 1000000000000000ull, 2000000000000000ull);
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        write_processors(root, 768, 1000000000000075ull, 2000000000000025ull);
        g_assert_cmpfloat_with_epsilon(ald_cpu_collector_sample(collector), 75, 1e-6);
        /* Half of them are taken out, and their times with them. */
        write_processors(root, 384, 1000000000000150ull, 2000000000000050ull);
        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        write_processors(root, 384, 1000000000000175ull, 2000000000000125ull);
        g_assert_cmpfloat_with_epsilon(ald_cpu_collector_sample(collector), 25, 1e-6);
}

static void test_real(void)
{
        int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        g_autoptr(AldCpuCollector) collector = ald_cpu_collector_new(root);
        gint64 until;
        double usage;

        g_assert_true(isnan(ald_cpu_collector_sample(collector)));
        until = g_get_monotonic_time() + 5 * G_USEC_PER_SEC;
        do /* keeps one processor busy until the clock of the kernel has moved */
                usage = ald_cpu_collector_sample(collector);
        while (!(usage > 0) && g_get_monotonic_time() < until);
        g_assert_cmpfloat(usage, >, 0);
        g_assert_cmpfloat(usage, <=, 100);
        close(root);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/cpu/parse-table", test_parse_table);
        g_test_add_func("/cpu/usage-table", test_usage_table);
        g_test_add_func("/cpu/needs-two-samples", test_needs_two_samples);
        g_test_add_func("/cpu/gap", test_gap);
        g_test_add_func("/cpu/hundreds-of-processors", test_hundreds_of_processors);
        g_test_add_func("/cpu/real", test_real);
        return g_test_run();
}
