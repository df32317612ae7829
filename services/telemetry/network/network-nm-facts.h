/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network/network-merge.h"

/* Appends the facts of libnm's devices (NMDevice): an AldManagedDevice for each, and AldNeighbours without
 * Ids. All strings belong to libnm. */
void ald_network_nm_facts(const GPtrArray *devices, GArray *ret_devices, GArray *ret_neighbours);
