/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "probes/compute/opencl/device.h"
#include "record/throttle.h"

/* Writes the reasons, separated by spaces; "" if there are none. */
void ald_throttle_to_string(unsigned reasons, char *ret, size_t size);

/* A reading of a device. */
typedef struct AldClockReading {
        uint64_t hz;      /* of its compute units; 0 if unknown */
        unsigned reasons; /* AldThrottle, now or since the last reading */
} AldClockReading;

typedef struct AldClocks AldClocks;

/* Opens the source for this device: NVIDIA's library, or sysfs below the root ("/"). Never returns NULL. */
AldClocks *ald_clocks_open(const char *root, const AldOpenclTarget *device);
void ald_clocks_close(AldClocks *clocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClocks, ald_clocks_close)

void ald_clocks_read(AldClocks *clocks, AldClockReading *ret);

/* Returns the usage of the device in percent, over the last second at most; negative if unknown. */
int ald_clocks_usage(AldClocks *clocks);

/* Returns the number of processes that hold the device for computing, including this one if it does; negative
 * if unknown. */
int ald_clocks_processes(AldClocks *clocks);

/* Returns the free dedicated memory in bytes; 0 if unknown. */
uint64_t ald_clocks_memory_free(AldClocks *clocks);

/* Returns the theoretical memory bandwidth in bytes per second; 0 if unknown. */
double ald_clocks_memory_peak(AldClocks *clocks);

/* Returns the power that the device may draw in microwatts; 0 if unknown. */
uint64_t ald_clocks_power_limit(AldClocks *clocks);
