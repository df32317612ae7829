/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

/*
 * {"platforms":[{"name":…,"vendor":…,"devices":[{"name":…,"type":…,"pci":"0000:01:00.0",…}]}]}: what the
 * OpenCL library of this machine, loaded at run time, tells; no platform where there is no library.
 */
json_t *ald_opencl_list(void);
