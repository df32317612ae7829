/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/state/topology-watch.h"

/* Appends the result of GetTopology() for these two arguments or, with `of_pairs`, the result of
 * GetPairs(). */
int ald_topology_bus_append(sd_bus_message *message, AldTopologyWatch *topology, bool of_pairs,
        uint64_t since, uint64_t after, size_t *ret_bytes);
