/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/identity/device-tree.h"
#include "services/identity/dmi.h"

/* The kind of machine in the words of hostname1, or NULL. It belongs to `tree` or is constant. */
const char *ald_chassis_detect(int root, bool is_virtual, const AldDmi *dmi, const AldDeviceTree *tree);
