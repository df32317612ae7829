/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record.h"
#include "services/telemetry/host/cpu-set.h"
#include "services/telemetry/host/processor.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_UINT64
#define CPUS "sys/devices/system/cpu"
#define NODES "sys/devices/system/node"

typedef struct Machine {
        FakeRoot *root;
        AldProcessorCollector *collector;
        unsigned n_changes;
        AldProcessor now;
} Machine;

static void on_changed(void *userdata)
{
        Machine *machine = userdata;

        machine->n_changes++;
        ald_processor_collector_fill(machine->collector, &machine->now);
}

static Machine machine_new(void)
{
        log_count_reset();
        return (Machine){ .root = fake_root_new() };
}

static void look(Machine *machine)
{
        if (!machine->collector)
                machine->collector = ald_processor_collector_new(machine->root->fd, on_changed, machine);
        else
                ald_processor_collector_refresh(machine->collector);
        ald_processor_collector_fill(machine->collector, &machine->now);
}

static void machine_clear(Machine *machine)
{
        ald_processor_collector_free(machine->collector);
        fake_root_free(machine->root);
}

static void write_topology(Machine *machine, unsigned cpu, const char *file, const char *content)
{
        g_autofree char *path = g_strdup_printf(CPUS "/cpu%u/topology/%s", cpu, file);

        fake_root_write(machine->root, path, content);
}

static void write_cache(Machine *machine, unsigned cpu, unsigned index, const char *level, const char *type,
        const char *size, const char *shared)
{
        const char *const files[][2] = { { "level", level }, { "type", type }, { "size", size },
                { "shared_cpu_list", shared } };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *path = g_strdup_printf(
                        CPUS "/cpu%u/cache/index%u/%s", cpu, index, files[i][0]);

                fake_root_write(machine->root, path, files[i][1]);
        }
}

/* A core with its package and an L1d cache. */
static void add_cpu(Machine *machine, unsigned cpu, const char *core, const char *package)
{
        write_topology(machine, cpu, "core_cpus_list", core);
        write_topology(machine, cpu, "package_cpus_list", package);
        write_cache(machine, cpu, 0, "1\n", "Data\n", "48K\n", core);
}

static Machine two_cores(void)
{
        Machine machine = machine_new();

        fake_root_write_all(machine.root, CPUS "/online", "0-3\n", CPUS "/present", "0-3\n", "proc/cpuinfo",
                "model name\t: Two\nflags\t\t: fpu avx avx2\n", NODES "/node0/cpulist", "0-3\n",
                NODES "/node0/meminfo", "Node 0 MemTotal:  1024 kB\n", NULL);
        for (unsigned cpu = 0; cpu < 4; cpu++)
                add_cpu(&machine, cpu, cpu < 2 ? "0-1\n" : "2-3\n", "0-3\n");
        return machine;
}

static void assert_counts(
        const Machine *machine, uint64_t sockets, uint64_t cores, uint64_t threads, uint64_t per_core)
{
        g_assert_cmpuint(machine->now.sockets, ==, sockets);
        g_assert_cmpuint(machine->now.cores, ==, cores);
        g_assert_cmpuint(machine->now.threads, ==, threads);
        g_assert_cmpuint(machine->now.threads_per_core, ==, per_core);
}

static void test_sets(void)
{
        static const struct {
                const char *text;
                int r;
                unsigned count, last;
        } cases[] = {
                { "0\n", 0, 1, 0 },
                { "0-3\n", 0, 4, 3 },
                { "0,2,4-6", 0, 5, 6 },
                { "63-64\n", 0, 2, 64 },
                { "0-8191\n", 0, 8192, 8191 },
                { "1-1,1\n", 0, 1, 1 },
                { "\n", 0, 0, 0 },
                { "", 0, 0, 0 },
                { "8192\n", -ERANGE, 0, 0 },
                { "0-99999999999999999999\n", -ERANGE, 0, 0 },
                { "3-0\n", -EBADMSG, 0, 0 },
                { "0-\n", -EBADMSG, 0, 0 },
                { "-1\n", -EBADMSG, 0, 0 },
                { "0,\n", -EBADMSG, 0, 0 },
                { ",0\n", -EBADMSG, 0, 0 },
                { "0 1\n", -EBADMSG, 0, 0 },
                { "0x3\n", -EBADMSG, 0, 0 },
                { "0\n1\n", -EBADMSG, 0, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldCpuSet set = {};

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(ald_cpu_set_parse(cases[i].text, &set), ==, cases[i].r);
                g_assert_cmpuint(ald_cpu_set_count(&set), ==, cases[i].count);
                g_assert_true(cases[i].count == 0 || ald_cpu_set_has(&set, cases[i].last));
                g_assert_false(ald_cpu_set_has(&set, cases[i].last + 1));
                g_assert_false(ald_cpu_set_has(&set, UINT32_MAX));
        }
}

/* One that goes offline takes its folders with it. */
static void test_offline(void)
{
        Machine machine = two_cores();

        look(&machine);
        assert_counts(&machine, 1, 2, 4, 2);
        g_assert_cmpuint(machine.now.offline_threads, ==, 0);
        fake_root_write(machine.root, CPUS "/online", "0-1,3\n");
        fake_root_remove(machine.root, CPUS "/cpu2/topology");
        fake_root_remove(machine.root, CPUS "/cpu2/cache");
        add_cpu(&machine, 3, "3\n", "0-1,3\n");
        add_cpu(&machine, 0, "0-1\n", "0-1,3\n");
        look(&machine);
        assert_counts(&machine, 1, 2, 3, 2);
        g_assert_cmpuint(machine.now.offline_threads, ==, 1);
        g_assert_cmpuint(log_count(""), ==, 0);
        machine_clear(&machine);
}

/* 2048 of them in 1024 cores and 8 packages, with an L3 for each of these. */
static void test_thousands(void)
{
        Machine machine = machine_new();
        const AldProcessorCache *cache;

        fake_root_write_all(machine.root, CPUS "/online", "0-2047\n", CPUS "/present", "0-2047\n", NULL);
        for (unsigned cpu = 0; cpu < 2048; cpu++) {
                unsigned package = cpu / 256 * 256;
                g_autofree char *core = g_strdup_printf("%u-%u\n", cpu & ~1u, cpu | 1u);
                g_autofree char *all = g_strdup_printf("%u-%u\n", package, package + 255);

                add_cpu(&machine, cpu, core, all);
                write_cache(&machine, cpu, 1, "3\n", "Unified\n", "1048576K\n", all);
        }
        look(&machine);
        assert_counts(&machine, 8, 1024, 2048, 2);
        g_assert_cmpuint(machine.now.caches.n, ==, 2);
        cache = ald_rows_at(&machine.now.caches, 1);
        g_assert_cmpstr(cache->id, ==, "L3");
        g_assert_cmpuint(cache->instances, ==, 8);
        g_assert_cmpuint(cache->size_bytes, ==, UINT64_C(1) << 30);
        g_assert_cmpuint(log_count(""), ==, 0);
        machine_clear(&machine);
}

/* A broken file costs its own field or row, and one line of the log, however many processors have it. */
static void test_broken_topology(void)
{
        Machine machine = two_cores();

        for (unsigned cpu = 0; cpu < 4; cpu++)
                write_topology(&machine, cpu, "core_cpus_list", "zero\n");
        fake_root_write(machine.root, CPUS "/present", "0-99999\n");
        look(&machine);
        look(&machine);
        assert_counts(&machine, 1, ABSENT, 4, ABSENT);
        g_assert_cmpuint(machine.now.offline_threads, ==, ABSENT);
        g_assert_cmpuint(machine.now.caches.n, ==, 1);
        g_assert_cmpuint(log_count("core_cpus_list"), ==, 1);
        g_assert_cmpuint(log_count("cpu/present"), ==, 1);
        g_assert_cmpuint(log_count(""), ==, 2);
        machine_clear(&machine);
}

/* Nor is a core counted that its own processor is not part of. */
static void test_core_without_its_processor(void)
{
        Machine machine = two_cores();

        add_cpu(&machine, 2, "0-1\n", "0-3\n");
        look(&machine);
        assert_counts(&machine, 1, ABSENT, 4, ABSENT);
        g_assert_cmpuint(log_count("topology/core_cpus_list"), ==, 1);
        machine_clear(&machine);
}

static void test_broken_caches(void)
{
        Machine machine = two_cores();
        const AldProcessorCache *cache;

        write_cache(&machine, 0, 0, "1\n", "Data\n", "large\n", "0-1\n");
        write_cache(&machine, 0, 1, "2\n", "Liquid\n", "512K\n", "0-1\n");
        write_cache(&machine, 0, 2, "3\n", "Unified\n", "2048K\n", "0-3\n");
        write_cache(&machine, 2, 1, "-2\n", "Unified\n", "512K\n", "2-3\n");
        look(&machine);
        look(&machine);
        g_assert_cmpuint(machine.now.caches.n, ==, 3);
        cache = ald_rows_at(&machine.now.caches, 0);
        g_assert_cmpstr(cache->id, ==, "L1d");
        g_assert_cmpuint(cache->size_bytes, ==, ABSENT);
        g_assert_cmpuint(cache->instances, ==, 1);
        cache = ald_rows_at(&machine.now.caches, 1);
        g_assert_cmpstr(cache->id, ==, "L3");
        cache = ald_rows_at(&machine.now.caches, 2);
        g_assert_cmpstr(cache->id, ==, "L1d,48K");
        g_assert_cmpuint(log_count("/size"), ==, 1);
        g_assert_cmpuint(log_count("/type"), ==, 1);
        g_assert_cmpuint(log_count("/level"), ==, 1);
        g_assert_cmpuint(log_count(""), ==, 3);
        machine_clear(&machine);
}

static void test_broken_clocks(void)
{
        Machine machine = two_cores();

        fake_root_write_all(machine.root, CPUS "/cpufreq/policy0/cpuinfo_max_freq", "0\n",
                CPUS "/cpufreq/policy0/base_frequency", "fast\n", CPUS "/cpufreq/policy0/scaling_governor",
                "powersave\n", CPUS "/cpufreq/policy2/cpuinfo_max_freq", "99999999999999\n",
                CPUS "/cpufreq/policy2/scaling_governor", "performance\n", CPUS "/cpufreq/boost", "1\n",
                CPUS "/cpufreq/policyX/scaling_governor", "none\n", NULL);
        look(&machine);
        g_assert_cmpuint(machine.now.max_clock_hz, ==, ABSENT);
        g_assert_cmpuint(machine.now.base_clock_hz, ==, ABSENT);
        g_assert_null(machine.now.frequency_driver);
        g_assert_cmpuint(g_strv_length((char **) machine.now.governors), ==, 2);
        g_assert_cmpstr(machine.now.governors[0], ==, "performance");
        g_assert_cmpuint(log_count("base_frequency"), ==, 1);
        machine_clear(&machine);
}

static void test_nodes(void)
{
        Machine machine = two_cores();
        const AldNumaNode *node;

        fake_root_write_all(machine.root, NODES "/node1/cpulist", "2-\n", NODES "/node1/meminfo",
                "Node 1 MemFree: 5 kB\n", NODES "/node2/cpulist", "\n", NODES "/node2/meminfo",
                "Node 2 MemTotal: 0 kB\n", NODES "/online", "0-2\n", NODES "/nodes", "", NULL);
        look(&machine);
        g_assert_cmpuint(machine.now.numa_nodes.n, ==, 3);
        node = ald_rows_at(&machine.now.numa_nodes, 0);
        g_assert_cmpstr(node->processors, ==, "0-3");
        g_assert_cmpuint(node->memory_bytes, ==, 1024 * 1024);
        node = ald_rows_at(&machine.now.numa_nodes, 1);
        g_assert_cmpstr(node->id, ==, "1");
        g_assert_null(node->processors);
        g_assert_cmpuint(node->memory_bytes, ==, ABSENT);
        node = ald_rows_at(&machine.now.numa_nodes, 2);
        g_assert_null(node->processors);
        g_assert_cmpuint(node->memory_bytes, ==, 0);
        g_assert_cmpuint(log_count("node1/cpulist"), ==, 1);
        machine_clear(&machine);
}

/* What nothing shows is unknown, and nothing to complain about. */
static void test_empty(void)
{
        Machine machine = machine_new();

        look(&machine);
        assert_counts(&machine, ABSENT, ABSENT, ABSENT, ABSENT);
        g_assert_null(machine.now.model);
        g_assert_null(machine.now.instruction_sets);
        g_assert_cmpuint(machine.now.caches.n, ==, 0);
        g_assert_cmpuint(machine.now.numa_nodes.n, ==, 0);
        g_assert_cmpuint(log_count(""), ==, 0);
        machine_clear(&machine);
}

/* A tool that sets the governor of each processor causes one report. */
static void test_governor_is_set(void)
{
        Machine machine = two_cores();

        fake_root_write_all(machine.root, CPUS "/cpufreq/policy0/scaling_governor", "powersave\n",
                CPUS "/cpufreq/policy2/scaling_governor", "powersave\n", NULL);
        look(&machine);
        g_assert_cmpuint(g_strv_length((char **) machine.now.governors), ==, 1);
        fake_root_write_all(machine.root, CPUS "/cpufreq/policy0/scaling_governor", "performance\n",
                CPUS "/cpufreq/policy2/scaling_governor", "performance\n", NULL);
        while (machine.n_changes == 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(machine.n_changes, ==, 1);
        g_assert_cmpuint(g_strv_length((char **) machine.now.governors), ==, 1);
        g_assert_cmpstr(machine.now.governors[0], ==, "performance");
        machine_clear(&machine);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/processor/sets", test_sets);
        g_test_add_func("/processor/offline", test_offline);
        g_test_add_func("/processor/thousands", test_thousands);
        g_test_add_func("/processor/broken-topology", test_broken_topology);
        g_test_add_func("/processor/core-without-its-processor", test_core_without_its_processor);
        g_test_add_func("/processor/broken-caches", test_broken_caches);
        g_test_add_func("/processor/broken-clocks", test_broken_clocks);
        g_test_add_func("/processor/nodes", test_nodes);
        g_test_add_func("/processor/empty", test_empty);
        g_test_add_func("/processor/governor-is-set", test_governor_is_set);
        return g_test_run();
}
