/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* Sorts by one column. Keeps the numbers, and the sort keys of texts, since making them takes longer than
 * sorting. */
#define ALD_TYPE_COLUMN_SORTER (ald_column_sorter_get_type())
G_DECLARE_FINAL_TYPE(AldColumnSorter, ald_column_sorter, ALD, COLUMN_SORTER, GtkSorter)

AldColumnSorter *ald_column_sorter_new(const AldDataColumn *column, AldLiveCluster *cluster);

const AldDataColumn *ald_column_sorter_column(AldColumnSorter *sorter);

/* Returns the direction that ald_column_sorter_find() has seen. */
bool ald_column_sorter_is_descending(AldColumnSorter *sorter);

/* Call this when items have gone, which the sorter would otherwise keep in memory. */
void ald_column_sorter_forget(AldColumnSorter *sorter);

/* Call this after values have changed, before they are compared again. Does not sort yet. */
void ald_column_sorter_expire(AldColumnSorter *sorter);

/*
 * Returns the sorter of the column by which a view is sorted, or NULL, and notes the direction in it.
 * `sorter` is the one of the view. Call this before the view sorts in another way.
 */
AldColumnSorter *ald_column_sorter_find(GtkSorter *sorter);
