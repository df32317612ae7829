/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/desktop/tables/table-column.h"

/* Adds an action to a menu, with a target (floating, or NULL). The label is already translated, and shown
 * literally. */
void ald_menu_add(GMenu *menu, const char *label, const char *action, GVariant *target);

/* Creates a menu with an item for each column, with the action "table.sort" and the id of the column. */
GMenuModel *ald_sort_menu_new(const AldDataColumn *columns, unsigned n_columns);

/* Creates a menu with an item for each column but the first, with the action "column.ID". */
GMenuModel *ald_column_menu_new(const AldDataColumn *columns, unsigned n_columns);
