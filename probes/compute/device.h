/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/compute/cl.h"

typedef enum AldDeviceType {
        ALD_DEVICE_GPU,
        ALD_DEVICE_ACCELERATOR,
        ALD_DEVICE_CPU,
} AldDeviceType;

const char *ald_device_type_to_string(AldDeviceType type);

/* By the vendor's id on PCI or its name; whose kernels may run. */
typedef enum AldVendor {
        ALD_VENDOR_OTHER,
        ALD_VENDOR_NVIDIA,
        ALD_VENDOR_AMD,
        ALD_VENDOR_INTEL,
        ALD_VENDOR_CPU, /* any processor, by whomever */
} AldVendor;

/* What a device says of itself. A text that it does not tell is "", a number 0. */
typedef struct AldDevice {
        cl_platform_id platform; /* NULL where another process asked it */
        cl_device_id handle;
        char *id; /* as in org.alidade.Node1.Backends; NULL before ald_devices_match() */
        char *name, *vendor_name, *platform_name, *driver_version, *device_version;
        char *pci, *uuid;       /* NULL where not told */
        char *extensions;       /* with a blank at both ends */
        char *gfx;              /* AMD: "gfx942"; "" elsewhere */
        char *drivers;          /* the folder to load its driver from; NULL: the usual one */
        unsigned ordinal;       /* in what its drivers list */
        unsigned platform_rank; /* more is nearer to the vendor of the device */
        AldDeviceType type;
        AldVendor vendor;
        unsigned vendor_id;          /* on PCI, mostly */
        unsigned nv_major, nv_minor; /* compute capability */
        unsigned compute_units, clock_mhz, float_width;
        size_t work_group_max;
        uint64_t memory_bytes, allocation_max, local_bytes, cache_bytes;
        bool has_fp16, unified;
        bool has_siblings; /* other MIG instances have its address; not known before ald_devices_match() */
} AldDevice;

/* Asks the device. */
AldDevice *ald_device_new(const AldCl *cl, cl_platform_id platform, cl_device_id device);
void ald_device_free(AldDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDevice, ald_device_free)

/* Whether a text is an address as "0000:01:00.0". */
bool ald_device_is_address(const char *text);

/* Whether it is a MIG instance of a card, by its name. */
bool ald_device_is_instance(const AldDevice *device);

/* Whether it has an extension of this whole name. */
bool ald_device_has(const AldDevice *device, const char *extension);
