/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-drm.h"
#include "services/telemetry/gpu/gpu-power.h"

/* The readers of the figures of one device, and their state. */
struct AldGpuLive {
        AldGpuReader *reader;
        AldGpuPower power;
        AldGpuPowerState state; /* at the last sample */
        AldDevice nvml;         /* the last figures from NVML */
};

/* Creates the readers of the device, or makes existing ones look for their files again. */
void ald_gpu_live_prepare(int root, AldGpu *gpu);
void ald_gpu_live_free(AldGpuLive *live);

/* An instance has no files of its own: NVML reports its figures, and the power state of its card decides
 * whether NVML may be asked. */
void ald_gpu_live_prepare_instance(AldGpu *instance);
void ald_gpu_live_sample_instance(AldGpu *instance, const AldGpu *card, AldDevice *ret);

/* The row of a device, with the figures that may be read now. The strings are those of the device. */
void ald_gpu_live_sample(AldGpu *gpu, int64_t now_usec, AldDevice *ret);
