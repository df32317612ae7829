/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/device.h"

/* The PCI address of the device, such as "0000:01:00.0", and its UUID; NULL if unknown. */
char *ald_opencl_target_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device);
char *ald_opencl_target_uuid(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device);
