/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole machines: sysfs, NVML and OpenCL together. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"
#include "services/telemetry/gpu/gpu-private.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define SEC INT64_C(1000000)
#define GIB (UINT64_C(1024) * 1024 * 1024)
#define FIRST "0000:01:00.0"
#define SECOND "0000:02:00.0"
#define FIRST_ON_BUS "01:00.0"
#define SECOND_ON_BUS "02:00.0"

static const AldChildTiming patient = { .first = 20000, .answer = 20000, .retry = 1, .retry_max = 4 };
static const AldChildTiming hasty_later = { .first = 20000, .answer = 50, .retry = 1, .retry_max = 4 };

typedef struct Machine {
        FakeRoot *root;
        FakeRoot *aside; /* files that are not the machine's */
        AldGpuCollector *collector;
        unsigned n_changed;
        int64_t now; /* of the next sample */
        GArray *devices;
        const char *id;      /* what a condition is about */
        const char *address; /* likewise, as NVML writes it, and how often it was read before */
        unsigned n_reads;
        GString *text;
} Machine;

static void on_changed(void *userdata)
{
        ((Machine *) userdata)->n_changed++;
}

static void set_path(Machine *machine, const char *variable, const char *name)
{
        g_autofree char *path = g_build_filename(machine->aside->dir, name, NULL);

        g_setenv(variable, path, TRUE);
}

static Machine *begin(const char *nvml_mode)
{
        Machine *machine = g_new0(Machine, 1);
        g_autofree char *nvml = g_strdup_printf("%s/libfake-nvml.so", g_getenv("ALIDADE_TEST_HELPERS"));
        g_autofree char *icd = g_strdup_printf("%s/libfake-icd.so\n", g_getenv("ALIDADE_TEST_HELPERS"));

        log_count_reset();
        machine->root = fake_root_new();
        machine->aside = fake_root_new();
        machine->devices = g_array_new(FALSE, FALSE, sizeof(AldDevice));
        machine->text = g_string_new(NULL);
        machine->now = g_get_monotonic_time();
        fake_root_write(machine->aside, "while", "");
        fake_root_write(machine->aside, "log", "");
        fake_root_write(machine->aside, "vendors/fake.icd", icd);
        fake_root_mkdir(machine->aside, "no-vendors");
        fake_root_mkdir(machine->aside, "run");
        g_setenv("ALIDADE_NVML_LIBRARY", nvml, TRUE);
        g_setenv("FAKE_NVML", nvml_mode, TRUE);
        g_setenv("FAKE_ICD", "plain", TRUE);
        g_unsetenv("ALIDADE_LIBEXEC_DIR");
        set_path(machine, "FAKE_NVML_WHILE", "while");
        set_path(machine, "FAKE_NVML_LOG", "log");
        set_path(machine, "OCL_ICD_VENDORS", "no-vendors");
        set_path(machine, "RUNTIME_DIRECTORY", "run");
        return machine;
}

static void start(Machine *machine, const AldChildTiming *timing)
{
        machine->collector = ald_gpu_collector_new_with_timing(
                machine->root->fd, g_getenv("ALIDADE_TEST_LIBEXEC"), timing, on_changed, machine);
}

static void end(Machine *machine)
{
        ald_gpu_collector_free(machine->collector);
        fake_root_free(machine->root);
        fake_root_free(machine->aside);
        g_array_unref(machine->devices);
        g_string_free(machine->text, TRUE);
        g_free(machine);
}

static void sample(Machine *machine)
{
        g_array_set_size(machine->devices, 0);
        ald_gpu_collector_sample_at(machine->collector, machine->now, machine->devices);
}

/* Of the last sample. */
static const AldDevice *device(const Machine *machine, const char *id)
{
        for (guint i = 0; i < machine->devices->len; i++) {
                const AldDevice *row = &g_array_index(machine->devices, AldDevice, i);

                if (g_str_equal(row->id, id))
                        return row;
        }
        g_assert_not_reached();
}

static const AldBackend *backend(const Machine *machine, const char *id)
{
        AldBackends backends;

        ald_gpu_collector_backends(machine->collector, &backends);
        return ald_rows_find(&backends.devices, id);
}

static const AldDeviceJoin *join(const Machine *machine, const char *id)
{
        AldBackends backends;

        ald_gpu_collector_backends(machine->collector, &backends);
        return ald_rows_find(&backends.joins, id);
}

static size_t n_backends(const Machine *machine)
{
        AldBackends backends;

        ald_gpu_collector_backends(machine->collector, &backends);
        return backends.devices.n;
}

static bool has_figures(void *userdata)
{
        Machine *machine = userdata;

        sample(machine);
        return device(machine, machine->id)->clock_hz != ALD_ABSENT_UINT64;
}

static bool has_no_figures(void *userdata)
{
        return !has_figures(userdata);
}

static bool is_nvml_over(void *userdata)
{
        return !ald_gpu_collector_has_nvml_running(((Machine *) userdata)->collector);
}

static bool has_opencl(void *userdata)
{
        Machine *machine = userdata;
        const AldBackend *row;

        sample(machine);
        row = backend(machine, machine->id);
        return row && row->open_cl_platform;
}

static char *read_log(Machine *machine)
{
        g_autofree char *path = g_build_filename(machine->aside->dir, "log", NULL);
        char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        return text;
}

static void test_dual_nvidia(void)
{
        Machine *machine = begin("");
        g_autoptr(AldRecord) record = NULL;
        AldBackends backends;

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        g_assert_cmpuint(n_backends(machine), ==, 3);
        g_assert_cmpstr(backend(machine, "cpu")->name, ==, "AMD Ryzen 9 7950X 16-Core Processor");
        g_assert_cmpstr(backend(machine, "cpu")->class, ==, "cpu");
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, ALD_ABSENT_UINT64);

        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        g_assert_cmpuint(machine->devices->len, ==, 2);
        g_assert_cmpfloat(device(machine, FIRST)->usage, ==, 61);
        g_assert_cmpstr(device(machine, FIRST)->power_state, ==, "active");
        g_assert_cmpuint(device(machine, SECOND)->memory_used_bytes, ==, GIB);
        g_assert_cmpuint(machine->n_changed, >=, 1);
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, 24 * GIB - GIB / 2);
        g_assert_cmpint(backend(machine, FIRST)->unified, ==, 0);
        g_assert_cmpstr(backend(machine, FIRST)->driver_version, ==, "550.54.14");

        ald_gpu_collector_backends(machine->collector, &backends);
        g_assert_cmpint(ald_record_new(ALD_KIND_BACKENDS, &backends, &record), ==, 0);
        g_assert_cmpuint(ald_record_as(record, BACKENDS, AldBackends)->devices.n, ==, 3);
        end(machine);
}

static unsigned count_reads(Machine *machine, const char *address)
{
        g_autofree char *log = read_log(machine);
        unsigned n = 0;

        for (const char *at = log; (at = strstr(at, address)); at++)
                n += at == log || at[-1] == '\n';
        return n;
}

static bool has_read_more(void *userdata)
{
        Machine *machine = userdata;

        sample(machine);
        return count_reads(machine, machine->address) > machine->n_reads;
}

/* A card that somebody holds is read with each sample, an idle one every 10 s, and its figures stay until
 * then. */
static void test_pace(void)
{
        Machine *machine = begin("");
        unsigned n_idle;

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        machine->now += SEC;
        sample(machine);
        n_idle = count_reads(machine, "00000000:" SECOND_ON_BUS);
        machine->address = "00000000:" FIRST_ON_BUS;
        for (int i = 0; i < 8; i++) {
                machine->n_reads = count_reads(machine, machine->address);
                machine->now += SEC;
                gpu_wait(has_read_more, machine);
                g_assert_cmpuint(device(machine, SECOND)->power_micro_watts, ==, 22000000);
        }
        g_assert_cmpuint(count_reads(machine, "00000000:" SECOND_ON_BUS), ==, n_idle);
        machine->address = "00000000:" SECOND_ON_BUS;
        machine->n_reads = n_idle;
        machine->now += 2 * SEC;
        gpu_wait(has_read_more, machine);

        /* Once it is asleep, what was known is not shown; it is read at once when it is awake. */
        gpu_root_power(machine->root, SECOND, "suspended\n", "auto\n");
        sample(machine);
        g_assert_cmpuint(device(machine, SECOND)->power_micro_watts, ==, ALD_ABSENT_UINT64);
        machine->n_reads = count_reads(machine, machine->address);
        gpu_root_power(machine->root, SECOND, "active\n", "on\n");
        gpu_wait(has_read_more, machine);
        end(machine);
}

/* A display server holds its card, too. */
static void test_pace_of_display(void)
{
        Machine *machine = begin("draws");

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        g_assert_cmpuint(device(machine, SECOND)->compute_processes, ==, 0);
        machine->address = "00000000:" SECOND_ON_BUS;
        for (int i = 0; i < 3; i++) {
                machine->n_reads = count_reads(machine, machine->address);
                machine->now += SEC;
                gpu_wait(has_read_more, machine);
        }
        end(machine);
}

static bool has_nvlink(void *userdata)
{
        sample(userdata);
        return join(userdata, FIRST "," SECOND ",nvlink") != NULL;
}

static bool has_asked_opencl(void *userdata)
{
        AldBackends backends;

        sample(userdata);
        ald_gpu_collector_backends(((Machine *) userdata)->collector, &backends);
        return backends.open_cl != NULL;
}

static bool has_rate(void *userdata)
{
        Machine *machine = userdata;
        unsigned n = machine->n_changed;

        machine->now += SEC;
        sample(machine);
        /* Never from within the call. */
        g_assert_cmpuint(machine->n_changed, ==, n);
        return join(machine, FIRST ",host,pcie")->transfers_per_second != ALD_ABSENT_UINT64;
}

static bool is_reported(void *userdata)
{
        return ((Machine *) userdata)->n_changed > 0;
}

/* Two linked cards below one switch, one of which works. */
static void test_joins(void)
{
        Machine *machine = begin("nvlink");
        unsigned n;

        gpu_root_way(machine->root, "pci0000:00/0000:00:01.0/0000:05:00.0/0000:06:00.0/" FIRST);
        gpu_root_way(machine->root, "pci0000:00/0000:00:01.0/0000:05:00.0/0000:06:01.0/" SECOND);
        gpu_root_link(machine->root, "0000:00:01.0", "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(machine->root, "0000:05:00.0", "16", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(machine->root, "0000:06:00.0", "16", "8.0 GT/s PCIe", NULL, "2.5 GT/s PCIe");
        gpu_root_link(machine->root, "0000:06:01.0", "16", "8.0 GT/s PCIe", NULL, "2.5 GT/s PCIe");
        gpu_root_link(machine->root, FIRST, "16", "16.0 GT/s PCIe", NULL, "2.5 GT/s PCIe");
        gpu_root_link(machine->root, SECOND, "16", "16.0 GT/s PCIe", NULL, "2.5 GT/s PCIe");
        gpu_root_dual_nvidia(machine->root);
        gpu_root_set(machine->root, FIRST, "numa_node", "1\n");
        gpu_root_set(machine->root, SECOND, "numa_node", "-1\n");
        start(machine, &patient);
        g_assert_cmpstr(join(machine, FIRST "," SECOND ",pcie")->through, ==, "switch");
        g_assert_null(join(machine, SECOND ",host,pcie"));
        g_assert_cmpuint(backend(machine, FIRST)->numa_node, ==, 1);
        g_assert_cmpuint(backend(machine, SECOND)->numa_node, ==, ALD_ABSENT_UINT64);

        gpu_wait(has_nvlink, machine);
        g_assert_cmpuint(join(machine, FIRST "," SECOND ",nvlink")->links, ==, 3);
        g_assert_cmpuint(join(machine, SECOND ",host,pcie")->lanes, ==, 16);
        g_assert_cmpstr(backend(machine, FIRST)->architecture, ==, "sm_89");
        g_assert_cmpstr(backend(machine, SECOND)->architecture, ==, "sm_86");
        machine->id = FIRST;
        gpu_wait(has_figures, machine);
        gpu_wait(has_asked_opencl, machine);

        machine->n_changed = 0;
        gpu_root_set(machine->root, FIRST, "current_link_speed", "8.0 GT/s PCIe\n");
        gpu_wait(has_rate, machine);
        gpu_wait(is_reported, machine);
        g_assert_cmpuint(join(machine, FIRST ",host,pcie")->transfers_per_second, ==, 8000000000);
        g_assert_cmpuint(join(machine, SECOND ",host,pcie")->transfers_per_second, ==, ALD_ABSENT_UINT64);

        /* Nothing of this changes while they work on. */
        n = machine->n_changed;
        for (int i = 0; i < 20; i++) {
                machine->now += SEC;
                gpu_wait(has_figures, machine);
        }
        g_assert_cmpuint(machine->n_changed, ==, n);

        /* A link to a card that is asleep is still there. */
        gpu_root_power(machine->root, SECOND, "suspended\n", "auto\n");
        sample(machine);
        gpu_wait(has_figures, machine);
        g_assert_nonnull(join(machine, FIRST "," SECOND ",nvlink"));
        g_assert_cmpuint(log_count("left out"), ==, 0);
        end(machine);
}

static void test_gb10(void)
{
        Machine *machine = begin("gb10");

        gpu_root_way(machine->root, "pci000f:00/000f:00:00.0/000f:01:00.0");
        gpu_root_link(machine->root, "000f:00:00.0", "1", "2.5 GT/s PCIe", NULL, NULL);
        gpu_root_link(machine->root, "000f:01:00.0", "1", "2.5 GT/s PCIe", NULL, NULL);
        gpu_root_gb10(machine->root);
        start(machine, &patient);
        machine->id = "000f:01:00.0";
        g_assert_null(join(machine, "000f:01:00.0,host,pcie"));
        gpu_wait(has_figures, machine);
        g_assert_cmpint(backend(machine, machine->id)->unified, ==, 1);
        g_assert_null(join(machine, "000f:01:00.0,host,pcie"));
        g_assert_cmpuint(backend(machine, machine->id)->memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(backend(machine, machine->id)->shared_bytes, ==, UINT64_C(125500000) * 1024);
        g_assert_cmpuint(device(machine, machine->id)->memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpfloat(device(machine, machine->id)->usage, ==, 12);
        g_assert_cmpstr(backend(machine, "cpu")->name, ==, "Cortex-A725");
        end(machine);
}

static bool has_three_instances(void *userdata)
{
        sample(userdata);
        return n_backends(userdata) == 2 + 1 + 3;
}

static bool has_two_instances(void *userdata)
{
        sample(userdata);
        return n_backends(userdata) == 2 + 1 + 2;
}

static bool has_no_instances(void *userdata)
{
        sample(userdata);
        return n_backends(userdata) == 2 + 1;
}

/* Instances come, go and outlive a look at the devices; their card stays what it is. */
static void test_mig(void)
{
        Machine *machine = begin("mig");
        const AldBackend *row;

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        gpu_wait(has_three_instances, machine);
        row = backend(machine, FIRST "/7-0");
        g_assert_cmpstr(row->parent, ==, FIRST);
        g_assert_cmpstr(row->name, ==, "NVIDIA GeForce RTX 4090 MIG 1g.6gb");
        g_assert_cmpstr(row->driver, ==, "nvidia");
        g_assert_cmpstr(row->vendor, ==, "NVIDIA");
        g_assert_cmpuint(row->memory_total_bytes, ==, 6 * GIB);
        g_assert_cmpint(row->unified, ==, 0);
        g_assert_cmpuint(backend(machine, FIRST "/3-1")->memory_total_bytes, ==, 12 * GIB);
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, 24 * GIB - GIB / 2);
        g_assert_cmpstr(backend(machine, FIRST)->parent, ==, NULL);

        sample(machine);
        g_assert_cmpuint(machine->devices->len, ==, 5);
        g_assert_cmpuint(device(machine, FIRST "/7-0")->memory_used_bytes, ==, GIB);
        g_assert_cmpuint(device(machine, FIRST "/7-0")->compute_processes, ==, 1);
        g_assert_cmpuint(device(machine, FIRST "/8-0")->compute_processes, ==, 0);
        g_assert_cmpstr(device(machine, FIRST "/7-0")->power_state, ==, "active");
        /* Those of its instances, where nobody may see those of the whole. */
        g_assert_cmpuint(device(machine, FIRST)->compute_processes, ==, 3);
        g_assert_cmpuint(device(machine, SECOND)->compute_processes, ==, 0);

        gpu_root_radeon(machine->root);
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpuint(n_backends(machine), ==, 3 + 1 + 3);
        fake_root_remove(machine->root, "sys/bus/pci/devices/0000:03:00.0");
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpuint(n_backends(machine), ==, 2 + 1 + 3);

        gpu_root_power(machine->root, FIRST, "suspended\n", "auto\n");
        sample(machine);
        g_assert_cmpstr(device(machine, FIRST "/7-0")->power_state, ==, "asleep");
        g_assert_cmpuint(device(machine, FIRST "/7-0")->memory_used_bytes, ==, ALD_ABSENT_UINT64);
        end(machine);
}

static void test_mig_off(void)
{
        Machine *machine = begin("mig");

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        gpu_wait(has_three_instances, machine);
        fake_root_remove(machine->aside, "while");
        gpu_wait(has_no_instances, machine);
        end(machine);

        machine = begin("mig-other");
        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        gpu_wait(has_two_instances, machine);
        g_assert_null(backend(machine, FIRST "/8-0"));
        end(machine);
}

/* Describes the processes that are listed of a device; NULL if it is not known who holds it. Each text is
 * valid until the next. */
static const char *processes_on(Machine *machine, const char *id)
{
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldGpuTarget));
        g_autoptr(GArray) processes = g_array_new(FALSE, FALSE, sizeof(AldGpuProcess));
        bool is_listed = false;

        ald_gpu_collector_processes(machine->collector, targets, processes);
        for (guint i = 0; i < targets->len; i++)
                if (g_str_equal(g_array_index(targets, AldGpuTarget, i).id, id))
                        is_listed = g_array_index(targets, AldGpuTarget, i).is_listed;
        g_string_truncate(machine->text, 0);
        for (guint i = 0; i < processes->len; i++) {
                const AldGpuProcess *process = &g_array_index(processes, AldGpuProcess, i);

                if (!g_str_equal(process->device, id))
                        continue;
                g_string_append_printf(
                        machine->text, "%u%s", process->pid, process->computes ? " computes" : "");
                if (process->memory_bytes != ALD_ABSENT_UINT64)
                        g_string_append_printf(machine->text, " %" G_GUINT64_FORMAT, process->memory_bytes);
                g_string_append(machine->text, "; ");
        }
        return is_listed ? machine->text->str : NULL;
}

static bool has_processes(void *userdata)
{
        Machine *machine = userdata;
        const char *processes;

        sample(machine);
        processes = processes_on(machine, machine->id);
        return processes && *processes;
}

/* Those of a card in MIG mode are on its instances. */
static void test_nvml_processes(void)
{
        Machine *machine = begin("mig");

        gpu_root_dual_nvidia(machine->root);
        start(machine, &patient);
        machine->id = FIRST "/7-0";
        gpu_wait(has_processes, machine);
        g_assert_cmpstr(processes_on(machine, FIRST "/7-0"), ==, "4711 computes 1073746535; ");
        g_assert_cmpstr(processes_on(machine, FIRST "/3-1"), ==, "4711 computes 1073746535; 4712 computes; ");
        g_assert_cmpstr(processes_on(machine, FIRST), ==, "");
        g_assert_cmpstr(processes_on(machine, SECOND), ==, "");
        end(machine);
}

/* Each process counts once a card, whatever its queues and whichever partitions they are on. */
static void test_kfd(void)
{
        static const char first[] = "0000:05:00.0", second[] = "0000:06:00.0";
        Machine *machine = begin("");

        gpu_root_mi300x(machine->root, 3, "CPX\n");
        start(machine, &patient);
        g_assert_cmpstr(processes_on(machine, first), ==, NULL);

        gpu_root_kfd_node(machine->root, 0, 0, 0);
        gpu_root_kfd_node(machine->root, 1, 1001, 0x0500);
        gpu_root_kfd_node(machine->root, 2, 1002, 0x0501);
        gpu_root_kfd_node(machine->root, 3, 2001, 0x0600);
        g_assert_cmpstr(processes_on(machine, first), ==, "");
        g_assert_cmpstr(processes_on(machine, "0000:07:00.0"), ==, NULL);
        g_assert_cmpuint(machine->n_changed, ==, 0);
        gpu_wait(is_reported, machine);
        g_assert_cmpstr(backend(machine, first)->architecture, ==, NULL);

        gpu_root_kfd_queue(machine->root, 4711, "queues/0", 1001);
        gpu_root_kfd_queue(machine->root, 4711, "queues/1", 1002);
        gpu_root_kfd_queue(machine->root, 4711, "context_1/queues/0", 2001);
        gpu_root_kfd_queue(machine->root, 4712, "queues/2", 1002);
        gpu_root_kfd_queue(machine->root, 4713, "queues/2", 77);
        fake_root_mkdir(machine->root, "sys/class/kfd/kfd/proc/4714/queues");
        /* A partition has a figure of its own, and so has a further context; one that is unused has 0. */
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4711/vram_1001", "1000\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4711/vram_1002", "200\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4711/context_1/vram_1002", "30\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4711/context_1/vram_2001", "7\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4712/vram_2001", "0\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4714/vram_2001", "5\n");
        fake_root_write(machine->root, "sys/class/kfd/kfd/proc/4714/vram_1001", "many\n");
        g_assert_cmpstr(processes_on(machine, first), ==, "4711 computes 1230; 4712 computes; ");
        g_assert_cmpstr(processes_on(machine, second), ==, "4711 computes 7; 4714 5; ");

        fake_root_remove(machine->root, "sys/class/kfd/kfd/proc/4711");
        g_assert_cmpstr(processes_on(machine, first), ==, "4712 computes; ");
        g_assert_cmpstr(processes_on(machine, second), ==, "4714 5; ");

        /* The numbers change with the topology. */
        gpu_root_kfd_node(machine->root, 3, 1002, 0x0600);
        gpu_root_kfd_node(machine->root, 2, 2001, 0x0501);
        gpu_root_kfd_version(machine->root, 2, 90402);
        gpu_root_kfd_link(machine->root, 1, 0, 3, 11, 50000);
        fake_root_write(machine->root, "sys/class/kfd/kfd/topology/generation_id", "2\n");
        machine->n_changed = 0;
        (void) processes_on(machine, first);
        gpu_wait(is_reported, machine);
        g_assert_cmpstr(backend(machine, first)->architecture, ==, "gfx942");
        g_assert_cmpuint(join(machine, "0000:05:00.0,0000:06:00.0,xgmi")->bits_per_second, ==,
                UINT64_C(400) * 1000000000);
        g_assert_cmpstr(processes_on(machine, first), ==, "4714 5; ");
        g_assert_cmpstr(processes_on(machine, second), ==, "4712 computes; ");
        end(machine);
}

static void test_absurd_number_of_devices(void)
{
        Machine *machine = begin("");

        for (unsigned i = 0; i < 200; i++) {
                g_autofree char *id = g_strdup_printf("0000:%02x:00.0", i);

                gpu_root_pci(machine->root, id, "0x030000", "0x1002", "0x744c", "amdgpu");
        }
        log_count_reset();
        start(machine, &patient);
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpuint(n_backends(machine), ==, 64 + 1);
        g_assert_cmpuint(log_count("shows 200 compute devices"), ==, 1);
        end(machine);
}

/* A hang costs the figures, not the rows; the rest goes on. */
static void test_hang(void)
{
        Machine *machine = begin("hang-sample");
        g_autoptr(GPtrArray) reasons = g_ptr_array_new_with_free_func(g_free);

        gpu_root_dual_nvidia(machine->root);
        gpu_root_radeon(machine->root);
        fake_root_remove(machine->aside, "while");
        start(machine, &hasty_later);
        machine->id = FIRST;
        gpu_wait(has_figures, machine);
        ald_gpu_collector_reasons(machine->collector, reasons);
        g_assert_cmpuint(reasons->len, ==, 0);

        fake_root_write(machine->aside, "while", "");
        gpu_wait(has_no_figures, machine);
        g_assert_cmpuint(machine->devices->len, ==, 3);
        g_assert_true(isnan(device(machine, FIRST)->usage));
        g_assert_cmpfloat(device(machine, "0000:03:00.0")->usage, ==, 37);
        /* What does not change is still known. */
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, 24 * GIB - GIB / 2);
        ald_gpu_collector_reasons(machine->collector, reasons);
        g_assert_cmpuint(reasons->len, ==, 1);
        g_assert_nonnull(strstr(reasons->pdata[0], "Devices: "));

        fake_root_remove(machine->aside, "while");
        gpu_wait(has_figures, machine);
        g_assert_cmpuint(log_count("alidade-nvml failed"), ==, 1);
        g_assert_cmpuint(log_count("alidade-nvml works again"), ==, 1);
        end(machine);
}

static void test_without_nvidia(void)
{
        Machine *machine = begin("");

        gpu_root_radeon(machine->root);
        gpu_root_iris(machine->root);
        gpu_root_bmc(machine->root);
        start(machine, &patient);
        sample(machine);
        g_assert_cmpuint(machine->devices->len, ==, 2);
        g_assert_false(ald_gpu_collector_has_nvml_running(machine->collector));
        end(machine);
}

static void test_all_asleep(void)
{
        Machine *machine = begin("");
        g_autofree char *log = NULL;

        gpu_root_dual_nvidia(machine->root);
        gpu_root_power(machine->root, FIRST, "suspended\n", "auto\n");
        gpu_root_power(machine->root, SECOND, "suspended\n", "auto\n");
        start(machine, &patient);
        sample(machine);
        g_assert_false(ald_gpu_collector_has_nvml_running(machine->collector));
        g_assert_cmpstr(device(machine, FIRST)->power_state, ==, "asleep");
        g_assert_cmpstr(device(machine, SECOND)->power_state, ==, "asleep");
        g_assert_cmpuint(device(machine, SECOND)->clock_hz, ==, ALD_ABSENT_UINT64);
        log = read_log(machine);
        g_assert_cmpstr(log, ==, "");
        end(machine);
}

/* The card of a hybrid laptop: neither NVML nor OpenCL meets it while it sleeps. */
static void test_hybrid(void)
{
        Machine *machine = begin("");
        g_autofree char *log = NULL;

        gpu_root_iris(machine->root);
        gpu_root_nvidia(machine->root, FIRST, "0x28a0\n", "NVIDIA GeForce RTX 4070 Laptop GPU");
        gpu_root_nvidia(machine->root, SECOND, "0x2231\n", "NVIDIA RTX A5000");
        gpu_root_power(machine->root, FIRST, "suspended\n", "auto\n");
        set_path(machine, "OCL_ICD_VENDORS", "vendors");
        start(machine, &patient);
        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        g_assert_cmpstr(device(machine, FIRST)->power_state, ==, "asleep");
        g_assert_cmpstr(backend(machine, FIRST)->name, ==, "NVIDIA GeForce RTX 4070 Laptop GPU");
        g_assert_null(backend(machine, "gfx1100"));
        log = read_log(machine);
        g_assert_nonnull(strstr(log, "02:00.0"));
        g_assert_null(strstr(log, "01:00.0"));

        /* Somebody uses it. */
        gpu_root_power(machine->root, FIRST, "active\n", "auto\n");
        machine->id = FIRST;
        gpu_wait(has_figures, machine);
        machine->id = "gfx1100";
        gpu_wait(has_opencl, machine);

        /* What was learnt of it stays when it sleeps again, and its helper ends. */
        gpu_root_power(machine->root, FIRST, "suspended\n", "auto\n");
        sample(machine);
        g_assert_cmpstr(device(machine, FIRST)->power_state, ==, "asleep");
        g_assert_cmpuint(device(machine, FIRST)->clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, 24 * GIB - GIB / 2);
        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        end(machine);
}

/* An idle GPU that may sleep is not kept awake by an open library. */
static void test_paused(void)
{
        Machine *machine = begin("");

        gpu_root_host(machine->root);
        gpu_root_nvidia(machine->root, SECOND, "0x2231\n", "NVIDIA RTX A5000");
        gpu_root_power(machine->root, SECOND, "active\n", "auto\n");
        start(machine, &patient);
        machine->id = SECOND;
        gpu_wait(has_figures, machine);
        g_assert_cmpfloat(device(machine, SECOND)->usage, ==, 0);
        g_assert_true(ald_gpu_collector_has_nvml_running(machine->collector));

        machine->now += 11 * SEC;
        sample(machine);
        machine->now += SEC;
        sample(machine);
        g_assert_cmpstr(device(machine, SECOND)->power_state, ==, "active");
        g_assert_true(isnan(device(machine, SECOND)->usage));
        gpu_wait(is_nvml_over, machine);
        g_assert_cmpuint(log_count(""), ==, 0);

        machine->now += 15 * SEC;
        gpu_wait(has_figures, machine);
        end(machine);
}

/* Devices come and go; what is known of those that stay is kept. */
static void test_rescan(void)
{
        Machine *machine = begin("");
        unsigned n;

        gpu_root_dual_nvidia(machine->root);
        set_path(machine, "OCL_ICD_VENDORS", "vendors");
        start(machine, &patient);
        machine->id = FIRST;
        gpu_wait(has_figures, machine);
        machine->id = "gfx1100";
        gpu_wait(has_opencl, machine);

        n = machine->n_changed;
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpuint(machine->n_changed, ==, n);

        gpu_root_radeon(machine->root);
        fake_root_remove(machine->root, "sys/bus/pci/devices/" SECOND);
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpuint(machine->n_changed, ==, n + 1);
        g_assert_null(backend(machine, SECOND));
        g_assert_cmpuint(backend(machine, FIRST)->memory_total_bytes, ==, 24 * GIB - GIB / 2);
        sample(machine);
        g_assert_cmpfloat(device(machine, FIRST)->usage, ==, 61);
        g_assert_cmpfloat(device(machine, "0000:03:00.0")->usage, ==, 37);
        g_assert_nonnull(backend(machine, "cpu"));
        /* The new device takes the row that OpenCL had to make up. */
        g_assert_cmpstr(backend(machine, "0000:03:00.0")->open_cl_platform, ==, "Fake OpenCL");
        g_assert_null(backend(machine, "gfx1100"));

        /* The driver is unloaded. */
        fake_root_remove(machine->root, "sys/bus/pci/devices/" FIRST "/driver");
        ald_gpu_collector_rescan(machine->collector);
        g_assert_cmpstr(backend(machine, FIRST)->driver, ==, NULL);
        sample(machine);
        gpu_wait(is_nvml_over, machine);
        end(machine);
}

/* What OpenCL shows on the machine as a whole, as the last answer says. */
static const char *opencl(const Machine *machine)
{
        AldBackends backends;

        ald_gpu_collector_backends(machine->collector, &backends);
        return backends.open_cl;
}

static bool has_no_platform(void *userdata)
{
        Machine *machine = userdata;

        sample(machine);
        return g_strcmp0(opencl(machine), "no-platform") == 0;
}

static bool is_opencl_available(void *userdata)
{
        Machine *machine = userdata;

        sample(machine);
        return g_strcmp0(opencl(machine), "available") == 0;
}

/* The folder of drivers does not even exist at first; nothing else happens on the machine meanwhile. */
static void test_driver_is_installed_later(void)
{
        Machine *machine = begin("");
        g_autofree char *library = g_strdup_printf("%s/libfake-icd.so\n", g_getenv("ALIDADE_TEST_HELPERS"));

        set_path(machine, "OCL_ICD_VENDORS", "etc/OpenCL/vendors");
        start(machine, &patient);
        g_assert_null(opencl(machine));
        gpu_wait(has_no_platform, machine);
        g_assert_null(backend(machine, "gfx1100"));
        fake_root_write(machine->aside, "etc/OpenCL/vendors/fake.icd", library);
        gpu_wait(is_opencl_available, machine);
        g_assert_cmpstr(backend(machine, "gfx1100")->open_cl_platform, ==, "Fake OpenCL");
        fake_root_remove(machine->aside, "etc/OpenCL/vendors/fake.icd");
        gpu_wait(has_no_platform, machine);
        end(machine);
}

static void test_nothing(void)
{
        Machine *machine = begin("");

        start(machine, &patient);
        sample(machine);
        g_assert_cmpuint(machine->devices->len, ==, 0);
        g_assert_cmpuint(n_backends(machine), ==, 1);
        g_assert_cmpstr(backend(machine, "cpu")->name, ==, NULL);
        g_assert_cmpuint(backend(machine, "cpu")->memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(log_count(""), ==, 0);
        end(machine);
}

/* What it would read is known, and that it can be had. */
static void test_witness_reason(void)
{
        Machine *machine = begin("");
        g_autoptr(GPtrArray) reasons = g_ptr_array_new_with_free_func(g_free);

        g_assert_true(g_setenv("ALIDADE_WITNESS_DIRECTORY", machine->root->dir, TRUE));
        gpu_root_iris(machine->root);
        start(machine, &patient);
        sample(machine);
        g_assert_true(isnan(device(machine, "0000:00:02.0")->usage));
        ald_gpu_collector_reasons(machine->collector, reasons);
        g_assert_cmpuint(reasons->len, ==, 1);
        g_assert_nonnull(strstr(reasons->pdata[0], "alidade-witness-counters.socket is not active"));
        end(machine);
        g_unsetenv("ALIDADE_WITNESS_DIRECTORY");
}

/* Helpers that are not installed cost no rows. */
static void test_no_helpers(void)
{
        Machine *machine = begin("");

        gpu_root_dual_nvidia(machine->root);
        g_setenv("ALIDADE_LIBEXEC_DIR", "/nonexistent", TRUE);
        start(machine, &patient);
        for (int i = 0; i < 10; i++)
                sample(machine);
        g_assert_cmpuint(machine->devices->len, ==, 2);
        g_assert_cmpuint(n_backends(machine), ==, 3);
        g_assert_cmpuint(log_count("alidade-nvml failed"), ==, 1);
        g_assert_cmpuint(log_count("alidade-opencl-list failed"), ==, 1);
        end(machine);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/gpu-collector/dual-nvidia", test_dual_nvidia);
        g_test_add_func("/gpu-collector/pace", test_pace);
        g_test_add_func("/gpu-collector/pace-of-display", test_pace_of_display);
        g_test_add_func("/gpu-collector/joins", test_joins);
        g_test_add_func("/gpu-collector/gb10", test_gb10);
        g_test_add_func("/gpu-collector/mig", test_mig);
        g_test_add_func("/gpu-collector/mig-off", test_mig_off);
        g_test_add_func("/gpu-collector/kfd", test_kfd);
        g_test_add_func("/gpu-collector/nvml-processes", test_nvml_processes);
        g_test_add_func("/gpu-collector/hang", test_hang);
        g_test_add_func("/gpu-collector/without-nvidia", test_without_nvidia);
        g_test_add_func("/gpu-collector/all-asleep", test_all_asleep);
        g_test_add_func("/gpu-collector/hybrid", test_hybrid);
        g_test_add_func("/gpu-collector/paused", test_paused);
        g_test_add_func("/gpu-collector/rescan", test_rescan);
        g_test_add_func("/gpu-collector/nothing", test_nothing);
        g_test_add_func("/gpu-collector/witness-reason", test_witness_reason);
        g_test_add_func("/gpu-collector/no-helpers", test_no_helpers);
        g_test_add_func("/gpu-collector/driver-is-installed-later", test_driver_is_installed_later);
        g_test_add_func("/gpu-collector/absurd-number-of-devices", test_absurd_number_of_devices);
        return g_test_run();
}
