/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Which DRM and accel devices this machine has. `root` is as in services/common/sysroot.h. */

/* Returns whether there is one whose driver says in fdinfo who uses it; NVIDIA's does not. */
bool ald_drm_device_any(int root);

/* Returns whether there is one with this name, as in drm-fdinfo.h. */
bool ald_drm_device_exists(int root, const char *name);
