/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-figures.h"

#define MEMORY_MAX (UINT64_C(1) << 50)    /* bytes */
#define PROCESSES_MAX (UINT64_C(1) << 22) /* more than any machine has */
#define TEMPERATURE_MIN (-100 * 1000)
#define TEMPERATURE_MAX (250 * 1000)
#define POWER_MAX (UINT64_C(20000) * 1000 * 1000)
#define CLOCK_MAX (UINT64_C(20) * 1000 * 1000 * 1000)

void ald_gpu_figures_check(AldDevice *device)
{
        if (!(device->usage >= 0 && device->usage <= 100))
                device->usage = ALD_ABSENT_DOUBLE;
        if (device->memory_used_bytes > MEMORY_MAX)
                device->memory_used_bytes = ALD_ABSENT_UINT64;
        if (device->shared_used_bytes > MEMORY_MAX)
                device->shared_used_bytes = ALD_ABSENT_UINT64;
        if (device->compute_processes > PROCESSES_MAX)
                device->compute_processes = ALD_ABSENT_UINT64;
        if (device->temperature_milli_celsius < TEMPERATURE_MIN ||
                device->temperature_milli_celsius > TEMPERATURE_MAX)
                device->temperature_milli_celsius = ALD_ABSENT_INT64;
        if (device->power_micro_watts > POWER_MAX)
                device->power_micro_watts = ALD_ABSENT_UINT64;
        /* A gated clock reads as 0: then there is none. */
        if (device->clock_hz == 0 || device->clock_hz > CLOCK_MAX)
                device->clock_hz = ALD_ABSENT_UINT64;
}
