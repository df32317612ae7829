/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sched.h>
#include <stdlib.h>

#include <glib.h>

#include "probes/compute/clock/clocks.h"
#include "tests/unit/fake-root.h"

#define PCI "sys/bus/pci/devices/0000:03:00.0/"

static const AldOpenclTarget gpu = { .type = ALD_LISTED_DEVICE_TYPE_GPU, .listed.pci = "0000:03:00.0" };

static void assert_reading(AldClocks *clocks, uint64_t hz, unsigned reasons)
{
        AldClockReading reading;

        ald_clocks_read(clocks, &reading);
        g_assert_cmpuint(reading.hz, ==, hz);
        g_assert_cmpuint(reading.reasons, ==, reasons);
}

static void test_words(void)
{
        char text[64], little[8];

        ald_throttle_to_string(0, text, sizeof text);
        g_assert_cmpstr(text, ==, "");
        ald_throttle_to_string(ALD_THROTTLE_POWER | ALD_THROTTLE_SETTING, text, sizeof text);
        g_assert_cmpstr(text, ==, "power setting");
        ald_throttle_to_string(ALD_THROTTLE_THERMAL | ALD_THROTTLE_HARDWARE, little, sizeof little);
        g_assert_cmpstr(little, ==, "thermal");
}

static void test_nothing(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const AldOpenclTarget lost = { .type = ALD_LISTED_DEVICE_TYPE_ACCELERATOR };
        g_autoptr(AldClocks) clocks = ald_clocks_open(root->dir, &gpu),
                             none = ald_clocks_open(root->dir, &lost);

        assert_reading(clocks, 0, 0);
        assert_reading(none, 0, 0);
        g_assert_cmpint(ald_clocks_usage(none), <, 0);
        g_assert_cmpfloat(ald_clocks_memory_peak(none), ==, 0);
}

static void test_amd(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldClocks) clocks = NULL, older = NULL;

        fake_root_write_all(root, PCI "pp_dpm_sclk", "0: 500Mhz\n1: 1800Mhz *\n2: 2500Mhz\n",
                PCI "gpu_busy_percent", "0\n", NULL);
        older = ald_clocks_open(root->dir, &gpu);
        assert_reading(older, 1800000000, 0);
        fake_root_write_all(root, PCI "hwmon/hwmon4/freq1_input", "2124000000\n",
                PCI "hwmon/hwmon4/power1_cap", "303000000\n", NULL);
        clocks = ald_clocks_open(root->dir, &gpu);
        assert_reading(clocks, 2124000000, 0);
        g_assert_cmpint(ald_clocks_usage(clocks), ==, 0);
        g_assert_cmpuint(ald_clocks_power_limit(older), ==, 0);
        g_assert_cmpuint(ald_clocks_power_limit(clocks), ==, 303000000);
        /* What is absurd counts as unknown. */
        fake_root_write_all(root, PCI "hwmon/hwmon4/power1_cap", "18446744073709551615\n",
                PCI "hwmon/hwmon4/freq1_input", "18446744073709551615\n", PCI "gpu_busy_percent", "101\n",
                NULL);
        assert_reading(clocks, 0, 0);
        g_assert_cmpint(ald_clocks_usage(clocks), <, 0);
        g_assert_cmpuint(ald_clocks_power_limit(clocks), ==, 0);
        fake_root_write_all(
                root, PCI "hwmon/hwmon4/freq1_input", "-5\n", PCI "pp_dpm_sclk", "1: *\n*\n", NULL);
        assert_reading(clocks, 0, 0);
}

static void test_i915(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldClocks) clocks = NULL;

        fake_root_mkdir(root, PCI "drm/renderD128");
        fake_root_write_all(root, PCI "drm/card1/gt/gt0/rps_act_freq_mhz", "2400\n",
                PCI "drm/card1/gt/gt0/throttle_reason_status", "1\n",
                PCI "drm/card1/gt/gt0/throttle_reason_pl1", "1\n",
                PCI "drm/card1/gt/gt0/throttle_reason_thermal", "0\n",
                PCI "drm/card1/gt/gt0/throttle_reason_prochot", "0\n", NULL);
        clocks = ald_clocks_open(root->dir, &gpu);
        assert_reading(clocks, 2400000000, ALD_THROTTLE_POWER);
        fake_root_write_all(root, PCI "drm/card1/gt/gt0/throttle_reason_thermal", "1\n",
                PCI "drm/card1/gt/gt0/throttle_reason_prochot", "1\n", NULL);
        assert_reading(clocks, 2400000000, ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL | ALD_THROTTLE_HARDWARE);
}

static void test_xe(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldClocks) clocks = NULL;

        fake_root_write_all(root, PCI "tile0/gt0/freq0/act_freq", "1950\n",
                PCI "tile0/gt0/freq0/throttle/status", "1\n", PCI "tile0/gt0/freq0/throttle/reason_vr_tdc",
                "1\n", PCI "hwmon/hwmon1/name", "xe\n", PCI "hwmon/hwmon1/power1_cap", "250000000\n",
                PCI "hwmon/hwmon1/power1_max", "190000000\n", NULL);
        clocks = ald_clocks_open(root->dir, &gpu);
        g_assert_cmpuint(ald_clocks_power_limit(clocks), ==, 190000000);
        assert_reading(clocks, 1950000000, ALD_THROTTLE_HARDWARE);
}

static void test_cpu(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_CPU };
        g_autoptr(AldClocks) clocks = NULL;
        g_autofree char *frequency = NULL, *count = NULL;
        unsigned cpu = 0;
        cpu_set_t set;

        g_assert_cmpint(sched_getaffinity(0, sizeof set, &set), ==, 0);
        while (!CPU_ISSET(cpu, &set))
                cpu++;
        frequency = g_strdup_printf("sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
        count = g_strdup_printf("sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", cpu);
        fake_root_write_all(root, frequency, "3700000\n", count, "4\n", NULL);
        clocks = ald_clocks_open(root->dir, &device);
        /* What came before is no business of ours. */
        assert_reading(clocks, 3700000000, 0);
        fake_root_write(root, count, "5\n");
        assert_reading(clocks, 3700000000, ALD_THROTTLE_THERMAL);
        assert_reading(clocks, 3700000000, 0);
        fake_root_remove(root, frequency);
        assert_reading(clocks, 0, 0);
        g_assert_cmpint(ald_clocks_usage(clocks), <, 0);
}

static void use_library(const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/lib%s.so", getenv("ALIDADE_TEST_HELPERS"), name);

        g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
        g_setenv("ALIDADE_NVML_LIBRARY", path, TRUE);
}

static void test_nvml(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldOpenclTarget device = {
                .type = ALD_LISTED_DEVICE_TYPE_GPU, .vendor = ALD_VENDOR_NVIDIA, .listed.pci = "0000:01:00.0"
        };
        g_autoptr(AldClocks) clocks = NULL, old = NULL, other = NULL, instance = NULL;

        use_library("fake-nvml");
        clocks = ald_clocks_open(root->dir, &device);
        assert_reading(clocks, 2520000000, ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL);
        g_assert_cmpint(ald_clocks_usage(clocks), ==, 61);
        g_assert_cmpfloat(ald_clocks_memory_peak(clocks), ==, 1008.096e9);
        g_assert_cmpuint(ald_clocks_power_limit(clocks), ==, 450000000);
        /* The load, the processes and the memory of a card are not those of its instances. */
        device.listed.name = "NVIDIA GeForce RTX 4090 MIG 1g.6gb";
        instance = ald_clocks_open(root->dir, &device);
        device.listed.name = NULL;
        assert_reading(instance, 2520000000, ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL);
        g_assert_cmpint(ald_clocks_usage(instance), <, 0);
        g_assert_cmpint(ald_clocks_processes(instance), <, 0);
        g_assert_cmpuint(ald_clocks_memory_free(instance), ==, 0);
        g_assert_cmpfloat(ald_clocks_memory_peak(instance), ==, 0);
        g_assert_cmpuint(ald_clocks_power_limit(instance), ==, 0);
        g_setenv("FAKE_NVML", "garbage", TRUE);
        assert_reading(clocks, 0, ALD_THROTTLE_POWER | ALD_THROTTLE_THERMAL);
        g_assert_cmpint(ald_clocks_usage(clocks), <, 0);
        g_setenv("FAKE_NVML", "errors", TRUE);
        assert_reading(clocks, 0, 0);
        g_assert_cmpfloat(ald_clocks_memory_peak(clocks), ==, 0);
        g_assert_cmpuint(ald_clocks_power_limit(clocks), ==, 0);
        g_unsetenv("FAKE_NVML");
        /* Known to nobody. */
        device.listed.pci = "0000:77:00.0";
        other = ald_clocks_open(root->dir, &device);
        assert_reading(other, 0, 0);
        /* An old driver finds it, and reports little. */
        device.listed.pci = "0000:01:00.0";
        use_library("fake-nvml-old");
        old = ald_clocks_open(root->dir, &device);
        assert_reading(old, 0, 0);
        g_assert_cmpint(ald_clocks_usage(old), <, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-clocks/words", test_words);
        g_test_add_func("/compute-clocks/nothing", test_nothing);
        g_test_add_func("/compute-clocks/amd", test_amd);
        g_test_add_func("/compute-clocks/i915", test_i915);
        g_test_add_func("/compute-clocks/xe", test_xe);
        g_test_add_func("/compute-clocks/cpu", test_cpu);
        g_test_add_func("/compute-clocks/nvml", test_nvml);
        return g_test_run();
}
