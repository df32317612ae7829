/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "record/schema.h"

/* The active NVLink links of one device that lead to the same other device, or to any NVSwitch. */
typedef struct AldGpuNvlinks {
        char peer[32]; /* PCI address, or "" for the switches */
        uint64_t n;
        uint64_t bits_per_second; /* the sum, in each direction; absent if the speed of one is unknown */
} AldGpuNvlinks;

/* Returns the links of a device (AldGpuNvlinks) in an answer, which is not trusted. Links to neither a PCI
 * address nor a switch are left out, and so are links beyond ALD_NVML_LINKS_MAX. */
GArray *ald_gpu_nvlinks_new(const AldNvmlAnswer *answer, const char *device);

/* Returns whether both have the same links; NULL equals only NULL. */
bool ald_gpu_nvlinks_equal(const GArray *a, const GArray *b);

/* Returns the links to a peer ("" for the switches), or NULL. The array may be NULL. */
const AldGpuNvlinks *ald_gpu_nvlinks_to(const GArray *nvlinks, const char *peer);
