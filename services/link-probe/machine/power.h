/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The power supply of the machine, and the time at which it last resumed. */

/* Returns whether the machine runs on a battery alone, according to sys/class/power_supply below the root. */
bool ald_power_read_battery(int root);

/* Detects a suspend: CLOCK_BOOTTIME counts it, CLOCK_MONOTONIC does not. */
typedef struct AldResume {
        uint64_t asleep;  /* µs in total */
        uint64_t resumed; /* CLOCK_MONOTONIC in µs; 0: never */
        bool known;
} AldResume;

/* Updates the state and returns whether the machine resumed less than ALD_RESUME_USEC ago. Both clocks are in
 * µs. */
bool ald_resume_note(AldResume *resume, uint64_t boottime, uint64_t monotonic);

#define ALD_RESUME_USEC (UINT64_C(120) * 1000 * 1000)
