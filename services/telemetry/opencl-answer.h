/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#include "record/schema.h"

/* What the helper alidade-opencl-list answered, checked. */

#define ALD_OPENCL_PLATFORMS_MAX 16u
#define ALD_OPENCL_DEVICES_MAX 64u

typedef struct AldOpenclDevice {
        char *platform;
        char *platform_vendor;
        char *name; /* of the board, where that is told */
        char *vendor;
        char *driver_version;
        char *pci; /* as the kernel writes it */
        uint64_t vendor_id;
        uint64_t memory_total_bytes;
        int unified;
        AldBackendClass class;
} AldOpenclDevice;

/* A list of AldOpenclDevice, in the order in which the platforms were told. -EBADMSG where it is no answer.
 */
int ald_opencl_answer_parse(const char *text, size_t length, GPtrArray **ret);
