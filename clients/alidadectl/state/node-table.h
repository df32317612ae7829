/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/table.h"
#include "state-client/model.h"

#define ALD_NODE_TABLE_COLUMNS_MAX 16

typedef enum AldNodeTableKind {
        ALD_NODE_TABLE_LIST, /* for `nodes`: with addresses and ids */
        ALD_NODE_TABLE_LIVE, /* for `watch`: with a bar; widths do not follow the values */
} AldNodeTableKind;

AldTable *ald_node_table_new(AldNodeTableKind kind);

/* Adds the row of a node. For a node that does not count (see ald_node_exclusion()), free memory, load,
 * temperature and power are left out, since they are outdated. */
void ald_node_table_add(
        AldTable *table, AldNodeTableKind kind, AldModel *model, const AldEntity *node, double now_usec);

/* Adds a row for each GPU and accelerator of a node, with columns that match those of the node. */
void ald_node_table_add_devices(
        AldTable *table, AldNodeTableKind kind, AldModel *model, const AldEntity *node);
