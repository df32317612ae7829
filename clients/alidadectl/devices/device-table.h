/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/column-table.h"
#include "clients/common/columns/device-rows.h"

/* Chooses the columns of --columns= on the command line, else the usual ones; see
 * ald_column_table_choose(). */
int ald_device_table_choose(const AldCtl *ctl, AldColumnChoice *choice);

/* Returns the AldDeviceRows of these nodes, in their order, and how many devices have no row because their
 * node has too many. */
GArray *ald_device_table_rows(
        AldModel *model, const GPtrArray *nodes, double now_usec, guint *ret_n_unlisted);

/* Adds a row for each holder of the device, below it. */
void ald_device_table_add_holders(AldTable *table, const AldColumnChoice *choice, const AldDeviceRow *row);
