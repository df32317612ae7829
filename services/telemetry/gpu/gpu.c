/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/counter-source.h"
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/telemetry/gpu/gpu-joins.h"
#include "services/telemetry/gpu/gpu-kfd.h"
#include "services/telemetry/gpu/gpu-live.h"
#include "services/telemetry/gpu/gpu-nvlink.h"
#include "services/telemetry/gpu/gpu-pci.h"
#include "services/telemetry/gpu/gpu-platform.h"
#include "services/telemetry/gpu/gpu-private.h"
#include "services/telemetry/gpu/gpu.h"
#include "services/telemetry/gpu/icd-watch.h"
#include "services/telemetry/gpu/nvml-source.h"
#include "services/telemetry/gpu/opencl-match.h"
#include "services/telemetry/gpu/opencl-source.h"
#include "services/telemetry/helper/nvml-api.h"
#include "services/telemetry/host/device-watch.h"

/* Each device has a row, and up to 20 open files, besides two for each PCI Express link on its route. */
#define DEVICES_MAX 64u

#define NUMA_NODES_MAX 4096

struct AldGpuCollector {
        int root;
        guint logged_left_out;
        uint64_t host_memory; /* absent until it is reported here */
        void (*changed)(void *userdata);
        void *userdata;

        GPtrArray *gpus;     /* of AldGpu */
        AldRecord *opencl;   /* Message1.OpenclAnswer, the last one, or NULL */
        GArray *rows;        /* of AldBackend, as last requested */
        GArray *joins;       /* of AldDeviceJoin, likewise */
        GStringChunk *texts; /* of the joins */
        guint report_source; /* pending call of changed() */
        uint64_t unlisted_processes;

        AldGpuKfd *kfd;
        AldDeviceWatch *watch;
        AldNvmlSource *nvml_source;
        AldCounterSource *counter_source;
        AldOpenclSource *opencl_source;
        AldIcdWatch *icd_watch;
};

static void drop_absurd_number(AldGpuCollector *collector, GPtrArray *gpus)
{
        guint left_out = gpus->len > DEVICES_MAX ? gpus->len - DEVICES_MAX : 0;

        if (left_out != collector->logged_left_out)
                g_message("sysfs shows %u compute devices; %u of them are left out", gpus->len, left_out);
        collector->logged_left_out = left_out;
        if (left_out > 0)
                g_ptr_array_set_size(gpus, DEVICES_MAX);
}

/* Returns the NUMA node of a device; absent if the firmware reports none. */
static uint64_t read_numa_node(int root, const char *device)
{
        g_autofree char *path = g_strdup_printf("%s/numa_node", device);
        int64_t node;

        return ald_sysroot_read_int64(root, path, &node) >= 0 && node >= 0 && node < NUMA_NODES_MAX
                       ? (uint64_t) node
                       : ALD_ABSENT_UINT64;
}

/* Returns the devices that sysfs shows. */
static GPtrArray *scan_sysfs(AldGpuCollector *collector)
{
        uint64_t host_memory = collector->host_memory != ALD_ABSENT_UINT64
                                       ? collector->host_memory
                                       : ald_gpu_host_memory(collector->root);
        GPtrArray *gpus = ald_gpu_list_new();

        ald_gpu_pci_scan(collector->root, gpus);
        ald_gpu_platform_scan(collector->root, gpus);
        drop_absurd_number(collector, gpus);
        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                gpu->host_memory = host_memory;
                gpu->numa_node = read_numa_node(collector->root, gpu->path);
                gpu->pcie = ald_gpu_pcie_new(collector->root, gpu->id, gpu->driver);
        }
        return gpus;
}

/* Returns whether the list holds these devices of sysfs and no others. */
static bool is_as_known(const GPtrArray *known, const GPtrArray *scanned)
{
        guint n = 0;

        for (guint i = 0; i < known->len; i++) {
                const AldGpu *gpu = known->pdata[i];

                if (!gpu->path)
                        continue;
                if (n >= scanned->len || !ald_gpu_equal(gpu, scanned->pdata[n]))
                        return false;
                n++;
        }
        return n == scanned->len;
}

/* Keeps instances, which stay until NVML reports otherwise, unless their card is gone. */
static void carry_instances_over(GPtrArray *known, GPtrArray *scanned)
{
        for (guint i = 0; i < known->len;) {
                const AldGpu *gpu = known->pdata[i];

                if (gpu->parent && ald_gpu_list_find(scanned, gpu->parent))
                        g_ptr_array_add(scanned, g_ptr_array_steal_index(known, i));
                else
                        i++;
        }
}

/* Replaces scanned devices by the existing ones if these are unchanged, and adds the processor and the
 * instances. */
static void carry_over(GPtrArray *known, GPtrArray *scanned)
{
        for (guint i = 0; i < scanned->len; i++) {
                AldGpu *fresh = scanned->pdata[i], *old = ald_gpu_list_find(known, fresh->id);

                if (!old || !ald_gpu_equal(old, fresh))
                        continue;
                scanned->pdata[i] = ald_gpu_list_take(known, fresh->id);
                ald_gpu_free(fresh);
        }
        g_ptr_array_add(scanned, ald_gpu_list_take(known, ALD_CPU_ID));
        carry_instances_over(known, scanned);
}

static void prepare_readers(AldGpuCollector *collector)
{
        for (guint i = 0; i < collector->gpus->len; i++)
                ald_gpu_live_prepare(collector->root, collector->gpus->pdata[i]);
}

static void match_opencl(AldGpuCollector *collector)
{
        const AldOpenclAnswer *answer = ald_record_as(collector->opencl, OPENCL_ANSWER, AldOpenclAnswer);

        if (answer)
                ald_opencl_match(answer, collector->gpus);
}

void ald_gpu_collector_rescan(AldGpuCollector *collector)
{
        g_autoptr(GPtrArray) scanned = scan_sysfs(collector);
        bool new_topology = ald_gpu_kfd_look(collector->kfd);

        if (is_as_known(collector->gpus, scanned)) {
                prepare_readers(collector);
                if (new_topology)
                        collector->changed(collector->userdata);
                return;
        }
        carry_over(collector->gpus, scanned);
        g_ptr_array_unref(collector->gpus);
        collector->gpus = g_steal_pointer(&scanned);
        prepare_readers(collector);
        match_opencl(collector);
        ald_opencl_source_request(collector->opencl_source);
        collector->changed(collector->userdata);
}

static void on_devices_changed(void *userdata)
{
        ald_gpu_collector_rescan(userdata);
}

/* The next sample requests the list again. */
static void on_icds_changed(void *userdata)
{
        AldGpuCollector *collector = userdata;

        ald_opencl_source_request(collector->opencl_source);
}

static void on_opencl_answered(AldRecord *answer, void *userdata)
{
        AldGpuCollector *collector = userdata;

        g_clear_pointer(&collector->opencl, ald_record_unref);
        collector->opencl = ald_record_ref(answer);
        match_opencl(collector);
        collector->changed(collector->userdata);
}

/* Applies a row of NVML. Facts that NVML does not report this time stay as they were. Returns whether static
 * facts have changed. */
static bool apply_nvml(AldGpu *gpu, const AldNvmlAnswer *answer, const AldNvmlDevice *row)
{
        AldGpuFacts facts = {
                .shared_bytes = ALD_ABSENT_UINT64,
                .name = g_strdup(row->name ?: gpu->nvml.name),
                .driver_version = g_strdup(answer->driver_version ?: gpu->nvml.driver_version),
                .architecture = g_strdup(row->architecture ?: gpu->nvml.architecture),
                .memory_total_bytes = row->memory_total_bytes,
                .unified = row->unified,
        };
        bool is_new;

        if (facts.memory_total_bytes == ALD_ABSENT_UINT64)
                facts.memory_total_bytes = gpu->nvml.memory_total_bytes;
        if (facts.unified == ALD_ABSENT_BOOLEAN)
                facts.unified = gpu->nvml.unified;
        is_new = !ald_gpu_facts_equal(&facts, &gpu->nvml);
        ald_gpu_facts_clear(&gpu->nvml);
        gpu->nvml = facts;
        ald_nvml_device_figures(row, &gpu->live->nvml);
        gpu->live->nvml_is_new = true;
        return is_new;
}

static AldGpu *add_instance(GPtrArray *gpus, const AldGpu *card, const char *id)
{
        AldGpu *instance = ald_gpu_new(id, NULL, card->class);

        instance->parent = g_strdup(card->id);
        instance->vendor = g_strdup(card->vendor);
        instance->driver = g_strdup(card->driver);
        instance->numa_node = card->numa_node;
        ald_gpu_live_prepare_instance(instance);
        g_ptr_array_add(gpus, instance);
        return instance;
}

/* Returns whether a row of an untrusted answer is an instance of the card: its Id begins with the Id of the
 * card, and it names the card as its parent. */
static bool is_instance_of(const AldNvmlDevice *row, const AldGpu *card)
{
        size_t length = strlen(card->id);

        return g_strcmp0(row->parent, card->id) == 0 && g_str_has_prefix(row->id, card->id) &&
               row->id[length] == '/' && row->id[length + 1] != '\0';
}

/* Removes instances of a card that NVML no longer reports. Returns whether there were any. */
static bool drop_instances(GPtrArray *gpus, const AldGpu *card, const AldNvmlAnswer *answer)
{
        bool dropped = false;

        for (guint i = gpus->len; i-- > 0;) {
                const AldGpu *gpu = gpus->pdata[i];

                if (g_strcmp0(gpu->parent, card->id) != 0 || ald_rows_find(&answer->devices, gpu->id))
                        continue;
                g_ptr_array_remove_index(gpus, i);
                dropped = true;
        }
        return dropped;
}

/* Updates the rows of a card's instances to those that NVML reports. Returns whether instances or static
 * facts have changed. */
static bool apply_instances(
        GPtrArray *gpus, const AldGpu *card, const AldNvmlAnswer *answer, const AldNvmlDevice *row)
{
        bool changed = !row->error && drop_instances(gpus, card, answer);
        unsigned n = 0;

        for (size_t i = 0; i < answer->devices.n && n < ALD_NVML_INSTANCES_MAX; i++) {
                const AldNvmlDevice *one = ald_rows_at(&answer->devices, i);
                AldGpu *instance;

                if (!is_instance_of(one, card))
                        continue;
                instance = ald_gpu_list_find(gpus, one->id);
                if (instance && !instance->parent) /* OpenCL shows a device with this name */
                        continue;
                n++;
                if (!instance) {
                        instance = add_instance(gpus, card, one->id);
                        changed = true;
                }
                changed = apply_nvml(instance, answer, one) || changed;
        }
        return changed;
}

/* Applies the links of a card. Links to a device that is not queried now are still reported. Returns whether
 * they have changed. */
static bool apply_nvlinks(AldGpu *card, const AldNvmlAnswer *answer, const AldNvmlDevice *row)
{
        g_autoptr(GArray) nvlinks = NULL;

        if (row->error)
                return false;
        nvlinks = ald_gpu_nvlinks_new(answer, card->id);
        if (ald_gpu_nvlinks_equal(nvlinks, card->nvlinks))
                return false;
        g_clear_pointer(&card->nvlinks, g_array_unref);
        card->nvlinks = g_steal_pointer(&nvlinks);
        return true;
}

static bool is_some(uint64_t n)
{
        return n != ALD_ABSENT_UINT64 && n > 0;
}

/* Returns whether a process holds the card or one of its instances, as the lists and this answer show, or
 * uses it. */
static bool is_held(
        const GPtrArray *gpus, const AldGpu *card, const AldNvmlAnswer *answer, const AldNvmlDevice *row)
{
        bool held = row->usage > 0 || is_some(row->compute_processes) || is_some(answer->unlisted_processes);

        for (guint i = 0; i < gpus->len && !held; i++) {
                const AldGpu *gpu = gpus->pdata[i];

                held = (gpu == card || g_strcmp0(gpu->parent, card->id) == 0) && gpu->processes &&
                       gpu->processes->len > 0;
        }
        return held;
}

/* Forgets the figures of a card and of its instances; of all if it is NULL. */
static void forget_nvml(GPtrArray *gpus, const AldGpu *card)
{
        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                if (gpu->live && (!card || gpu == card || g_strcmp0(gpu->parent, card->id) == 0))
                        gpu->live->nvml = (AldDevice) ALD_DEVICE_INIT;
        }
}

static void on_nvml_answered(const AldNvmlAnswer *answer, void *userdata)
{
        AldGpuCollector *collector = userdata;
        g_autoptr(GPtrArray) cards = g_ptr_array_new();
        bool new_facts = false, new_instances = false, new_links = false;

        for (guint i = 0; i < collector->gpus->len; i++) {
                AldGpu *gpu = collector->gpus->pdata[i];

                if (gpu->has_nvml)
                        g_ptr_array_add(cards, gpu);
                if (gpu->has_nvml && !answer)
                        gpu->live->asked_usec = 0;
        }
        if (!answer)
                forget_nvml(collector->gpus, NULL);
        for (guint i = 0; answer && i < cards->len; i++) {
                AldGpu *card = cards->pdata[i];
                const AldNvmlDevice *row = ald_rows_find(&answer->devices, card->id);

                if (!row)
                        continue;
                forget_nvml(collector->gpus, card);
                new_facts = apply_nvml(card, answer, row) || new_facts;
                new_instances = apply_instances(collector->gpus, card, answer, row) || new_instances;
                new_links = (answer->links == 1 && apply_nvlinks(card, answer, row)) || new_links;
        }
        ald_gpu_processes_apply(collector->gpus, answer);
        for (guint i = 0; answer && i < cards->len; i++) {
                AldGpu *card = cards->pdata[i];
                const AldNvmlDevice *row = ald_rows_find(&answer->devices, card->id);

                if (row)
                        card->live->is_held = is_held(collector->gpus, card, answer, row);
        }
        if (!answer || answer->unlisted_processes != ALD_ABSENT_UINT64)
                collector->unlisted_processes = answer ? answer->unlisted_processes : 0;
        if (new_instances)
                match_opencl(collector);
        if (new_links)
                ald_gpu_joins_check(cards);
        if (new_facts || new_instances || new_links)
                collector->changed(collector->userdata);
}

/* Queries NVML about the devices that may be read now, and of which new figures are due. */
static void query_nvml(AldGpuCollector *collector, int64_t now_usec)
{
        g_autoptr(GPtrArray) ids = g_ptr_array_new(), due = g_ptr_array_new(), by_index = g_ptr_array_new();
        bool all;

        for (guint i = 0; i < collector->gpus->len; i++) {
                AldGpu *gpu = collector->gpus->pdata[i];

                if (gpu->has_nvml && ald_gpu_power_may_read(gpu->live->state)) {
                        g_ptr_array_add(ids, gpu->id);
                        if (ald_gpu_live_is_due(gpu->live, now_usec))
                                g_ptr_array_add(due, gpu->id);
                }
                if (gpu->has_nvml && ald_gpu_is_of_windows(gpu))
                        g_ptr_array_add(by_index, gpu->id);
        }
        g_ptr_array_add(ids, NULL);
        g_ptr_array_add(due, NULL);
        g_ptr_array_add(by_index, NULL);
        if (!ald_nvml_source_ask(collector->nvml_source, (const char *const *) ids->pdata,
                    (const char *const *) due->pdata,
                    by_index->len > 1 ? (const char *const *) by_index->pdata : NULL, &all))
                return;
        for (const char **id = (const char **) (all ? ids : due)->pdata; *id; id++)
                ald_gpu_list_find(collector->gpus, *id)->live->asked_usec = now_usec;
}

static bool has_counters(const AldGpu *gpu)
{
        return gpu->live && !gpu->parent && ald_gpu_power_may_read(gpu->live->state) &&
               (g_strcmp0(gpu->driver, "i915") == 0 || g_strcmp0(gpu->driver, "xe") == 0);
}

static void query_counters(AldGpuCollector *collector, int64_t now_usec)
{
        g_autoptr(GPtrArray) ids = g_ptr_array_new();

        for (guint i = 0; i < collector->gpus->len; i++)
                if (has_counters(collector->gpus->pdata[i]))
                        g_ptr_array_add(ids, ((AldGpu *) collector->gpus->pdata[i])->id);
        g_ptr_array_add(ids, NULL);
        ald_counter_source_ask(collector->counter_source, (const char *const *) ids->pdata, now_usec);
}

/* Requests the list of OpenCL if all devices may be read, since OpenCL drivers wake all devices, and prevent
 * their suspension. */
static void query_opencl(AldGpuCollector *collector)
{
        for (guint i = 0; i < collector->gpus->len; i++) {
                const AldGpu *gpu = collector->gpus->pdata[i];

                if (gpu->live && !ald_gpu_power_may_read(gpu->live->state))
                        return;
        }
        ald_opencl_source_ask(collector->opencl_source);
}

static gboolean on_report_due(gpointer userdata)
{
        AldGpuCollector *collector = userdata;

        collector->report_source = 0;
        collector->changed(collector->userdata);
        return G_SOURCE_REMOVE;
}

/* Calls changed() after the sample, since the caller must not be called from within its own call. */
static void report_later(AldGpuCollector *collector)
{
        if (collector->report_source == 0)
                collector->report_source = g_idle_add(on_report_due, collector);
}

void ald_gpu_collector_use_host_memory(AldGpuCollector *collector, uint64_t bytes)
{
        if (bytes == ALD_ABSENT_UINT64 || bytes == collector->host_memory)
                return;
        collector->host_memory = bytes;
        for (guint i = 0; i < collector->gpus->len; i++) {
                AldGpu *gpu = collector->gpus->pdata[i];

                gpu->host_memory = bytes;
                if (gpu->class == ALD_BACKEND_CLASS_CPU)
                        gpu->sysfs.shared_bytes = bytes;
        }
        report_later(collector);
}

uint64_t ald_gpu_collector_processes(AldGpuCollector *collector, GArray *targets, GArray *processes)
{
        if (ald_gpu_kfd_sample(collector->kfd))
                report_later(collector);
        ald_gpu_processes_list(collector->gpus, collector->kfd, targets, processes);
        return collector->unlisted_processes;
}

void ald_gpu_collector_note_work(AldGpuCollector *collector, const char *id, bool has_work)
{
        AldGpu *gpu = ald_gpu_list_find(collector->gpus, id);

        if (gpu && gpu->live)
                gpu->live->has_work = has_work;
}

void ald_gpu_collector_sample_at(AldGpuCollector *collector, int64_t now_usec, GArray *devices)
{
        for (guint i = 0; i < collector->gpus->len; i++) {
                AldGpu *gpu = collector->gpus->pdata[i];
                AldDevice device;

                if (!gpu->live)
                        continue;
                /* An instance comes after its card. */
                if (gpu->parent)
                        ald_gpu_live_sample_instance(
                                gpu, ald_gpu_list_find(collector->gpus, gpu->parent), now_usec, &device);
                else
                        ald_gpu_live_sample(gpu, now_usec, &device);
                if (has_counters(gpu))
                        ald_counter_source_complete(collector->counter_source, &device);
                if (!gpu->parent)
                        ald_gpu_live_note_usage(gpu->live, device.usage, now_usec);
                if (gpu->pcie && ald_gpu_pcie_sample(gpu->pcie, ald_gpu_power_may_read(gpu->live->state),
                                         device.usage, now_usec))
                        report_later(collector);
                if (devices && ald_gpu_is_shown(gpu))
                        g_array_append_val(devices, device);
        }
        query_nvml(collector, now_usec);
        query_counters(collector, now_usec);
        query_opencl(collector);
}

void ald_gpu_collector_sample(AldGpuCollector *collector, GArray *devices)
{
        ald_gpu_collector_sample_at(collector, g_get_monotonic_time(), devices);
}

static int compare_rows(const void *a, const void *b)
{
        return strcmp(((const AldBackend *) a)->id, ((const AldBackend *) b)->id);
}

static int compare_joins(const void *a, const void *b)
{
        return strcmp(((const AldDeviceJoin *) a)->id, ((const AldDeviceJoin *) b)->id);
}

/* Returns the devices that have joins of their own. */
static GPtrArray *list_joined(const AldGpuCollector *collector)
{
        GPtrArray *gpus = g_ptr_array_new();

        for (guint i = 0; i < collector->gpus->len; i++) {
                AldGpu *gpu = collector->gpus->pdata[i];

                if (ald_gpu_is_shown(gpu) && !gpu->parent)
                        g_ptr_array_add(gpus, gpu);
        }
        return gpus;
}

static void make_joins(AldGpuCollector *collector)
{
        g_autoptr(GPtrArray) gpus = list_joined(collector);

        g_array_set_size(collector->joins, 0);
        g_string_chunk_clear(collector->texts);
        ald_gpu_joins(collector->root, gpus, collector->kfd, collector->texts, collector->joins);
        g_array_sort(collector->joins, compare_joins);
}

void ald_gpu_collector_backends(AldGpuCollector *collector, AldBackends *ret)
{
        const AldOpenclAnswer *opencl = ald_record_as(collector->opencl, OPENCL_ANSWER, AldOpenclAnswer);

        g_array_set_size(collector->rows, 0);
        make_joins(collector);
        for (guint i = 0; i < collector->gpus->len; i++) {
                const AldGpu *gpu = collector->gpus->pdata[i];
                AldBackend row;

                if (!ald_gpu_is_shown(gpu))
                        continue;
                ald_gpu_backend(gpu, &row);
                row.architecture = ald_gpu_kfd_architecture(collector->kfd, gpu->id) ?: row.architecture;
                g_array_append_val(collector->rows, row);
        }
        g_array_sort(collector->rows, compare_rows);
        *ret = (AldBackends) ALD_BACKENDS_INIT;
        ret->devices.items = collector->rows->data;
        ret->devices.n = collector->rows->len;
        ret->joins.items = collector->joins->data;
        ret->joins.n = collector->joins->len;
        /* While a new list is requested, the last answer may be out of date. */
        if (opencl && !ald_opencl_source_is_wanted(collector->opencl_source))
                ret->open_cl = opencl->open_cl;
}

void ald_gpu_collector_reasons(const AldGpuCollector *collector, GPtrArray *reasons)
{
        const char *nvml = ald_nvml_source_reason(collector->nvml_source);
        const char *counters = ald_counter_source_reason(collector->counter_source);

        if (nvml)
                g_ptr_array_add(reasons, g_strdup_printf("Devices: NVIDIA's library failed: %s", nvml));
        if (counters)
                g_ptr_array_add(reasons,
                        g_strdup_printf(
                                "Devices: the memory in use and the usage of Intel's GPUs are not known: %s",
                                counters));
        for (guint i = 0; i < collector->gpus->len; i++) {
                const AldGpu *gpu = collector->gpus->pdata[i];
                const AldGpuReader *reader = gpu->live ? gpu->live->reader : NULL;
                const char *file = reader ? ald_gpu_reader_refused_file(reader) : NULL;

                if (file)
                        g_ptr_array_add(reasons,
                                g_strdup_printf("Devices: the service is not allowed to read /%s", file));
        }
}

bool ald_gpu_collector_has_nvml_running(const AldGpuCollector *collector)
{
        return ald_nvml_source_is_running(collector->nvml_source);
}

AldGpuCollector *ald_gpu_collector_new_with_timing(int root, const char *libexec_dir,
        const AldChildTiming *timing, void (*changed)(void *userdata), void *userdata)
{
        static const char *const subsystems[] = { "pci", "drm", NULL };
        AldGpuCollector *collector = g_new0(AldGpuCollector, 1);
        const char *directory = g_getenv("ALIDADE_LIBEXEC_DIR") ?: libexec_dir ?: ALD_LIBEXEC_DIR;

        collector->root = root;
        collector->host_memory = ALD_ABSENT_UINT64;
        collector->changed = changed;
        collector->userdata = userdata;
        collector->kfd = ald_gpu_kfd_new(root);
        (void) ald_gpu_kfd_look(collector->kfd);
        collector->gpus = scan_sysfs(collector);
        g_ptr_array_add(collector->gpus, ald_gpu_cpu(root, ald_gpu_host_memory(root)));
        prepare_readers(collector);
        collector->rows = g_array_new(FALSE, FALSE, sizeof(AldBackend));
        collector->joins = g_array_new(FALSE, FALSE, sizeof(AldDeviceJoin));
        collector->texts = g_string_chunk_new(1024);
        collector->nvml_source = ald_nvml_source_new(directory, timing, on_nvml_answered, collector);
        collector->counter_source = ald_counter_source_new();
        collector->opencl_source = ald_opencl_source_new(directory, timing, on_opencl_answered, collector);
        collector->icd_watch = ald_icd_watch_new(on_icds_changed, collector);
        collector->watch = ald_device_watch_new("GPUs", subsystems, on_devices_changed, collector);
        /* This sample is taken early, so that the first one that is reported has figures. The caller has not
         * requested rows yet. */
        ald_gpu_collector_sample_at(collector, g_get_monotonic_time(), NULL);
        g_clear_handle_id(&collector->report_source, g_source_remove);
        return collector;
}

AldGpuCollector *ald_gpu_collector_new(
        int root, const char *libexec_dir, void (*changed)(void *userdata), void *userdata)
{
        return ald_gpu_collector_new_with_timing(root, libexec_dir, NULL, changed, userdata);
}

void ald_gpu_collector_free(AldGpuCollector *collector)
{
        if (!collector)
                return;
        ald_device_watch_free(collector->watch);
        ald_icd_watch_free(collector->icd_watch);
        ald_nvml_source_free(collector->nvml_source);
        ald_counter_source_free(collector->counter_source);
        ald_opencl_source_free(collector->opencl_source);
        g_clear_pointer(&collector->opencl, ald_record_unref);
        g_ptr_array_unref(collector->gpus);
        ald_gpu_kfd_free(collector->kfd);
        g_clear_handle_id(&collector->report_source, g_source_remove);
        g_array_unref(collector->rows);
        g_array_unref(collector->joins);
        g_string_chunk_free(collector->texts);
        g_free(collector);
}
