/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/column-table.h"
#include "clients/common/columns/node-columns.h"

typedef enum AldNodeTableKind {
        ALD_NODE_TABLE_LIST, /* for `nodes`: with addresses and ids */
        ALD_NODE_TABLE_LIVE, /* for `watch`: with a bar */
} AldNodeTableKind;

/* Chooses the columns of --columns= on the command line, else the usual ones of this kind; see
 * ald_column_table_choose(). */
int ald_node_table_choose(const AldCtl *ctl, AldNodeTableKind kind, AldColumnChoice *choice);

/* Returns an AldNodeRow for each of n nodes of the model, from the first on, in its order. */
GArray *ald_node_table_rows(AldModel *model, guint first, guint n, double now_usec);

/* Returns the AldNodeDevices that have a row below their node: its GPUs and accelerators, and their
 * instances. */
GArray *ald_node_table_devices(const AldEntity *node);

/* Adds the rows of these devices. */
void ald_node_table_add_devices(AldTable *table, const AldColumnChoice *choice, const AldNodeRow *row);
