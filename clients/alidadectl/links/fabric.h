/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* What GetFabric() returns: AldPortRow and AldSegmentRow. */
typedef struct AldFabricReply {
        AldRows ports;
        AldRows segments;
} AldFabricReply;

/* Appends a table of the ports, those known by LLDP last, each with its neighbours or the reason why it
 * cannot be used; nothing if there are none. Only ports of `node` unless it is NULL. */
void ald_fabric_append(
        GString *out, AldModel *model, const AldFabricReply *rows, const AldEntity *node, unsigned columns);
