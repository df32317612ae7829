/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of a processor, which the kernel counts in ns as well, plays an engine that is always busy. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/witness/intel-pmu.h"
#include "tests/unit/fake-root.h"

#define SOURCES "sys/bus/event_source/devices/"
#define IRIS "0000:00:02.0"
#define ARC "0000:03:00.0"

static FakeRoot *root_with_engines(const char *source)
{
        static const char *const files[][2] = { { "type", "1\n" }, { "cpumask", "0\n" },
                { "events/rcs0-busy", "config=0x0\n" }, { "events/vcs0-busy", "config=0x3\n" },
                { "events/rcs0-busy.unit", "ns\n" }, { "events/broken-busy", "config=busy\n" } };
        FakeRoot *root = fake_root_new();

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *path = g_strdup_printf(SOURCES "%s/%s", source, files[i][0]);

                fake_root_write(root, path, files[i][1]);
        }
        return root;
}

static void test_engines(gconstpointer source)
{
        g_autoptr(FakeRoot) root = root_with_engines(source);
        g_autoptr(AldIntelPmu) pmu = ald_intel_pmu_new(root->fd, g_str_equal(source, "i915") ? IRIS : ARC);
        double usage;

        g_assert_nonnull(pmu);
        if (ald_intel_pmu_error(pmu) != 0) {
                g_test_skip("the kernel counts for others only");
                return;
        }
        g_assert_true(isnan(ald_intel_pmu_read(pmu)));
        while (isnan(usage = ald_intel_pmu_read(pmu)))
                ;
        g_assert_cmpfloat(usage, >, 50);
}

static void test_no_engines_for_nobody(void)
{
        g_autoptr(FakeRoot) root = root_with_engines("i915");
        g_autoptr(AldIntelPmu) pmu = NULL;
        int r;

        g_assert_cmpint(chmod(root->dir, 0755), ==, 0);
        if (geteuid() == 0)
                g_assert_cmpint(seteuid(65534), ==, 0);
        pmu = ald_intel_pmu_new(root->fd, IRIS);
        if (getuid() == 0)
                g_assert_cmpint(seteuid(0), ==, 0);
        r = ald_intel_pmu_error(pmu);
        if (r == 0) {
                g_test_skip("the kernel counts for everybody");
                return;
        }
        g_assert_true(r == -EACCES || r == -EPERM);
        g_assert_true(isnan(ald_intel_pmu_read(pmu)));
}

static void test_no_events(void)
{
        g_autoptr(FakeRoot) root = root_with_engines("i915");

        g_assert_null(ald_intel_pmu_new(root->fd, ARC));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_data_func("/intel-pmu/engines", "i915", test_engines);
        g_test_add_data_func("/intel-pmu/engines-of-a-card", "i915_0000_03_00.0", test_engines);
        g_test_add_func("/intel-pmu/no-engines-for-nobody", test_no_engines_for_nobody);
        g_test_add_func("/intel-pmu/no-events", test_no_events);
        return g_test_run();
}
