/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/compute/opencl/cl.h"
#include "record/record.h"

/* The vendor of a device, by its PCI id or name, which determines the kernels. */
typedef enum AldVendor {
        ALD_VENDOR_OTHER,
        ALD_VENDOR_NVIDIA,
        ALD_VENDOR_AMD,
        ALD_VENDOR_INTEL,
        ALD_VENDOR_CPU, /* any processor, of any vendor */
} AldVendor;

/* A device as OpenCL shows it. In `listed`, an unknown name, platform, vendor or version is "". */
typedef struct AldOpenclTarget {
        AldListedDevice listed;   /* its id is NULL before ald_devices_match() */
        AldListedDeviceType type; /* the same as listed.type */
        cl_platform_id
                platform; /* NULL if another process listed the device, like all below that OpenCL reports */
        cl_device_id handle;
        char *device_version;
        char *extensions; /* with a space at both ends */
        char *gfx;        /* "gfx942" for AMD; "" for others */
        char *drivers;    /* the folder to load its driver from; NULL for the default */
        unsigned ordinal; /* its index in the list of its drivers */
        AldVendor vendor;
        unsigned nv_major, nv_minor; /* compute capability */
        unsigned float_width;
        uint64_t allocation_max, cache_bytes; /* 0 if unknown */
        bool has_fp16;
        bool has_siblings; /* other MIG instances have its address; set by ald_devices_match() */
        GPtrArray *texts;  /* texts that it owns */
        AldRecord *list;   /* the record from which it borrows the other texts, or NULL */
} AldOpenclTarget;

/* Queries the device. Unknown numbers in `listed` are 0. */
AldOpenclTarget *ald_opencl_target_new(const AldCl *cl, cl_platform_id platform, cl_device_id device);
/* Returns a device that another process listed, from row i of a record of Message1.DeviceList. */
AldOpenclTarget *ald_opencl_target_of_list(AldRecord *list, size_t i);
void ald_opencl_target_free(AldOpenclTarget *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOpenclTarget, ald_opencl_target_free)

/* Takes ownership of a text, which may be NULL, and returns it; it is freed with the device. */
const char *ald_opencl_target_take(AldOpenclTarget *device, char *text);

/* Returns whether a text is an address such as "0000:01:00.0". */
bool ald_opencl_target_is_address(const char *text);

/* Returns whether the name is that of a MIG instance. */
bool ald_opencl_target_is_instance(const AldOpenclTarget *device);

/* Returns whether the device has the extension with exactly this name. */
bool ald_opencl_target_has_extension(const AldOpenclTarget *device, const char *extension);
