/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/opencl/device.h"

#define ALD_CPU_ID "cpu"

/* Queries all devices of all platforms, and returns an array that owns AldOpenclTargets without ids. */
int ald_devices_query(const AldCl *cl, GPtrArray **ret, AldFailure *failure);
GPtrArray *ald_devices_new(void);

/*
 * Sets the id of each device: "cpu", its PCI address, that of the only matching card (a list of AldCard), or
 * its name. Removes duplicates: devices shown by another platform than their vendor's, and parts of a device.
 * Sorts the devices, GPUs first.
 */
void ald_devices_match(GPtrArray *devices, const GPtrArray *cards);

/* Returns NULL if there is none. */
const AldOpenclTarget *ald_devices_find(const GPtrArray *devices, const char *id);

/* Finds the device that a user named. Also accepts a MIG instance such as "0000:01:00.0/1-0" if it is the
 * only instance that OpenCL shows at that address. */
int ald_devices_choose(
        const GPtrArray *devices, const char *id, const AldOpenclTarget **ret, AldFailure *failure);
