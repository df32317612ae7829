/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>

#include "record/field.h"
#include "services/link-probe/machine/cpu-units.h"
#include "tests/unit/fake-root.h"

#define SECOND UINT64_C(1000000)
#define TOP "sys/fs/cgroup/"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define START (1700000000 * SECOND) /* CLOCK_REALTIME at 0 of the other clock */

typedef struct Fixture {
        FakeRoot *root;
        AldCpuUnits *units;
        uint64_t now;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer unused)
{
        fixture->root = fake_root_new();
        fixture->units = ald_cpu_units_new(fixture->root->fd, 4);
        ald_cpu_units_set_named(fixture->units, true);
        fixture->now = 100 * SECOND;
}

static void tear_down(Fixture *fixture, gconstpointer unused)
{
        ald_cpu_units_free(fixture->units);
        fake_root_free(fixture->root);
}

static void write_usage(const Fixture *fixture, const char *group, uint64_t usec)
{
        g_autofree char *path = g_strconcat(TOP, group, *group ? "/" : "", "cpu.stat", NULL);
        g_autofree char *text = g_strdup_printf(
                "usage_usec %" G_GUINT64_FORMAT "\nuser_usec 1\nsystem_usec 1\n", usec);

        fake_root_write(fixture->root, path, text);
}

/* Lets the group, which is one of few, use as many of the four processors for as many readings. Returns
 * whether one of them changed the reason. */
static bool use(Fixture *fixture, const char *group, double processors, unsigned readings)
{
        bool changed = false;

        for (unsigned i = 0; i < readings; i++) {
                uint64_t usec = (uint64_t) (processors * (double) fixture->now);

                write_usage(fixture, "", usec + usec / 50);
                write_usage(fixture, group, usec);
                changed |= ald_cpu_units_read(fixture->units, fixture->now, START + fixture->now);
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
        return changed;
}

static void check(const Fixture *fixture, const char *reason)
{
        g_assert_cmpstr(ald_cpu_units_reason(fixture->units), ==, reason);
        g_assert_cmpint(ald_cpu_units_since(fixture->units) == ALD_ABSENT_UINT64, ==, reason == NULL);
}

static void test_minute(Fixture *fixture, gconstpointer unused)
{
        static const char *const group = "system.slice/ollama.service";

        g_assert_false(use(fixture, group, 2.48, 4));
        check(fixture, NULL);
        /* Between two times nothing is read. */
        fixture->now -= ALD_CPU_UNITS_STEP_USEC / 2;
        g_assert_false(use(fixture, group, 2.48, 1));
        check(fixture, NULL);
        fixture->now -= ALD_CPU_UNITS_STEP_USEC / 2;
        g_assert_true(use(fixture, group, 2.48, 1));
        check(fixture, "ollama.service uses 62 % of the processors");
        g_assert_cmpuint(
                ald_cpu_units_since(fixture->units), ==, START + fixture->now - ALD_CPU_UNITS_STEP_USEC);
        g_assert_false(use(fixture, group, 2.48, 3));
        /* The name is no more than is shared. */
        ald_cpu_units_set_named(fixture->units, false);
        check(fixture, "one unit uses 62 % of the processors");
        g_assert_false(use(fixture, group, 2.48, 1));
        check(fixture, "one unit uses 62 % of the processors");
}

static void test_less_than_half(Fixture *fixture, gconstpointer unused)
{
        g_assert_false(use(fixture, "system.slice/ollama.service", 1.9, 12));
        check(fixture, NULL);
}

static void test_names(void)
{
        static const struct {
                const char *group, *reason;
        } cases[] = {
                { "system.slice/ollama.service", "ollama.service uses 75 % of the processors" },
                { "system.slice/system-llama.slice/llama@1.service",
                        "llama@1.service uses 75 % of the processors" },
                { "machine.slice/libpod-" ID ".scope/container",
                        "podman:0123456789ab uses 75 % of the processors" },
                { "user.slice/user-1000.slice/user@1000.service/app.slice/x.scope",
                        "a user's session uses 75 % of the processors" },
                { "system.slice/slurmstepd.scope/job_42/step_0/user",
                        "job 42 of Slurm uses 75 % of the processors" },
                { "kubepods/burstable/pod7/" ID, "kubernetes:0123456789ab uses 75 % of the processors" },
                { "lxc.payload.web/system.slice/nginx.service", "lxc:web uses 75 % of the processors" },
                { "some/folder", "one unit uses 75 % of the processors" },
                { "system.slice/a\x1b[31m\xff.service", "a__31m_.service uses 75 % of the processors" },
                { "system.slice/alidade-link-probed.service/x", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Fixture fixture;

                set_up(&fixture, NULL);
                for (unsigned n = 0; n < 2 * ALD_CPU_UNITS_SAMPLES; n++) {
                        g_auto(GStrv) parts = g_strsplit(cases[i].group, "/", -1);
                        g_autoptr(GString) group = g_string_new(NULL);

                        for (char **part = parts; *part; part++) {
                                g_string_append_printf(group, "%s%s", group->len > 0 ? "/" : "", *part);
                                write_usage(&fixture, group->str, 3 * fixture.now);
                        }
                        (void) use(&fixture, cases[i].group, 3, 1);
                }
                check(&fixture, cases[i].reason);
                tear_down(&fixture, NULL);
        }
}

/* All of them together use nine tenths of the processors, but none of them half. */
static void test_many_small_ones(Fixture *fixture, gconstpointer unused)
{
        for (unsigned n = 0; n < 12; n++) {
                for (unsigned i = 0; i < 4; i++) {
                        g_autofree char *group = g_strdup_printf("system.slice/job%u.service", i);

                        write_usage(fixture, group, fixture->now * 9 / 10);
                }
                write_usage(fixture, "", fixture->now * 36 / 10);
                g_assert_false(ald_cpu_units_read(fixture->units, fixture->now, START));
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
        check(fixture, NULL);
}

static void test_end(Fixture *fixture, gconstpointer unused)
{
        static const char *const group = "machine.slice/vm.scope";
        uint64_t since;

        (void) use(fixture, group, 3, 6);
        since = ald_cpu_units_since(fixture->units);
        g_assert_cmpuint(since, !=, ALD_ABSENT_UINT64);
        fake_root_remove(fixture->root, TOP "machine.slice/vm.scope/cpu.stat");
        g_assert_true(ald_cpu_units_read(fixture->units, fixture->now, START + fixture->now));
        check(fixture, NULL);
        fixture->now += ALD_CPU_UNITS_STEP_USEC;
        /* A short pause is none. */
        (void) use(fixture, group, 3, 6);
        check(fixture, "vm.scope uses 75 % of the processors");
        g_assert_cmpuint(ald_cpu_units_since(fixture->units), ==, since);
        fake_root_remove(fixture->root, TOP "machine.slice/vm.scope/cpu.stat");
        g_assert_true(ald_cpu_units_read(fixture->units, fixture->now, START + fixture->now));
        fixture->now += ALD_CPU_UNITS_PAUSE_USEC;
        (void) use(fixture, group, 3, 6);
        g_assert_cmpuint(ald_cpu_units_since(fixture->units), >=, since + ALD_CPU_UNITS_PAUSE_USEC);
}

/* The figure in the reason is not sent again for each percent. */
static void test_steady_reason(Fixture *fixture, gconstpointer unused)
{
        static const char *const group = "system.slice/a.service";
        uint64_t usec = 0;
        unsigned changes = 0;

        for (unsigned i = 0; i < 40; i++) {
                usec += (uint64_t) ((i < 10 ? 2.1 : i < 20 ? 2.3 : i < 30 ? 1.8 : 0.5) * 15 * SECOND);
                write_usage(fixture, "", usec);
                write_usage(fixture, group, usec);
                changes += ald_cpu_units_read(fixture->units, fixture->now, START);
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
        /* It begins, and ends with less than 40 %. */
        g_assert_cmpuint(changes, ==, 2);
        check(fixture, NULL);
}

static void test_version_1(Fixture *fixture, gconstpointer unused)
{
        fake_root_write(fixture->root, TOP "cpu/system.slice/a.service/cpuacct.usage", "99999999999999\n");
        for (unsigned i = 0; i < 8; i++) {
                g_assert_false(ald_cpu_units_read(fixture->units, fixture->now, START));
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
        check(fixture, NULL);
}

static void test_rubbish(Fixture *fixture, gconstpointer unused)
{
        static const char *const group = "system.slice/a.service";

        (void) use(fixture, group, 3, 6);
        check(fixture, "a.service uses 75 % of the processors");
        fake_root_write(fixture->root, TOP "cpu.stat", "usage_usec 99999999999999999999999\n");
        g_assert_true(ald_cpu_units_read(fixture->units, fixture->now, START));
        check(fixture, NULL);
        fixture->now += ALD_CPU_UNITS_STEP_USEC;
        for (unsigned i = 0; i < 8; i++) {
                write_usage(fixture, "", 3 * fixture->now);
                fake_root_write(fixture->root, TOP "system.slice/a.service/cpu.stat", "usage_usec -1\nx");
                g_assert_false(ald_cpu_units_read(fixture->units, fixture->now, START));
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
}

/* The load of a machine without any is not looked for in its groups: what was used before does not count. */
static void test_idle(Fixture *fixture, gconstpointer unused)
{
        static const char *const group = "system.slice/a.service";

        for (unsigned i = 0; i < 8; i++) {
                write_usage(fixture, "", 0);
                write_usage(fixture, group, 100000 * SECOND * i);
                g_assert_false(ald_cpu_units_read(fixture->units, fixture->now, START));
                fixture->now += ALD_CPU_UNITS_STEP_USEC;
        }
        check(fixture, NULL);
}

static void test_too_many(Fixture *fixture, gconstpointer unused)
{
        for (unsigned i = 0; i < ALD_CPU_UNITS_GROUPS_MAX; i++) {
                g_autofree char *group = g_strdup_printf(TOP "a%05u", i);

                fake_root_mkdir(fixture->root, group);
        }
        g_assert_false(use(fixture, "z.service", 3, 6));
        check(fixture, NULL);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(Fixture *fixture, gconstpointer unused);
        } cases[] = {
                { "minute", test_minute },
                { "less-than-half", test_less_than_half },
                { "many-small-ones", test_many_small_ones },
                { "end", test_end },
                { "steady-reason", test_steady_reason },
                { "version-1", test_version_1 },
                { "rubbish", test_rubbish },
                { "idle", test_idle },
                { "too-many", test_too_many },
        };

        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe/cpu-units/names", test_names);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strconcat("/link-probe/cpu-units/", cases[i].name, NULL);

                g_test_add(path, Fixture, NULL, set_up, cases[i].run, tear_down);
        }
        return g_test_run();
}
