/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu-figures.h"

#define TEMPERATURE_MIN (-100 * 1000)
#define TEMPERATURE_MAX (250 * 1000)
#define POWER_MAX (UINT64_C(20000) * 1000 * 1000)
#define CLOCK_MAX (UINT64_C(20) * 1000 * 1000 * 1000)

void ald_gpu_figures_check(AldDevice *device)
{
        if (!(device->usage >= 0 && device->usage <= 100))
                device->usage = ALD_ABSENT_DOUBLE;
        if (device->memory_used_bytes > ALD_GPU_MEMORY_MAX)
                device->memory_used_bytes = ALD_ABSENT_UINT64;
        if (device->shared_used_bytes > ALD_GPU_MEMORY_MAX)
                device->shared_used_bytes = ALD_ABSENT_UINT64;
        if (device->compute_processes > ALD_GPU_PROCESSES_MAX)
                device->compute_processes = ALD_ABSENT_UINT64;
        if (device->temperature_milli_celsius < TEMPERATURE_MIN ||
                device->temperature_milli_celsius > TEMPERATURE_MAX)
                device->temperature_milli_celsius = ALD_ABSENT_INT64;
        if (device->power_micro_watts > POWER_MAX)
                device->power_micro_watts = ALD_ABSENT_UINT64;
        /* A gated clock reads as 0: then there is none to tell. */
        if (device->clock_hz == 0 || device->clock_hz > CLOCK_MAX)
                device->clock_hz = ALD_ABSENT_UINT64;
}

void ald_gpu_figures_overlay(AldDevice *device, const AldDevice *from)
{
        if (!isnan(from->usage))
                device->usage = from->usage;
        if (from->memory_used_bytes != ALD_ABSENT_UINT64)
                device->memory_used_bytes = from->memory_used_bytes;
        if (from->shared_used_bytes != ALD_ABSENT_UINT64)
                device->shared_used_bytes = from->shared_used_bytes;
        if (from->compute_processes != ALD_ABSENT_UINT64)
                device->compute_processes = from->compute_processes;
        if (from->temperature_milli_celsius != ALD_ABSENT_INT64)
                device->temperature_milli_celsius = from->temperature_milli_celsius;
        if (from->power_micro_watts != ALD_ABSENT_UINT64)
                device->power_micro_watts = from->power_micro_watts;
        if (from->clock_hz != ALD_ABSENT_UINT64)
                device->clock_hz = from->clock_hz;
}
