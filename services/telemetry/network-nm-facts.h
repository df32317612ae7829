/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network-merge.h"

/* Appends what libnm's devices (NMDevice) tell: AldManagedDevice each, and AldNeighbour without Ids. All
 * strings are those of libnm. */
void ald_network_nm_facts(const GPtrArray *devices, GArray *ret_devices, GArray *ret_neighbours);
