/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* The paths of the connection graph within a node, which join its compute devices to the host and to each
 * other. */

/* Calls func for each join that the node reports and whose devices it has. */
typedef void (*AldDeviceJoinFunc)(const AldDeviceJoin *join, void *userdata);
void ald_device_joins_foreach(const AldNode *node, AldDeviceJoinFunc func, void *userdata);

/* Returns whether the node has a figure of the join with this Id, or no probe measures it. */
bool ald_device_join_is_measured(const AldNode *node, const char *id);

/* Adds what the node reports of that join to its edge from the device to the peer, or back. Strings point
 * into its records. */
void ald_device_join_describe(const AldNode *node, const char *id, bool back, AldEdgeRow *row);
