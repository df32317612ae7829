/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/telemetry-keys.h"
#include "services/telemetry/fabric/fabric.h"
#include "services/telemetry/gpu/gpu.h"
#include "services/telemetry/holders/holder-collector.h"
#include "services/telemetry/host/cpu.h"
#include "services/telemetry/host/disk.h"
#include "services/telemetry/host/hwmon.h"
#include "services/telemetry/host/load-average.h"
#include "services/telemetry/host/memory.h"
#include "services/telemetry/host/power-reader.h"
#include "services/telemetry/host/processor.h"
#include "services/telemetry/host/rapl.h"
#include "services/telemetry/network/network-collector.h"
#include "services/telemetry/telemetry-manager.h"
#include "services/telemetry/ticker.h"

/* Load is computed from two samples; the second is taken this early, so that the first screen has it. */
#define SECOND_SAMPLE_USEC (UINT64_C(200) * 1000)

#define MSEC UINT64_C(1000)
#define SEC (UINT64_C(1000) * 1000)

const AldRateInfo ald_rates[ALD_N_RATES] = {
        [ALD_RATE_MEMORY] = { ALD_KIND_MEMORY, 100 * MSEC, 60 * SEC, "memory-interval-ms", MSEC },
        [ALD_RATE_SYSTEM] = { ALD_KIND_SYSTEM, 250 * MSEC, 60 * SEC, "system-interval-ms", MSEC },
        [ALD_RATE_DISK] = { ALD_KIND_DISK, 5 * SEC, 3600 * SEC, "disk-interval-s", SEC },
};

static const char *validate_paths(const char *value)
{
        g_auto(GStrv) paths = g_strsplit(value, ";", -1);

        for (char **path = paths; *path; path++)
                if (*g_strstrip(*path) != '\0' && **path != '/')
                        return "not a list of absolute paths, separated by semicolons";
        return NULL;
}

static const char *validate_sharing(const char *value)
{
        return ald_sharing_from_string(value) < 0 ? "neither none nor units nor all" : NULL;
}

const AldConfigKey ald_telemetry_config_keys[] = {
        ALD_TELEMETRY_CONFIG_KEYS(validate_paths, validate_sharing),
        { NULL },
};

/* A refused value counts as "none" also while the service runs, when other keys keep what was: the
 * mistyped value may have asked for less to be shared. */
static AldSharing read_sharing(const AldConfig *config)
{
        const GPtrArray *problems = ald_config_problems(config);

        for (guint i = 0; i < problems->len; i++) {
                const AldConfigProblem *problem = problems->pdata[i];

                if (g_strcmp0(problem->key, "share-processes") == 0)
                        return ALD_SHARING_NONE;
        }
        return (AldSharing) ald_sharing_from_string(ald_config_string(config, "share-processes"));
}

AldTelemetrySettings ald_telemetry_settings_read(const AldConfig *config)
{
        AldTelemetrySettings settings = { .disk_paths = ald_config_strv(config, "disk-paths"),
                .sharing = read_sharing(config) };

        for (AldRate rate = 0; rate < ALD_N_RATES; rate++)
                settings.interval_usec[rate] = ald_config_uint(config, ald_rates[rate].key) *
                                               ald_rates[rate].unit_usec;
        return settings;
}

struct AldTelemetryManager {
        int root;
        AldTelemetryMeasured measured;
        void *userdata;

        AldTicker *ticker;
        uint64_t configured_usec[ALD_N_RATES];
        bool by_hand[ALD_N_RATES];

        AldMemoryCollector *memory;
        AldCpuCollector *cpu;
        AldKeptFile load_average;
        AldHwmonCollector *hwmon;
        AldRaplCollector *rapl;
        AldPowerReader *power;
        AldDiskCollector *disk;
        char **disk_paths;
        AldNetworkCollector *network;
        AldGpuCollector *gpu;
        AldHolderCollector *holders;
        AldFabricCollector *fabric;
        AldProcessorCollector *processor;

        GArray *devices; /* of AldDevice; reused by each sample, as is `reasons` */
        GPtrArray *reasons;
};

int ald_rate_from_kind(int kind)
{
        for (int rate = 0; rate < ALD_N_RATES; rate++)
                if ((int) ald_rates[rate].kind == kind)
                        return rate;
        return -ENOENT;
}

static void sample_memory(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        AldMemory memory;

        ald_memory_collector_sample(manager->memory, &memory);
        ald_gpu_collector_use_host_memory(manager->gpu, memory.total_bytes);
        manager->measured(ALD_KIND_MEMORY, &memory, manager->userdata);
}

static const char *const *collect_reasons(AldTelemetryManager *manager)
{
        const char *power = ald_rapl_collector_reason(manager->rapl);

        g_ptr_array_set_size(manager->reasons, 0);
        if (power)
                g_ptr_array_add(manager->reasons, g_strdup(power));
        ald_gpu_collector_reasons(manager->gpu, manager->reasons);
        g_ptr_array_add(manager->reasons, NULL);
        return (const char *const *) manager->reasons->pdata;
}

static void sample_system(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        uint64_t now = (uint64_t) g_get_monotonic_time();
        AldSystem system = ALD_SYSTEM_INIT;

        system.cpu_usage = ald_cpu_collector_sample(manager->cpu);
        ald_load_average_sample(&manager->load_average, &system);
        system.temperature_milli_celsius = ald_hwmon_collector_sample(manager->hwmon, now);
        system.power_micro_watts = ald_rapl_collector_sample(manager->rapl, now);
        ald_power_reader_sample(manager->power, now, &system);
        g_array_set_size(manager->devices, 0);
        ald_gpu_collector_sample(manager->gpu, manager->devices);
        ald_holder_collector_count_work(manager->holders, manager->devices);
        system.devices.items = manager->devices->data;
        system.devices.n = manager->devices->len;
        system.absent_reasons = collect_reasons(manager);
        manager->measured(ALD_KIND_SYSTEM, &system, manager->userdata);
}

static void sample_disk(void *userdata)
{
        AldTelemetryManager *manager = userdata;

        ald_disk_collector_sample(manager->disk);
}

static void on_disk(const AldDisk *disk, void *userdata)
{
        AldTelemetryManager *manager = userdata;

        manager->measured(ALD_KIND_DISK, disk, manager->userdata);
}

static void on_network_changed(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        AldNetwork network;

        ald_network_collector_fill(manager->network, &network);
        manager->measured(ALD_KIND_NETWORK, &network, manager->userdata);
        ald_fabric_collector_rescan_soon(manager->fabric);
}

static void on_fabric_changed(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        AldFabric fabric;

        ald_fabric_collector_fill(manager->fabric, &fabric);
        manager->measured(ALD_KIND_FABRIC, &fabric, manager->userdata);
}

static void on_processor_changed(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        AldProcessor processor;

        ald_processor_collector_fill(manager->processor, &processor);
        manager->measured(ALD_KIND_PROCESSOR, &processor, manager->userdata);
}

static void on_holders(const AldProcesses *processes, void *userdata)
{
        AldTelemetryManager *manager = userdata;

        manager->measured(ALD_KIND_PROCESSES, processes, manager->userdata);
}

static void on_backends_changed(void *userdata)
{
        AldTelemetryManager *manager = userdata;
        AldBackends backends = ALD_BACKENDS_INIT;

        ald_gpu_collector_backends(manager->gpu, &backends);
        ald_memory_collector_use_backends(manager->memory, &backends.devices);
        manager->measured(ALD_KIND_BACKENDS, &backends, manager->userdata);
}

static uint64_t clamp_interval(AldRate rate, uint64_t usec)
{
        return CLAMP(usec, ald_rates[rate].min_usec, ald_rates[rate].max_usec);
}

static void use_disk_paths(AldTelemetryManager *manager, const char *const *paths)
{
        g_strfreev(manager->disk_paths);
        manager->disk_paths = g_strdupv((char **) paths);
        manager->disk = ald_disk_collector_new(manager->root, paths, ald_disk_ask, on_disk, manager);
}

/* Keeps the collector if nothing changes, since it may still wait for an answer. */
static void set_disk_paths(AldTelemetryManager *manager, const char *const *paths)
{
        g_autoptr(AldDiskCollector) before = NULL;

        if (g_strv_equal((const char *const *) manager->disk_paths, paths))
                return;
        before = g_steal_pointer(&manager->disk);
        use_disk_paths(manager, paths);
        ald_disk_collector_inherit(manager->disk, before);
        ald_disk_collector_sample(manager->disk);
}

AldTelemetryManager *ald_telemetry_manager_new(int root, const AldTelemetrySettings *settings)
{
        static const AldTick ticks[ALD_N_RATES] = {
                [ALD_RATE_MEMORY] = sample_memory,
                [ALD_RATE_SYSTEM] = sample_system,
                [ALD_RATE_DISK] = sample_disk,
        };
        AldTelemetryManager *manager = g_new(AldTelemetryManager, 1);

        *manager = (AldTelemetryManager){
                .root = root,
                .ticker = ald_ticker_new(),
                .memory = ald_memory_collector_new(root),
                .cpu = ald_cpu_collector_new(root),
                .hwmon = ald_hwmon_collector_new(root),
                .rapl = ald_rapl_collector_new(root),
                .power = ald_power_reader_new(root),
                .devices = g_array_new(FALSE, FALSE, sizeof(AldDevice)),
                .reasons = g_ptr_array_new_with_free_func(g_free),
        };
        ald_kept_file_init(&manager->load_average, root, "proc/loadavg");
        manager->fabric = ald_fabric_collector_new(root, on_fabric_changed, manager);
        manager->processor = ald_processor_collector_new(root, on_processor_changed, manager);
        manager->gpu = ald_gpu_collector_new(root, ALD_LIBEXEC_DIR, on_backends_changed, manager);
        for (AldRate rate = 0; rate < ALD_N_RATES; rate++) {
                manager->configured_usec[rate] = clamp_interval(rate, settings->interval_usec[rate]);
                ald_ticker_add(manager->ticker, manager->configured_usec[rate], ticks[rate], manager);
        }
        manager->holders = ald_holder_collector_new(
                manager->gpu, settings->sharing, NULL, on_holders, manager);
        use_disk_paths(manager, settings->disk_paths);
        return manager;
}

void ald_telemetry_manager_start(AldTelemetryManager *manager, AldTelemetryMeasured measured, void *userdata)
{
        manager->measured = measured;
        manager->userdata = userdata;
        ald_ticker_hasten(manager->ticker, ALD_RATE_SYSTEM, SECOND_SAMPLE_USEC);
        sample_memory(manager);
        sample_system(manager);
        on_processor_changed(manager);
        on_backends_changed(manager);
        if (ald_fabric_collector_any(manager->fabric))
                on_fabric_changed(manager);
        ald_disk_collector_sample(manager->disk);
        manager->network = ald_network_collector_new(manager->root, on_network_changed, manager);
}

void ald_telemetry_manager_free(AldTelemetryManager *manager)
{
        ald_ticker_free(manager->ticker);
        g_clear_pointer(&manager->network, ald_network_collector_free);
        ald_fabric_collector_free(manager->fabric);
        ald_processor_collector_free(manager->processor);
        ald_holder_collector_free(manager->holders);
        ald_gpu_collector_free(manager->gpu);
        g_array_unref(manager->devices);
        g_ptr_array_unref(manager->reasons);
        ald_disk_collector_free(manager->disk);
        ald_power_reader_free(manager->power);
        ald_rapl_collector_free(manager->rapl);
        ald_hwmon_collector_free(manager->hwmon);
        ald_kept_file_clear(&manager->load_average);
        ald_cpu_collector_free(manager->cpu);
        ald_memory_collector_free(manager->memory);
        g_strfreev(manager->disk_paths);
        g_free(manager);
}

void ald_telemetry_manager_configure(AldTelemetryManager *manager, const AldTelemetrySettings *settings)
{
        for (AldRate rate = 0; rate < ALD_N_RATES; rate++) {
                manager->configured_usec[rate] = clamp_interval(rate, settings->interval_usec[rate]);
                if (!manager->by_hand[rate])
                        ald_telemetry_manager_set_interval(manager, rate, 0);
        }
        set_disk_paths(manager, settings->disk_paths);
        ald_holder_collector_share(manager->holders, settings->sharing);
}

uint64_t ald_telemetry_manager_interval(const AldTelemetryManager *manager, AldRate rate)
{
        return ald_ticker_interval(manager->ticker, rate);
}

uint64_t ald_telemetry_manager_set_interval(AldTelemetryManager *manager, AldRate rate, uint64_t usec)
{
        uint64_t effective = usec == 0 ? manager->configured_usec[rate] : clamp_interval(rate, usec);

        manager->by_hand[rate] = usec != 0;
        if (effective != ald_telemetry_manager_interval(manager, rate))
                ald_ticker_set_interval(manager->ticker, rate, effective);
        return effective;
}

const AldHolderRows *ald_telemetry_manager_holders(AldTelemetryManager *manager, uid_t uid)
{
        return ald_holder_collector_rows(manager->holders, uid);
}

void ald_telemetry_manager_use_network_manager(AldTelemetryManager *manager)
{
        ald_network_collector_use_nm(manager->network);
}
