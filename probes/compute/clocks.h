/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "probes/compute/device.h"

/* Why a device runs slower than it could. */
typedef enum AldThrottle {
        ALD_THROTTLE_POWER = 1 << 0,    /* a limit of power or current */
        ALD_THROTTLE_THERMAL = 1 << 1,  /* too hot */
        ALD_THROTTLE_HARDWARE = 1 << 2, /* a brake from outside: power supply, PROCHOT */
        ALD_THROTTLE_SETTING = 1 << 3,  /* somebody set lower clocks */
} AldThrottle;

/* The reasons with blanks between; "" where there are none. */
void ald_throttle_to_string(unsigned reasons, char *ret, size_t size);

/* What a device is doing, as far as it is known. */
typedef struct AldClockReading {
        uint64_t hz;      /* of its compute units; 0: not known */
        unsigned reasons; /* AldThrottle, now or since the last reading */
} AldClockReading;

typedef struct AldClocks AldClocks;

/* The source for this device below the root ("/"): NVIDIA's library, or sysfs. Never NULL. */
AldClocks *ald_clocks_open(const char *root, const AldOpenclTarget *device);
void ald_clocks_close(AldClocks *clocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClocks, ald_clocks_close)

void ald_clocks_read(AldClocks *clocks, AldClockReading *ret);

/* How much the device is used, percent; negative if unknown. Of the last second at most. */
int ald_clocks_usage(AldClocks *clocks);

/* How many processes hold the device for computing, this one included if it does; negative where nothing
 * tells.
 */
int ald_clocks_processes(AldClocks *clocks);

/* Its own memory that is free, bytes; 0: not known. */
uint64_t ald_clocks_memory_free(AldClocks *clocks);

/* What its memory moves in theory, bytes a second; 0: not known. */
double ald_clocks_memory_peak(AldClocks *clocks);
