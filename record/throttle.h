/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The reasons why a device runs slower than it could, which probes name while they measure (Node1.Compute),
 * and the telemetry service at any time (Node1.System). */
typedef enum AldThrottle {
        ALD_THROTTLE_POWER = 1 << 0,    /* a limit of power or current */
        ALD_THROTTLE_THERMAL = 1 << 1,  /* too hot */
        ALD_THROTTLE_HARDWARE = 1 << 2, /* external throttling: power supply, PROCHOT */
        ALD_THROTTLE_SETTING = 1 << 3,  /* lower clocks were configured */
} AldThrottle;

/* Returns the words for these reasons, which are static; the list ends with NULL. */
const char *const *ald_throttle_words(unsigned reasons);

/* Returns the reasons that these words name, of which NULL is none; unknown words are ignored. */
unsigned ald_throttle_from_words(const char *const *words);

/* Each of these returns the reasons in what a driver reports; what is unknown, or limits nothing, is ignored:
 * the bits of nvmlClocksEventReasons; the name of a file of i915 or xe that holds 1; and the bits of
 * indep_throttle_status, which amdgpu shows in gpu_metrics. */
unsigned ald_throttle_from_nvml(uint64_t bits);
unsigned ald_throttle_from_intel(const char *name);
unsigned ald_throttle_from_amdgpu(uint64_t bits);
