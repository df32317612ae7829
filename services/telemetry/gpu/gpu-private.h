/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu.h"
#include "services/telemetry/helper/helper.h"

/* These functions are for tests, which need shorter times than the daemon. */

/* Creates a collector with other deadlines for both helpers; NULL for the default ones. */
AldGpuCollector *ald_gpu_collector_new_with_timing(int root, const char *libexec_dir,
        const AldChildTiming *timing, void (*changed)(void *userdata), void *userdata);

/* Takes a sample at this time of CLOCK_MONOTONIC. */
void ald_gpu_collector_sample_at(AldGpuCollector *collector, int64_t now_usec, GArray *devices);

/* Scans the devices as after a udev event. */
void ald_gpu_collector_rescan(AldGpuCollector *collector);

/* Returns whether NVML's helper runs. */
bool ald_gpu_collector_has_nvml_running(const AldGpuCollector *collector);
