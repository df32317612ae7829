/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Returns the path of the device's hwmon chip, freed by the caller, or NULL. */
char *ald_gpu_hwmon_path(int root, const char *device);
