/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-live.h"
#include "services/telemetry/host/kept-file.h"

#define USEC_PER_MSEC 1000
#define PAUSE_MARGIN_USEC (INT64_C(5) * 1000 * 1000)
#define PAUSE_MAX_USEC (INT64_C(60) * 1000 * 1000)

/* Starts to follow the power state of a device; `device` is its directory in sysfs. */
static void gpu_power_init(AldGpuPower *power, int root, const char *device)
{
        g_autofree char *status = g_strdup_printf("%s/power/runtime_status", device);

        *power = (AldGpuPower){ .root = root, .folder = g_strdup_printf("%s/power", device) };
        power->has_status = ald_sysroot_exists(root, status);
        if (power->has_status)
                ald_kept_file_init(&power->status, root, status);
}

static void gpu_power_clear(AldGpuPower *power)
{
        if (power->has_status)
                ald_kept_file_clear(&power->status);
        g_clear_pointer(&power->folder, g_free);
}

static AldGpuPowerState read_status(AldGpuPower *power)
{
        char text[32];

        if (!power->has_status || ald_kept_file_read(&power->status, text, sizeof text) < 0)
                return ALD_GPU_POWER_UNKNOWN;
        g_strstrip(text);
        if (g_str_equal(text, "suspended") || g_str_equal(text, "suspending"))
                return ALD_GPU_POWER_ASLEEP;
        if (g_str_equal(text, "resuming"))
                return ALD_GPU_POWER_CHANGING;
        return g_str_equal(text, "active") ? ALD_GPU_POWER_AWAKE : ALD_GPU_POWER_UNKNOWN;
}

/* Returns the current state. */
static AldGpuPowerState gpu_power_state(AldGpuPower *power, int64_t now_usec)
{
        AldGpuPowerState state = read_status(power);

        if (state == ALD_GPU_POWER_ASLEEP || state == ALD_GPU_POWER_CHANGING) {
                power->idle_since = power->pause_until = power->next_pause = 0;
                return state;
        }
        return now_usec < power->pause_until ? ALD_GPU_POWER_PAUSED : state;
}

static bool may_suspend(const AldGpuPower *power)
{
        g_autofree char *path = g_strdup_printf("%s/control", power->folder), *control = NULL;

        return power->has_status && ald_sysroot_read_string(power->root, path, &control) >= 0 &&
               g_str_equal(control, "auto");
}

static int64_t pause_usec(const AldGpuPower *power)
{
        g_autofree char *path = g_strdup_printf("%s/autosuspend_delay_ms", power->folder);
        int64_t delay;

        if (ald_sysroot_read_int64(power->root, path, &delay) < 0 || delay < 0)
                delay = 0;
        delay = MIN(delay, PAUSE_MAX_USEC / USEC_PER_MSEC) * USEC_PER_MSEC;
        return MIN(delay + PAUSE_MARGIN_USEC, PAUSE_MAX_USEC);
}

static void gpu_power_note_use(AldGpuPower *power, bool is_used, int64_t now_usec)
{
        if (is_used) {
                power->idle_since = 0;
                return;
        }
        if (power->idle_since == 0)
                power->idle_since = now_usec;
        if (now_usec - power->idle_since < ALD_GPU_IDLE_USEC || now_usec < power->next_pause)
                return;
        if (!may_suspend(power)) {
                /* It is checked again after the time that counts as idle. */
                power->idle_since = now_usec;
                return;
        }
        power->pause_until = now_usec + pause_usec(power);
        power->next_pause = now_usec + ALD_GPU_PAUSE_EVERY_USEC;
}

void ald_gpu_live_prepare(int root, AldGpu *gpu)
{
        g_autoptr(AldGpuReader) reader = NULL;

        if (!gpu->path)
                return;
        reader = ald_gpu_reader_new(root, gpu);
        if (!gpu->live) {
                gpu->live = g_new0(AldGpuLive, 1);
                gpu->live->nvml = (AldDevice) ALD_DEVICE_INIT;
                gpu_power_init(&gpu->live->power, root, gpu->path);
        }
        /* The old reader knows which of its files were already logged as unreadable. */
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
        gpu_power_clear(&live->power);
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

bool ald_gpu_live_is_due(const AldGpuLive *live, int64_t now_usec)
{
        return live->is_held || live->asked_usec == 0 ||
               now_usec - live->asked_usec >= ALD_NVML_IDLE_EVERY_USEC;
}

/* Returns the figures of NVML, unless they are too old because the driver did not answer in time. */
static AldDevice nvml_figures(AldGpuLive *live, int64_t now_usec)
{
        if (live->nvml_is_new)
                live->shown_usec = now_usec;
        live->nvml_is_new = false;
        if (now_usec - live->shown_usec > ALD_NVML_IDLE_EVERY_USEC)
                live->nvml = (AldDevice) ALD_DEVICE_INIT;
        return live->nvml;
}

void ald_gpu_live_sample_instance(AldGpu *instance, const AldGpu *card, int64_t now_usec, AldDevice *ret)
{
        AldGpuLive *live = instance->live;

        live->state = card->live->state;
        *ret = ald_gpu_power_may_read(live->state) ? nvml_figures(live, now_usec)
                                                   : (AldDevice) ALD_DEVICE_INIT;
        ret->id = instance->id;
        ret->power_state = name_state(live->state);
}

/* Drops figures of 0. For a Tegra, NVML succeeds with 0 for everything that it does not know. */
static void drop_zeros(AldDevice *figures)
{
        if (!(figures->usage > 0))
                figures->usage = ALD_ABSENT_DOUBLE;
        if (figures->memory_used_bytes == 0)
                figures->memory_used_bytes = ALD_ABSENT_UINT64;
        if (figures->compute_processes == 0)
                figures->compute_processes = ALD_ABSENT_UINT64;
        if (figures->temperature_milli_celsius == 0)
                figures->temperature_milli_celsius = ALD_ABSENT_INT64;
        if (figures->power_micro_watts == 0)
                figures->power_micro_watts = ALD_ABSENT_UINT64;
        if (figures->clock_hz == 0)
                figures->clock_hz = ALD_ABSENT_UINT64;
        if (figures->power_limit_micro_watts == 0)
                figures->power_limit_micro_watts = ALD_ABSENT_UINT64;
        if (figures->energy_micro_joules == 0)
                figures->energy_micro_joules = ALD_ABSENT_UINT64;
        if (!(figures->fan_percent > 0))
                figures->fan_percent = ALD_ABSENT_DOUBLE;
        if (figures->memory_temperature_milli_celsius == 0)
                figures->memory_temperature_milli_celsius = ALD_ABSENT_INT64;
        if (figures->memory_clock_hz == 0)
                figures->memory_clock_hz = ALD_ABSENT_UINT64;
        if (figures->throttled == 0)
                figures->throttled = ALD_ABSENT_BOOLEAN;
        if (!(figures->encoder_usage > 0))
                figures->encoder_usage = ALD_ABSENT_DOUBLE;
        if (!(figures->decoder_usage > 0))
                figures->decoder_usage = ALD_ABSENT_DOUBLE;
}

/* Combines the figures of sysfs and NVML. NVML takes precedence for a card, and sysfs for a device within a
 * system on chip. */
static void read_figures(AldGpu *gpu, int64_t now_usec, AldDevice *ret)
{
        AldDevice nvml = nvml_figures(gpu->live, now_usec);

        if (gpu->pci_vendor != 0) {
                ald_gpu_reader_read(gpu->live->reader, now_usec, ret);
                ald_struct_overlay(&ald_device_struct, ret, &nvml);
                return;
        }
        drop_zeros(&nvml);
        ald_struct_overlay(&ald_device_struct, ret, &nvml);
        ald_gpu_reader_read(gpu->live->reader, now_usec, ret);
}

void ald_gpu_live_sample(AldGpu *gpu, int64_t now_usec, AldDevice *ret)
{
        static const AldDevice unknown = ALD_DEVICE_INIT;
        AldGpuLive *live = gpu->live;

        *ret = unknown;
        live->state = gpu_power_state(&live->power, now_usec);
        if (ald_gpu_power_may_read(live->state)) {
                read_figures(gpu, now_usec, ret);
        } else {
                live->nvml = unknown;
                live->asked_usec = 0;
        }
        ret->id = gpu->id;
        ret->power_state = name_state(live->state);
}

void ald_gpu_live_note_usage(AldGpuLive *live, double usage, int64_t now_usec)
{
        if (ald_gpu_power_may_read(live->state))
                gpu_power_note_use(&live->power, usage > 0 || (isnan(usage) && live->has_work), now_usec);
}
