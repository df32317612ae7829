/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-power.h"

#include <glib.h>

#include "services/common/sysroot.h"

#define USEC_PER_MSEC 1000
#define PEACE_MARGIN_USEC (INT64_C(5) * 1000 * 1000)
#define PEACE_MAX_USEC (INT64_C(60) * 1000 * 1000)

void ald_gpu_power_init(AldGpuPower *power, int root, const char *device)
{
        g_autofree char *status = g_strdup_printf("%s/power/runtime_status", device);

        *power = (AldGpuPower){ .root = root, .folder = g_strdup_printf("%s/power", device) };
        power->has_status = ald_sysroot_exists(root, status);
        if (power->has_status)
                ald_kept_file_init(&power->status, root, status);
}

void ald_gpu_power_clear(AldGpuPower *power)
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

AldGpuPowerState ald_gpu_power_look(AldGpuPower *power, int64_t now_usec)
{
        AldGpuPowerState state = read_status(power);

        if (state == ALD_GPU_POWER_ASLEEP || state == ALD_GPU_POWER_CHANGING) {
                power->idle_since = power->peace_until = power->next_peace = 0;
                return state;
        }
        return now_usec < power->peace_until ? ALD_GPU_POWER_IN_PEACE : state;
}

static bool may_suspend(const AldGpuPower *power)
{
        g_autofree char *path = g_strdup_printf("%s/control", power->folder), *control = NULL;

        return power->has_status && ald_sysroot_read_string(power->root, path, &control) >= 0 &&
               g_str_equal(control, "auto");
}

static int64_t peace_usec(const AldGpuPower *power)
{
        g_autofree char *path = g_strdup_printf("%s/autosuspend_delay_ms", power->folder);
        int64_t delay;

        if (ald_sysroot_read_int64(power->root, path, &delay) < 0 || delay < 0)
                delay = 0;
        delay = MIN(delay, PEACE_MAX_USEC / USEC_PER_MSEC) * USEC_PER_MSEC;
        return MIN(delay + PEACE_MARGIN_USEC, PEACE_MAX_USEC);
}

void ald_gpu_power_note_usage(AldGpuPower *power, double usage, int64_t now_usec)
{
        if (usage > 0) {
                power->idle_since = 0;
                return;
        }
        if (power->idle_since == 0)
                power->idle_since = now_usec;
        if (now_usec - power->idle_since < ALD_GPU_IDLE_USEC || now_usec < power->next_peace)
                return;
        if (!may_suspend(power)) {
                /* Checked again after the time that counts as idle. */
                power->idle_since = now_usec;
                return;
        }
        power->peace_until = now_usec + peace_usec(power);
        power->next_peace = now_usec + ALD_GPU_PEACE_EVERY_USEC;
}
