/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner-path.h"

/* Which compute devices of this node are to be measured now, computed from the state alone, as the paths are
 * (state/planner.h). */
typedef struct AldDeviceInput {
        uint64_t now_realtime; /* µs */
        size_t max;
        const char *const *avoid; /* Ids not to be measured now */
        size_t n_avoid;
} AldDeviceInput;

typedef struct AldDueDevice {
        const char *id; /* points into the record of Node1.Backends */
        AldDueReason reason;
        uint64_t since; /* maybe absent */
} AldDueDevice;

/* A device in use by more than this is left to those who work. */
#define ALD_DEVICE_USAGE_MAX_PERCENT 10.0

/*
 * The AldDueDevices, the most urgent first: those that an OpenCL platform shows and that are not in use as
 * far as Node1.System tells. One that sleeps is woken for its first measurement or a new driver, not to
 * repeat what is known. Only one is to be measured at a time.
 */
GArray *ald_planner_devices(AldStore *store, const AldDeviceInput *input);
