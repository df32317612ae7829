/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include <glib.h>

#include "probes/compute/run/contention.h"
#include "tests/unit/fake-root.h"

static const char stat_text[] = "cpu  1 1 1 1 1 1 1 1 0 0\n"
                                "cpu0 100 10 20 5000 30 4 3 2 50 5\n"
                                "cpu1 200 0 0 5000 0 0 0 0 0 0\n"
                                "cpu12 1000 0 0 0 0 0 0 0 0 0\n"
                                "intr 5 6 7\n"
                                "ctxt 8\n";

static void test_stat(void)
{
        uint64_t busy = 0;
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(0, &set);
        CPU_SET(1, &set);
        /* Neither idle nor waiting for disks, and guests are counted in user already. */
        g_assert_cmpuint(ald_proc_stat_parse(stat_text, &set, &busy), ==, 2);
        g_assert_cmpuint(busy, ==, 100 + 10 + 20 + 4 + 3 + 2 + 200);
        CPU_CLR(0, &set);
        CPU_SET(12, &set);
        g_assert_cmpuint(ald_proc_stat_parse(stat_text, &set, &busy), ==, 2);
        g_assert_cmpuint(busy, ==, 1200);
        g_assert_cmpuint(ald_proc_stat_parse("", &set, &busy), ==, 0);
        g_assert_cmpuint(
                ald_proc_stat_parse("cpu1 1 2\ncpux\ncpu99999999 1 1 1 1 1 1 1 1\n", &set, &busy), ==, 0);
        g_assert_cmpuint(busy, ==, 1200);
}

static void test_share(void)
{
        const AldProcessorTimes before = { .now = 1000000, .busy = 500000, .own = 100, .waiting = 7, .n = 2 };
        AldProcessorTimes after = before;

        g_assert_cmpfloat(ald_contention_share(&before, &after), <, 0);
        g_assert_false(ald_contention_is_significant(&before, &after));
        /* Two seconds of two processors, all of them ours. */
        after.now += 2000000;
        after.busy += 4000000;
        after.own += 4000000;
        g_assert_cmpfloat(ald_contention_share(&before, &after), ==, 0);
        g_assert_false(ald_contention_is_significant(&before, &after));
        /* One busy task beside us takes a third. */
        after.own -= 1333333;
        g_assert_cmpfloat_with_epsilon(ald_contention_share(&before, &after), 0.333, 0.001);
        g_assert_true(ald_contention_is_significant(&before, &after));
        after.n = 0;
        g_assert_false(ald_contention_is_significant(&before, &after));
}

/* On a large machine a few tasks are a small part, but somebody waits all the time. */
static void test_waiting(void)
{
        const AldProcessorTimes before = { .now = 1000000, .n = 64 };
        AldProcessorTimes after = { .now = 2000000, .busy = 64000000, .own = 60000000, .n = 64 };

        g_assert_false(ald_contention_is_significant(&before, &after));
        after.waiting = 900000;
        g_assert_true(ald_contention_is_significant(&before, &after));
        /* We may wait for ourselves, and for what runs now and then on any machine. */
        after.own = 63000000;
        g_assert_false(ald_contention_is_significant(&before, &after));
}

static void test_read(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldProcessorTimes times;

        ald_processor_times_read(root->dir, &times);
        g_assert_cmpuint(times.n, ==, 0);
        g_assert_cmpuint(times.waiting, ==, 0);
        fake_root_write_all(root, "proc/pressure/cpu",
                "some avg10=1.00 avg60=2.00 avg300=3.00 total=4711\nfull avg10=0.00 total=0\n", NULL);
        ald_processor_times_read(root->dir, &times);
        g_assert_cmpuint(times.waiting, ==, 4711);
        /* The machine this runs on: what this process took was busy. */
        ald_processor_times_read("/", &times);
        g_assert_cmpuint(times.n, >, 0);
        g_assert_cmpuint(times.now, >, 0);
}

static void test_in_use(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const AldOpenclTarget device = {
                .type = ALD_LISTED_DEVICE_TYPE_GPU, .vendor = ALD_VENDOR_AMD, .listed.pci = "0000:03:00.0"
        };
        g_autoptr(AldClocks) clocks = NULL;

        fake_root_write(root, "sys/bus/pci/devices/0000:03:00.0/gpu_busy_percent", "3\n");
        clocks = ald_clocks_open(root->dir, &device);
        g_assert_cmpint(ald_clocks_usage(clocks), ==, 3);
        g_assert_false(ald_device_in_use(clocks, 0));
        fake_root_write(root, "sys/bus/pci/devices/0000:03:00.0/gpu_busy_percent", "97\n");
        g_assert_true(ald_device_in_use(clocks, 0));
        /* No source knows. */
        fake_root_remove(root, "sys/bus/pci/devices/0000:03:00.0/gpu_busy_percent");
        g_assert_false(ald_device_in_use(clocks, 0));
}

#define KFD "sys/class/kfd/kfd/"

/* Queues of processes on the device and on another one. */
static void test_processes(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const AldOpenclTarget device = {
                .type = ALD_LISTED_DEVICE_TYPE_GPU, .vendor = ALD_VENDOR_AMD, .listed.pci = "0000:03:00.0"
        };
        g_autoptr(AldClocks) silent = ald_clocks_open(root->dir, &device), clocks = NULL;
        AldContention contention;

        g_assert_cmpint(ald_clocks_processes(silent), <, 0);
        g_assert_cmpuint(ald_clocks_memory_free(silent), ==, 0);
        fake_root_write_all(root, KFD "topology/nodes/0/gpu_id", "0\n", KFD "topology/nodes/0/properties",
                "cpu_cores_count 8\n", KFD "topology/nodes/1/gpu_id", "1234\n",
                KFD "topology/nodes/1/properties", "simd_count 8\ndomain 0\nlocation_id 768\n",
                KFD "proc/77/queues/0/gpuid", "99\n", NULL);
        fake_root_write_all(root, "sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "1000\n",
                "sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used", "300\n", NULL);
        clocks = ald_clocks_open(root->dir, &device);
        g_assert_cmpint(ald_clocks_processes(clocks), ==, 0);
        g_assert_cmpuint(ald_clocks_memory_free(clocks), ==, 700);
        g_assert_false(ald_device_in_use(clocks, 0));
        /* A model that is loaded, at no load. */
        fake_root_write(root, KFD "proc/78/queues/3/gpuid", "1234\n");
        g_assert_cmpint(ald_clocks_processes(clocks), ==, 1);
        g_assert_true(ald_device_in_use(clocks, 0));
        /* One in its second context. */
        fake_root_write(root, KFD "proc/80/context_1/queues/0/gpuid", "1234\n");
        g_assert_cmpint(ald_clocks_processes(clocks), ==, 2);
        fake_root_write(root, KFD "proc/80/context_1/queues/0/gpuid", "99\n");
        g_assert_cmpint(ald_clocks_processes(clocks), ==, 1);
        /* What is there once our context is, is ours; another one is not. */
        ald_contention_begin(&contention, root->dir, clocks, &device);
        g_assert_false(ald_contention_end(&contention));
        fake_root_write_all(
                root, KFD "proc/79/queues/0/gpuid", "99\n", KFD "proc/79/queues/1/gpuid", "1234\n", NULL);
        contention.looked = 0;
        g_assert_true(ald_contention_check(&contention));
        fake_root_remove(root, KFD "proc/79/queues/1/gpuid");
        /* One that came and went is not forgotten. */
        g_assert_true(ald_contention_check(&contention));
        g_assert_true(ald_contention_end(&contention));
        fake_root_write(root, "sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used", "1001\n");
        g_assert_cmpuint(ald_clocks_memory_free(clocks), ==, 0);
}

static void write_processors(FakeRoot *root, unsigned busy)
{
        g_autoptr(GString) text = g_string_new("cpu  1 1 1 1 1 1 1 1 0 0\n");

        for (unsigned i = 0; i < CPU_SETSIZE; i++)
                g_string_append_printf(text, "cpu%u %u 0 0 0 0 0 0 0 0 0\n", i, busy);
        fake_root_write(root, "proc/stat", text->str);
}

/* Beside us somebody takes all there is. */
static void test_processors(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_CPU };
        g_autoptr(AldClocks) clocks = ald_clocks_open(root->dir, &device);
        AldContention contention;

        write_processors(root, 1000);
        g_assert_false(ald_processors_in_use(root->dir));
        ald_contention_begin(&contention, root->dir, clocks, &device);
        contention.looked = 0;
        g_assert_false(ald_contention_check(&contention));
        g_assert_false(ald_contention_end(&contention));
        write_processors(root, 100000);
        contention.looked = 0;
        contention.before.now -= 2000000;
        g_assert_true(ald_contention_check(&contention));
        g_assert_true(ald_contention_end(&contention));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute/contention/stat", test_stat);
        g_test_add_func("/compute/contention/share", test_share);
        g_test_add_func("/compute/contention/waiting", test_waiting);
        g_test_add_func("/compute/contention/read", test_read);
        g_test_add_func("/compute/contention/in-use", test_in_use);
        g_test_add_func("/compute/contention/processes", test_processes);
        g_test_add_func("/compute/contention/processors", test_processors);
        return g_test_run();
}
