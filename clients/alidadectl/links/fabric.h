/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* What GetFabric() returns: AldPortRow and AldSegmentRow. */
typedef struct AldFabricReply {
        AldRows ports;
        AldRows segments;
} AldFabricReply;

/* Appends a table of the ports, those of LLDP behind the others, each with its neighbours or why it cannot be
 * used; nothing where there are none. Only ports of this node where it is not NULL. */
void ald_fabric_append(
        GString *out, AldModel *model, const AldFabricReply *rows, const AldEntity *node, unsigned columns);
