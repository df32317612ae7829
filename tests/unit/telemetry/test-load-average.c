/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "services/telemetry/host/load-average.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void assert_average(double got, double wanted)
{
        if (isnan(wanted))
                g_assert_true(isnan(got));
        else
                g_assert_cmpfloat(got, ==, wanted);
}

static void test_table(void)
{
        static const struct {
                const char *text; /* NULL if the file is missing */
                double wanted[3];
                unsigned n_logged;
        } cases[] = {
                { "0.10 0.20 0.30 1/100 1000\n", { 0.1, 0.2, 0.3 }, 0 },
                { "0.00 0.00 0.00 1/100 1\n", { 0, 0, 0 }, 0 },
                { "4096.07 311.50 12.00 4000/9000 4194304\n", { 4096.07, 311.5, 12 }, 0 },
                { "1.00 2.00 3.00\n", { 1, 2, 3 }, 0 },
                /* Each stands for itself, up to the first that is broken. */
                { "1.00 2.00 many 1/100 1\n", { 1, 2, NAN }, 1 },
                { "1.00 -2.00 3.00 1/100 1\n", { 1, NAN, NAN }, 1 },
                { "1.00 2.0", { 1, NAN, NAN }, 1 },
                { "nan inf 1e999 1/100 1\n", { NAN, NAN, NAN }, 1 },
                { "99999999.00 1.00 1.00 1/100 1\n", { NAN, NAN, NAN }, 1 },
                { "", { NAN, NAN, NAN }, 1 },
                { NULL, { NAN, NAN, NAN }, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                AldKeptFile file;

                g_test_message("case %zu", i);
                if (cases[i].text)
                        fake_root_write(root, "proc/loadavg", cases[i].text);
                log_count_reset();
                ald_kept_file_init(&file, root->fd, "proc/loadavg");
                for (unsigned sample = 0; sample < 3; sample++) {
                        AldSystem system = ALD_SYSTEM_INIT;

                        ald_load_average_sample(&file, &system);
                        assert_average(system.load_average1, cases[i].wanted[0]);
                        assert_average(system.load_average5, cases[i].wanted[1]);
                        assert_average(system.load_average15, cases[i].wanted[2]);
                }
                g_assert_cmpuint(log_count("proc/loadavg"), ==, cases[i].n_logged);
                ald_kept_file_clear(&file);
        }
}

/* An idle machine is not heard of each second, and a busy one only when its load is another. */
static void test_thresholds(void)
{
        static const struct {
                double from, to;
                bool sent;
        } cases[] = {
                { 0, 0.09, false },
                { 0, 0.11, true },
                { 0.5, 0.59, false },
                { 0.5, 0.61, true },
                { 64, 70, false },
                { 64, 71, true },
                { 64, 57, true },
        };
        const AldField *field = ald_struct_find(&ald_system_struct, "LoadAverage1");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(
                        ald_field_beyond_threshold(field, &cases[i].from, &cases[i].to), ==, cases[i].sent);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/load-average/table", test_table);
        g_test_add_func("/load-average/thresholds", test_thresholds);
        return g_test_run();
}
