/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/compute/cl.h"
#include "record/record.h"

/* By the vendor's id on PCI or its name; whose kernels may run. */
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
                platform; /* NULL if another process asked it, like all below but drivers and ordinal */
        cl_device_id handle;
        char *device_version;
        char *extensions; /* with a blank at both ends */
        char *gfx;        /* AMD: "gfx942"; "" elsewhere */
        char *drivers;    /* the folder to load its driver from; NULL: the usual one */
        unsigned ordinal; /* in what its drivers list */
        AldVendor vendor;
        unsigned nv_major, nv_minor; /* compute capability */
        unsigned clock_mhz, float_width;
        size_t work_group_max;
        uint64_t allocation_max, local_bytes, cache_bytes; /* 0 if unknown */
        bool has_fp16;
        bool has_siblings; /* other MIG instances have its address; unknown before ald_devices_match() */
        GPtrArray *texts;  /* of its own */
        AldRecord *list;   /* of which it borrows the other texts, or NULL */
} AldOpenclTarget;

/* Asks the device. Numbers in `listed` that it does not know are 0. */
AldOpenclTarget *ald_opencl_target_new(const AldCl *cl, cl_platform_id platform, cl_device_id device);
/* One that another process listed: row i of a record of Message1.DeviceList. */
AldOpenclTarget *ald_opencl_target_of_list(AldRecord *list, size_t i);
void ald_opencl_target_free(AldOpenclTarget *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOpenclTarget, ald_opencl_target_free)

/* Takes a text, which may be NULL, and frees it with the device. Returns it. */
const char *ald_opencl_target_take(AldOpenclTarget *device, char *text);

/* Whether a text is an address as "0000:01:00.0". */
bool ald_opencl_target_is_address(const char *text);

/* Whether it is a MIG instance of a card, by its name. */
bool ald_opencl_target_is_instance(const AldOpenclTarget *device);

/* Whether it has an extension of this whole name. */
bool ald_opencl_target_has(const AldOpenclTarget *device, const char *extension);
