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

/* The linker puts it in the place of GLib's clock. */
gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);

static gint64 clock_offset;

gint64 __wrap_g_get_monotonic_time(void)
{
        return __real_g_get_monotonic_time() + clock_offset;
}

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

/* What a collector made of a root reports. */
static AldMemory sample_once(FakeRoot *root)
{
        g_autoptr(AldMemoryCollector) collector = ald_memory_collector_new(root->fd);
        AldMemory memory;

        ald_memory_collector_sample(collector, &memory);
        return memory;
}

/* A machine of 16,000,000 KiB, half of them available; groups with limits of the given files. */
static void test_limits_table(void)
{
        static const struct {
                const char *name;
                uint64_t total, available;
                const char *files[16];
        } cases[] = {
                { "whole machine with a unit, a slice and a group of its own", 16000000 * KIB, 8000000 * KIB,
                        { "proc/1/cgroup", "0::/init.scope\n", "sys/fs/cgroup/memory.max", "1024\n",
                                "sys/fs/cgroup/memory.current", "512\n",
                                "sys/fs/cgroup/system.slice/memory.max", "1024\n" } },
                { "namespace, version 2", 4096000, 4096000 - 3000 + 1000,
                        { ".dockerenv", "", "sys/fs/cgroup/memory.max", "4096000\n",
                                "sys/fs/cgroup/memory.current", "3000\n", "sys/fs/cgroup/memory.stat",
                                "anon 2000\ninactive_file 1000\nactive_file 5\n" } },
                { "no limit", 16000000 * KIB, 8000000 * KIB,
                        { "run/systemd/container", "lxc\n", "sys/fs/cgroup/memory.max", "max\n",
                                "sys/fs/cgroup/memory.current", "3000\n" } },
                { "slowed down from a smaller size", 2048000, 2045000,
                        { ".dockerenv", "", "sys/fs/cgroup/memory.max", "4096000\n",
                                "sys/fs/cgroup/memory.high", "2048000\n", "sys/fs/cgroup/memory.current",
                                "3000\n" } },
                { "more in use than the limit", 4096000, 0,
                        { ".dockerenv", "", "sys/fs/cgroup/memory.max", "4096000\n",
                                "sys/fs/cgroup/memory.current", "5000000\n" } },
                { "unknown use", 4096000, ABSENT,
                        { ".dockerenv", "", "sys/fs/cgroup/memory.max", "4096000\n" } },
                { "version 1", 4096000, 4096000 - 3000 + 1000,
                        { "proc/1/environ", "PATH=/bin", "run/.containerenv", "",
                                "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n",
                                "sys/fs/cgroup/memory/memory.usage_in_bytes", "3000\n",
                                "sys/fs/cgroup/memory/memory.stat",
                                "inactive_file 7\ntotal_inactive_file 1000\n" } },
                { "version 1 without a limit", 16000000 * KIB, 8000000 * KIB,
                        { ".dockerenv", "", "sys/fs/cgroup/memory/memory.limit_in_bytes",
                                "9223372036854771712\n" } },
                { "version 1, a limit that is not visible", 4096000, 4000000,
                        { ".dockerenv", "", "sys/fs/cgroup/memory/memory.limit_in_bytes",
                                "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes",
                                "96000\n", "sys/fs/cgroup/memory/memory.stat",
                                "cache 1\nhierarchical_memory_limit 4096000\n" } },
                { "a pod, version 2", 4096000, 4000000,
                        { "proc/1/cgroup", "0::/\n", "sys/fs/cgroup/cgroup.type", "domain\n",
                                "sys/fs/cgroup/memory.max", "4096000\n", "sys/fs/cgroup/memory.current",
                                "96000\n" } },
                { "a pod, version 1", 4096000, 4000000,
                        { "proc/1/cgroup", "4:memory:/kubepods/burstable/pod1/ab\n",
                                "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n",
                                "sys/fs/cgroup/memory/memory.usage_in_bytes", "96000\n" } },
                { "whole machine, version 1", 16000000 * KIB, 8000000 * KIB,
                        { "proc/1/cgroup", "4:memory:/init.scope\n",
                                "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n",
                                "sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", "4096\n" } },
                { "groups of the host, version 1", 4096000, 4000000,
                        { ".dockerenv", "", "proc/1/cgroup", "7:cpu:/\n4:hugetlb,memory:/docker/ab\n",
                                "sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "4096000\n",
                                "sys/fs/cgroup/memory/docker/ab/memory.usage_in_bytes", "96000\n" } },
                { "groups of the host, version 2, a limit of the pod", 4096000, 4000000,
                        { ".dockerenv", "", "proc/1/cgroup", "0::/pod/ab\n", "sys/fs/cgroup/pod/memory.max",
                                "4096000\n", "sys/fs/cgroup/pod/memory.current", "96000\n",
                                "sys/fs/cgroup/pod/ab/memory.max", "max\n" } },
                { "lxcfs has counted it", 16000000 * KIB, 8000000 * KIB,
                        { "run/systemd/container", "lxc\n", "sys/fs/cgroup/memory.max", "16384000000\n",
                                "sys/fs/cgroup/memory.current", "16000000000\n" } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                AldMemory memory;

                g_test_message("%s", cases[i].name);
                fake_root_write(root, MEMINFO, "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n");
                for (size_t j = 0; j < G_N_ELEMENTS(cases[i].files) && cases[i].files[j]; j += 2)
                        fake_root_write(root, cases[i].files[j], cases[i].files[j + 1]);
                memory = sample_once(root);
                g_assert_cmpuint(memory.total_bytes, ==, cases[i].total);
                g_assert_cmpuint(memory.available_bytes, ==, cases[i].available);
        }
}

/* Some containers show only that their control groups are not those of the machine. */
static void test_limit_of_a_namespace(void)
{
        static const struct {
                const char *namespace;
                uint64_t total;
        } cases[] = { { "cgroup:[4026532861]", 4096000 }, { "cgroup:[4026531835]", 16000000 * KIB } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();

                fake_root_write_all(root, MEMINFO, "MemTotal: 16000000 kB\n",
                        "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n", NULL);
                fake_root_link(root, "proc/self/ns/cgroup", cases[i].namespace);
                g_assert_cmpuint(sample_once(root).total_bytes, ==, cases[i].total);
        }
}

static void test_broken_limit(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = NULL;
        AldMemory memory;

        fake_root_write_all(root, MEMINFO, "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n", ".dockerenv",
                "", "sys/fs/cgroup/memory.high", "4 GiB\n", "sys/fs/cgroup/memory.current", "96000\n", NULL);
        fake_root_link(root, "sys/fs/cgroup/memory.max", "memory.max");
        log_count_reset();
        collector = ald_memory_collector_new(root->fd);
        for (int i = 0; i < 10; i++) {
                ald_memory_collector_sample(collector, &memory);
                g_assert_cmpuint(memory.total_bytes, ==, 16000000 * KIB);
                g_assert_cmpuint(memory.available_bytes, ==, 8000000 * KIB);
        }
        g_assert_cmpuint(log_count("memory.max"), ==, 1);
        g_assert_cmpuint(log_count("/sys/"), ==, 1);
        fake_root_remove(root, "sys/fs/cgroup/memory.max");
        fake_root_write(root, "sys/fs/cgroup/memory.max", "4096000\n");
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 4096000);
}

/* A group without a limit is left alone for some seconds; one with a limit is read with each sample. */
static void test_limits_are_not_always_read(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = NULL;
        AldMemory memory;

        fake_root_write_all(root, MEMINFO, "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n", ".dockerenv",
                "", "proc/1/cgroup", "0::/pod\n", "sys/fs/cgroup/memory.max", "max\n",
                "sys/fs/cgroup/pod/memory.max", "4096000\n", "sys/fs/cgroup/pod/memory.current", "96000\n",
                NULL);
        collector = ald_memory_collector_new(root->fd);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 4096000);
        g_assert_cmpuint(memory.available_bytes, ==, 4000000);
        fake_root_write_all(root, "sys/fs/cgroup/memory.max", "1024\n", "sys/fs/cgroup/pod/memory.max",
                "2048000\n", "sys/fs/cgroup/pod/memory.current", "48000\n", NULL);
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 2048000);
        g_assert_cmpuint(memory.available_bytes, ==, 2000000);
        clock_offset += 10 * G_USEC_PER_SEC;
        ald_memory_collector_sample(collector, &memory);
        g_assert_cmpuint(memory.total_bytes, ==, 1024);
}

#define ARCSTATS_HEAD "13 1 0x01 123 33456 5112315670 97695212546990\nname type data\n"

static void test_zfs_table(void)
{
        static const struct {
                const char *text;
                uint64_t available; /* of 1000 KiB, of which 200 are available as the kernel counts */
        } cases[] = {
                { ARCSTATS_HEAD "c_min                           4    102400\nsize    4    512000\n",
                        600 * KIB },
                { ARCSTATS_HEAD "size 4 512000\nc_min 4 102400\nanon_size 4 3\nsize_x 4 3\n", 600 * KIB },
                /* Nothing gives way. */
                { ARCSTATS_HEAD "size 4 102400\nc_min 4 102400\n", 200 * KIB },
                { ARCSTATS_HEAD "size 4 1024\nc_min 4 102400\n", 200 * KIB },
                /* The cache of another machine. */
                { ARCSTATS_HEAD "size 4 819201\nc_min 4 102400\n", 200 * KIB },
                { ARCSTATS_HEAD "size 4 99999999999999999999\nc_min 4 0\n", 200 * KIB },
                /* Parts of it. */
                { ARCSTATS_HEAD "size 4 512000\n", 200 * KIB },
                { ARCSTATS_HEAD "c_min 4 512000\n", 200 * KIB },
                { ARCSTATS_HEAD "size 4 \nc_min 4 x\n", 200 * KIB },
                { ARCSTATS_HEAD "size\nc_min", 200 * KIB },
                { "", 200 * KIB },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldMemory memory = ALD_MEMORY_INIT;

                g_test_message("case %zu", i);
                memory.total_bytes = 1000 * KIB;
                memory.available_bytes = 200 * KIB;
                ald_arcstats_parse(cases[i].text, &memory);
                g_assert_cmpuint(memory.available_bytes, ==, cases[i].available);
        }
}

/* Within a container, only a file that lxcfs has not replaced goes with the statistics of ZFS. */
static void test_zfs_in_containers(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_write_all(root, MEMINFO, "MemTotal: 1000 kB\nMemAvailable: 200 kB\n",
                "proc/spl/kstat/zfs/arcstats", ARCSTATS_HEAD "size 4 512000\nc_min 4 102400\n", NULL);
        g_assert_cmpuint(sample_once(root).available_bytes, ==, 600 * KIB);
        fake_root_write(root, "proc/self/mountinfo",
                "1206 1149 0:61 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n");
        g_assert_cmpuint(sample_once(root).available_bytes, ==, 200 * KIB);
}

#define NODES "sys/devices/system/node/"
#define GPU_STATUS "proc/driver/nvidia/gpus/0009:01:00.0/numa_status"

/* A host of 1000 KiB, of which one node of 400 without processors may be the memory of the GPU. */
static AldMemory sample_with_gpu(
        const char *cpuinfo, const char *status, uint64_t gpu_bytes, const char *driver)
{
        AldBackend backend = ALD_BACKEND_INIT;
        AldRows rows = { .type = &ald_backend_struct, .items = &backend, .n = 1 };
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldMemoryCollector) collector = NULL;
        AldMemory memory;

        fake_root_write_all(root, MEMINFO, "MemTotal: 1000 kB\nMemAvailable: 900 kB\n", "proc/cpuinfo",
                cpuinfo, NODES "node0/cpulist", "0-71\n", NODES "node0/meminfo",
                "Node 0 MemTotal: 400 kB\nNode 0 MemFree: 300 kB\n", NODES "node1/cpulist", "\n",
                NODES "node1/meminfo",
                "Node 1 MemTotal: 400 kB\nNode 1 MemFree: 300 kB\nNode 1 Inactive(file): 50 kB\n",
                NODES "node2/cpulist", "\n", NULL);
        if (status)
                fake_root_write(root, GPU_STATUS, status);
        backend.driver = driver;
        backend.memory_total_bytes = gpu_bytes;
        collector = ald_memory_collector_new(root->fd);
        ald_memory_collector_use_backends(collector, &rows);
        ald_memory_collector_sample(collector, &memory);
        return memory;
}

static void test_memory_of_gpus(void)
{
        static const char arm[] = "processor\t: 0\nCPU implementer\t: 0x41\n\n";
        static const char x86[] = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2\n\n";
        static const struct {
                const char *cpuinfo, *status, *driver;
                uint64_t gpu_bytes;
                bool counted_twice;
        } cases[] = {
                { arm, NULL, "nvidia", 404 * KIB, true },
                { arm, "Node:    1\nStatus:    online\n", "nvidia", 404 * KIB, true },
                { x86, "Node: 1\nStatus: online\n", "nvidia", 404 * KIB, true },
                /* The driver says that the kernel does not have it. */
                { arm, "Node: -1\nStatus: offline\n", "nvidia", 404 * KIB, false },
                /* The node is memory of the host. */
                { x86, NULL, "nvidia", 404 * KIB, false },
                { arm, NULL, "nvidia", 200 * KIB, false },
                { arm, NULL, "nvidia", 800 * KIB, false },
                { arm, NULL, "nvidia", ABSENT, false },
                { arm, NULL, "amdgpu", 404 * KIB, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldMemory memory = sample_with_gpu(
                        cases[i].cpuinfo, cases[i].status, cases[i].gpu_bytes, cases[i].driver);

                g_test_message("case %zu", i);
                g_assert_cmpuint(memory.total_bytes, ==, (cases[i].counted_twice ? 600 : 1000) * KIB);
                g_assert_cmpuint(memory.available_bytes, ==, (cases[i].counted_twice ? 550 : 900) * KIB);
        }
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
        g_test_add_func("/memory/limits-table", test_limits_table);
        g_test_add_func("/memory/limit-of-a-namespace", test_limit_of_a_namespace);
        g_test_add_func("/memory/broken-limit", test_broken_limit);
        g_test_add_func("/memory/limits-are-not-always-read", test_limits_are_not_always_read);
        g_test_add_func("/memory/zfs-table", test_zfs_table);
        g_test_add_func("/memory/zfs-in-containers", test_zfs_in_containers);
        g_test_add_func("/memory/memory-of-gpus", test_memory_of_gpus);
        g_test_add_func("/memory/real", test_real);
        return g_test_run();
}
