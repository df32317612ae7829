/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"

/* The chassis type as named by hostname1, or NULL. Owned by `tree` or static. */
const char *ald_chassis_detect(int root, bool is_virtual, const AldDmi *dmi, const AldDeviceTree *tree);
