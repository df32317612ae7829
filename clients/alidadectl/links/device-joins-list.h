/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"
#include "state-client/topology.h"

/* Lists what joins the compute devices of a node to its host and to each other, with one line for both
 * directions. now_usec is CLOCK_REALTIME. */
void ald_device_joins_list(
        GString *out, const AldEntity *node, const AldTopology *topology, unsigned columns, double now_usec);
