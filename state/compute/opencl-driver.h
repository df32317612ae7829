/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Devices are measured through OpenCL, so those that it does not show have no figures until a driver of it is
 * installed. */

/* Returns the Debian package with an OpenCL driver for such a device, by its class, vendor and kernel driver,
 * as a static string; NULL if none is known. */
const char *ald_opencl_package(const AldBackend *device);

/*
 * Returns whether OpenCL was queried and does not show the device, although an installed driver might: it is
 * not split into instances, and the kernel can use it.
 */
bool ald_opencl_is_missing(const AldBackends *backends, const AldBackend *device);

/*
 * Returns the packages with the drivers that a node lacks for measurements, each once, in the order of its
 * devices: the packages for its GPUs and accelerators, or the one for its processor if OpenCL shows none of
 * the former and no package for one is known. The strings are static, the array is new, and empty if none is
 * missing or known. `backends` may be NULL.
 */
GPtrArray *ald_opencl_missing_packages(const AldBackends *backends);
