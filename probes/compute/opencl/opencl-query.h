/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/compute/opencl/cl.h"

/* Queries a value of a fixed size of at most 64 bytes. Returns false if the device does not support the
 * query. */
bool ald_query(const AldCl *cl, cl_device_id device, cl_device_info what, void *ret, size_t size);

/* These return a number; 0 if unknown. */
cl_uint ald_query_uint(const AldCl *cl, cl_device_id device, cl_device_info what);
cl_ulong ald_query_ulong(const AldCl *cl, cl_device_id device, cl_device_info what);

/* These return a text, valid UTF-8 without surrounding white space; "" if it is unknown or too long. */
char *ald_query_text(const AldCl *cl, cl_device_id device, cl_device_info what);
char *ald_query_platform_text(const AldCl *cl, cl_platform_id platform, cl_platform_info what);
