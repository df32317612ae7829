/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state/store.h"

/* Appends what GetFabric() tells, of one node or, where that is NULL, of all; -E2BIG where it would be too
 * much. */
int ald_fabric_bus_append(sd_bus_message *message, AldStore *store, const AldNode *only, size_t *ret_bytes);
