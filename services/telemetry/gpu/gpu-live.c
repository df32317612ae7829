/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-live.h"

void ald_gpu_live_prepare(int root, AldGpu *gpu)
{
        g_autoptr(AldGpuReader) reader = NULL;

        if (!gpu->path)
                return;
        reader = ald_gpu_reader_new(root, gpu);
        if (!gpu->live) {
                gpu->live = g_new0(AldGpuLive, 1);
                gpu->live->nvml = (AldDevice) ALD_DEVICE_INIT;
                ald_gpu_power_init(&gpu->live->power, root, gpu->path);
        }
        /* The old one knows which of its files were complained about. */
        if (gpu->live->reader && ald_gpu_reader_same(reader, gpu->live->reader))
                return;
        ald_gpu_reader_free(gpu->live->reader);
        gpu->live->reader = g_steal_pointer(&reader);
}

void ald_gpu_live_prepare_instance(AldGpu *instance)
{
        instance->live = g_new0(AldGpuLive, 1);
        instance->live->nvml = (AldDevice) ALD_DEVICE_INIT;
}

void ald_gpu_live_free(AldGpuLive *live)
{
        if (!live)
                return;
        ald_gpu_reader_free(live->reader);
        ald_gpu_power_clear(&live->power);
        g_free(live);
}

static const char *name_state(AldGpuPowerState state)
{
        switch (state) {
        case ALD_GPU_POWER_ASLEEP:
                return ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ASLEEP);
        case ALD_GPU_POWER_UNKNOWN:
                return NULL;
        default:
                return ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ACTIVE);
        }
}

void ald_gpu_live_sample_instance(AldGpu *instance, const AldGpu *card, AldDevice *ret)
{
        AldGpuLive *live = instance->live;

        live->state = card->live->state;
        *ret = ald_gpu_power_may_read(live->state) ? live->nvml : (AldDevice) ALD_DEVICE_INIT;
        ret->id = instance->id;
        ret->power_state = name_state(live->state);
}

void ald_gpu_live_sample(AldGpu *gpu, int64_t now_usec, AldDevice *ret)
{
        static const AldDevice unknown = ALD_DEVICE_INIT;
        AldGpuLive *live = gpu->live;

        *ret = unknown;
        live->state = ald_gpu_power_look(&live->power, now_usec);
        if (ald_gpu_power_may_read(live->state)) {
                ald_gpu_reader_read(live->reader, now_usec, ret);
                ald_struct_overlay(&ald_device_struct, ret, &live->nvml);
                ald_gpu_power_note_usage(&live->power, ret->usage, now_usec);
        } else {
                live->nvml = unknown;
        }
        ret->id = gpu->id;
        ret->power_state = name_state(live->state);
}
