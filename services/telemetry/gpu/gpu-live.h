/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-drm.h"
#include "services/telemetry/host/kept-file.h"

/*
 * Decides when a device may be read, so that reading neither wakes it nor keeps it awake.
 *
 * A driver counts reading as use. A device that may be suspended at run time (power/control is "auto") and
 * has been idle for ALD_GPU_IDLE_USEC is therefore not read for longer than its autosuspend delay. If it is
 * still active then, something else keeps it active, and it is read for the next ALD_GPU_PAUSE_EVERY_USEC
 * regardless of its usage.
 */
#define ALD_GPU_IDLE_USEC (INT64_C(10) * 1000 * 1000)
#define ALD_GPU_PAUSE_EVERY_USEC (INT64_C(300) * 1000 * 1000)

/* NVML is asked this often about a device that nothing holds; about another one, with each sample. Its
 * figures are shown no longer than this. */
#define ALD_NVML_IDLE_EVERY_USEC (INT64_C(10) * 1000 * 1000)

typedef enum AldGpuPowerState {
        ALD_GPU_POWER_UNKNOWN,  /* no power management is shown; may be read */
        ALD_GPU_POWER_AWAKE,    /* may be read */
        ALD_GPU_POWER_PAUSED,   /* awake, but must not be read now */
        ALD_GPU_POWER_CHANGING, /* suspending or resuming; reading would block until it is done */
        ALD_GPU_POWER_ASLEEP,
} AldGpuPowerState;

typedef struct AldGpuPower {
        int root;
        char *folder;
        AldKeptFile status;
        bool has_status;
        int64_t idle_since; /* 0 while it is busy or unknown */
        int64_t pause_until;
        int64_t next_pause;
} AldGpuPower;

static inline bool ald_gpu_power_may_read(AldGpuPowerState state)
{
        return state == ALD_GPU_POWER_UNKNOWN || state == ALD_GPU_POWER_AWAKE;
}

/* The readers of the figures of one device, and their state. */
struct AldGpuLive {
        AldGpuReader *reader;
        AldGpuPower power;
        AldGpuPowerState state; /* at the last sample */
        AldDevice nvml;         /* the last figures from NVML */
        bool nvml_is_new;       /* they were not shown yet */
        bool is_held;           /* at the last answer of NVML, a process held the device, or used it */
        bool has_work;          /* at the last look, a holder worked on it */
        int64_t shown_usec;     /* when they were first shown */
        int64_t asked_usec;     /* when NVML was last asked; 0 if it is to be asked at once */
};

/* Returns whether NVML is to be asked about the device now, if it may be read. */
bool ald_gpu_live_is_due(const AldGpuLive *live, int64_t now_usec);

/* Creates the readers of the device, or makes existing ones look for their files again. */
void ald_gpu_live_prepare(int root, AldGpu *gpu);
void ald_gpu_live_free(AldGpuLive *live);

/* These are for an instance, which has no files of its own: NVML reports its figures, and the power state of
 * its card decides whether NVML may be queried. */
void ald_gpu_live_prepare_instance(AldGpu *instance);
void ald_gpu_live_sample_instance(AldGpu *instance, const AldGpu *card, int64_t now_usec, AldDevice *ret);

/* Fills in the row of a device, with the figures that may be read now. The strings belong to the device. */
void ald_gpu_live_sample(AldGpu *gpu, int64_t now_usec, AldDevice *ret);

/* Takes the usage of a device after a sample, from whatever source, since it decides when the device may
 * rest. Where it is absent, a holder that works counts as usage. */
void ald_gpu_live_note_usage(AldGpuLive *live, double usage, int64_t now_usec);
