/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/telemetry/host/memory.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_UINT64
#define KIB UINT64_C(1024)
#define MEMINFO "proc/meminfo"
#define PSI "proc/pressure/memory"

static const char good_meminfo[] = "MemTotal:       16384000 kB\nMemFree:         4096000 kB\n"
                                   "MemAvailable:    8192000 kB\nBuffers:          123456 kB\n"
                                   "SwapTotal:       2048000 kB\nSwapFree:        1024000 kB\n"
                                   "HugePages_Total:       0\n";
static const char good_psi[] = "some avg10=1.25 avg60=0.00 avg300=0.00 total=10\n"
                               "full avg10=0.50 avg60=0.00 avg300=0.00 total=5\n";

static void test_meminfo_table(void)
{
        static const struct {
                const char *text;
                uint64_t total, available, swap_total, swap_available;
        } cases[] = {
                { good_meminfo, 16384000 * KIB, 8192000 * KIB, 2048000 * KIB, 1024000 * KIB },
                { "", ABSENT, ABSENT, ABSENT, ABSENT },
                { "\n\n\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "garbage", ABSENT, ABSENT, ABSENT, ABSENT },
                /* No swap is 0, not unknown. */
                { "MemTotal: 8 kB\nMemAvailable: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", 8 * KIB, 0, 0, 0 },
                /* Each field stands for itself. */
                { "MemAvailable: 4 kB\n", ABSENT, 4 * KIB, ABSENT, ABSENT },
                { "MemTotal: x kB\nMemAvailable: 4 kB\nSwapTotal: 2 kB\n", ABSENT, 4 * KIB, 2 * KIB, ABSENT },
                { "MemTotal: -8 kB\nMemAvailable: +4 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal:\nMemAvailable: kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 8 MB\nMemAvailable: 4\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 8kB\nMemAvailable: 4 kBytes\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 0x10 kB\nMemAvailable: 1e3 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                /* Names are whole. */
                { "XMemTotal: 8 kB\n MemTotal: 8 kB\nMemTotalX: 8 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                /* What contradicts itself. */
                { "MemTotal: 8 kB\nMemAvailable: 9 kB\n", 8 * KIB, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 0 kB\nMemAvailable: 0 kB\n", ABSENT, 0, ABSENT, ABSENT },
                { "SwapTotal: 1 kB\nSwapFree: 2 kB\n", ABSENT, ABSENT, 1 * KIB, ABSENT },
                /* Cut off in the middle of a number. */
                { "MemTotal:       16384000 kB\nMemAvailable:    819", 16384000 * KIB, ABSENT, ABSENT,
                        ABSENT },
                { "MemTotal: 8 kB\nMemAvailable: 4 kB", 8 * KIB, ABSENT, ABSENT, ABSENT },
                /* Out of every range: of 64 bits, of bytes, of JSON. */
                { "MemTotal: 99999999999999999999999 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 18446744073709551615 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 8796093022209 kB\n", ABSENT, ABSENT, ABSENT, ABSENT },
                { "MemTotal: 8796093022208 kB\n", UINT64_C(1) << 53, ABSENT, ABSENT, ABSENT },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldMemory memory = ALD_MEMORY_INIT;

                g_test_message("case %zu", i);
                ald_meminfo_parse(cases[i].text, &memory);
                g_assert_cmpuint(memory.total_bytes, ==, cases[i].total);
                g_assert_cmpuint(memory.available_bytes, ==, cases[i].available);
                g_assert_cmpuint(memory.swap_total_bytes, ==, cases[i].swap_total);
                g_assert_cmpuint(memory.swap_available_bytes, ==, cases[i].swap_available);
        }
}

static void assert_share(double got, double wanted)
{
        if (isnan(wanted))
                g_assert_true(isnan(got));
        else
                g_assert_cmpfloat(got, ==, wanted);
}

static void test_psi_table(void)
{
        static const struct {
                const char *text;
                double some, full;
        } cases[] = {
                { good_psi, 1.25, 0.5 },
                { "", NAN, NAN },
                { "some avg10=100.00 avg60=0\n", 100, NAN },
                { "full avg10=0.00 avg60=0\n", NAN, 0 },
                { "some avg10=100.01 avg60=0\nfull avg10=-1 avg60=0\n", NAN, NAN },
                { "some avg10=nan avg60=0\nfull avg10=inf avg60=0\n", NAN, NAN },
                { "some avg10=1,25 avg60=0\nfull avg10= avg60=0\n", NAN, NAN },
                { "some avg60=1.25\nfull 3\n", NAN, NAN },
                { "some avg10=1.25", NAN, NAN },
                { "some avg10=1.25\n", NAN, NAN },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldMemory memory = ALD_MEMORY_INIT;

                g_test_message("case %zu", i);
                ald_psi_parse(cases[i].text, &memory);
                assert_share(memory.pressure_some10, cases[i].some);
                assert_share(memory.pressure_full10, cases[i].full);
        }
}

static void test_follows_the_files(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = NULL;
        AldMemory memory;

        fake_root_write_all(root, MEMINFO, good_meminfo, PSI, good_psi, NULL);
        collector = ald_memory_collector_new(root->fd);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.available_bytes, ==, 8192000 * KIB);
        g_assert_cmpfloat(memory.pressure_some10, ==, 1.25);

        fake_root_write(root, MEMINFO, "MemTotal: 16384000 kB\nMemAvailable: 12 kB\n");
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.available_bytes, ==, 12 * KIB);
        g_assert_cmpuint(memory.swap_total_bytes, ==, ABSENT);

        /* A replaced file is another file. */
        fake_root_remove(root, MEMINFO);
        fake_root_write(root, MEMINFO, "MemTotal: 16384000 kB\nMemAvailable: 13 kB\n");
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.available_bytes, ==, 13 * KIB);
}

static void test_nothing_there(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        AldMemory memory;

        log_count_reset();
        for (int i = 0; i < 10; i++) {
                ald_memory_collector_sample(collector, &memory);
                g_assert_cmpuint(memory.total_bytes, ==, ABSENT);
                g_assert_true(isnan(memory.pressure_full10));
        }
        g_assert_cmpuint(log_count("/proc/meminfo"), ==, 1);
        g_assert_cmpuint(log_count("/proc/pressure/memory"), ==, 1);

        /* It comes, and is seen. */
        fake_root_write(root, MEMINFO, good_meminfo);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 16384000 * KIB);
}

static void test_broken_costs_one_line(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        AldMemory memory;

        log_count_reset();
        fake_root_write_all(root, MEMINFO, "MemTotal: 16384000 kB\nMemAv", PSI, "nonsense\n", NULL);
        for (int i = 0; i < 10; i++) {
                ald_memory_collector_sample(collector, &memory);
                g_assert_cmpuint(memory.total_bytes, ==, 16384000 * KIB);
                g_assert_cmpuint(memory.available_bytes, ==, ABSENT);
        }
        g_assert_cmpuint(log_count("/proc/meminfo"), ==, 1);
        g_assert_cmpuint(log_count("/proc/pressure/memory"), ==, 1);
}

static void test_not_a_file(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        g_autofree char *fifo = g_build_filename(root->dir, "proc/pressure/memory", NULL);
        AldMemory memory;

        fake_root_mkdir(root, MEMINFO);
        fake_root_mkdir(root, "proc/pressure");
        g_assert_cmpint(mkfifo(fifo, 0644), ==, 0);
        log_count_reset();
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, ABSENT);
        g_assert_true(isnan(memory.pressure_some10));
        g_assert_cmpuint(log_count("/proc/"), ==, 2);
}

/* Far more than any kernel tells: the first part counts, and no more is read. */
static void test_huge(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        g_autoptr(GString) text = g_string_new(good_meminfo);
        AldMemory memory;

        for (int i = 0; i < 100000; i++)
                g_string_append(text, "MemAvailable: 1 kB\n");
        fake_root_write(root, MEMINFO, text->str);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 16384000 * KIB);
}

static void test_embedded_nul(void)
{
        static const char bytes[] = "MemTotal: 8 kB\n\0MemAvailable: 4 kB\n";
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        AldMemory memory;

        fake_root_write_bytes(root, MEMINFO, bytes, sizeof bytes - 1);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 8 * KIB);
        g_assert_cmpuint(memory.available_bytes, ==, ABSENT);
}

/* The kernel of this machine, whatever it is. */
static void test_real(void)
{
        g_autoptr(AldMemoryCollector) collector = NULL;
        AldMemory memory;
        int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        collector = ald_memory_collector_new(root);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, <, ABSENT);
        g_assert_cmpuint(memory.available_bytes, <=, memory.total_bytes);
        g_assert_cmpuint(memory.swap_available_bytes, <=, memory.swap_total_bytes);
        close(root);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/memory/meminfo-table", test_meminfo_table);
        g_test_add_func("/memory/psi-table", test_psi_table);
        g_test_add_func("/memory/follows-the-files", test_follows_the_files);
        g_test_add_func("/memory/nothing-there", test_nothing_there);
        g_test_add_func("/memory/broken-costs-one-line", test_broken_costs_one_line);
        g_test_add_func("/memory/not-a-file", test_not_a_file);
        g_test_add_func("/memory/huge", test_huge);
        g_test_add_func("/memory/embedded-nul", test_embedded_nul);
        g_test_add_func("/memory/real", test_real);
        return g_test_run();
}
