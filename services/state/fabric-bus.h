/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state/store/store.h"

/* Appends the reply of GetFabric(), for one node or, if that is NULL, for all; -E2BIG if it would be too
 * large. */
int ald_fabric_bus_append(sd_bus_message *message, AldStore *store, const AldNode *only, size_t *ret_bytes);
