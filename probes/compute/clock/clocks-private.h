/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/compute/clock/clocks.h"

/* A source; unsupported functions are NULL. */
typedef struct AldClockSource {
        void (*close)(void *data);
        void (*read)(void *data, AldClockReading *ret);
        int (*usage)(void *data);
        double (*memory_peak)(void *data);
        uint64_t (*power_limit)(void *data);
        int (*processes)(void *data);
        uint64_t (*memory_free)(void *data);
} AldClockSource;

/* The sources. Each function below returns the data of a source, or NULL if it does not know the device. */
extern const AldClockSource ald_clocks_nvml, ald_clocks_sysfs, ald_clocks_cpu;
void *ald_clocks_nvml_open(const AldOpenclTarget *device);
void *ald_clocks_sysfs_open(const char *root, const AldOpenclTarget *device);
void *ald_clocks_cpu_open(const char *root);
