/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "record/schema.h"
#include "services/telemetry/gpu/gpu-processes.h"

/*
 * The compute devices of this machine: GPUs and accelerators on PCI and within a system on chip, further
 * devices that OpenCL shows, and the processor. Nothing here blocks on a driver's library, and no suspended
 * device is woken. Everything belongs to the thread of the default main context.
 */
typedef struct AldGpuCollector AldGpuCollector;

/*
 * `changed` is called from the main loop, never from within a call, when ald_gpu_collector_backends() has
 * something new to report. The helpers are in `libexec_dir`; ALIDADE_LIBEXEC_DIR in the environment takes
 * precedence. The root must stay open as long as the collector lives.
 */
AldGpuCollector *ald_gpu_collector_new(
        int root, const char *libexec_dir, void (*changed)(void *userdata), void *userdata);
void ald_gpu_collector_free(AldGpuCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuCollector, ald_gpu_collector_free)

/* Fills in the static rows. They and their strings belong to the collector, and are valid until control
 * returns to the main loop. */
void ald_gpu_collector_backends(AldGpuCollector *collector, AldBackends *ret);

/* Takes the memory of the host, as in Node1.Memory, since /proc/meminfo reflects neither the limit of a
 * container nor which part is the memory of a GPU. */
void ald_gpu_collector_use_host_memory(AldGpuCollector *collector, uint64_t bytes);

/*
 * Adds a row for each device to an array of AldDevice; the processor has none, since its load is the load of
 * the host. NVML's figures were requested at the last call, and are requested again. The strings are valid as
 * above.
 */
void ald_gpu_collector_sample(AldGpuCollector *collector, GArray *devices);

/* Takes whether a process works on a device or instance, as of the last look at its holders. */
void ald_gpu_collector_note_work(AldGpuCollector *collector, const char *id, bool has_work);

/* Adds the devices (AldGpuTarget) and their processes (AldGpuProcess), as NVML last listed them and as KFD
 * does now. This wakes no device. They are valid until control returns to the main loop. Returns how many
 * processes NVML knows beyond those. */
uint64_t ald_gpu_collector_processes(AldGpuCollector *collector, GArray *targets, GArray *processes);

/* Adds the reasons for absent figures of devices that an administrator can fix, each "Devices: …", to an
 * array that owns its strings. */
void ald_gpu_collector_reasons(const AldGpuCollector *collector, GPtrArray *reasons);
