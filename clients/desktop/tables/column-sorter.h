/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* Sorts by one column. Numbers and keys of texts are kept, since making them takes longer than sorting. */
#define ALD_TYPE_COLUMN_SORTER (ald_column_sorter_get_type())
G_DECLARE_FINAL_TYPE(AldColumnSorter, ald_column_sorter, ALD, COLUMN_SORTER, GtkSorter)

AldColumnSorter *ald_column_sorter_new(const AldDataColumn *column, AldLiveCluster *cluster);

const AldDataColumn *ald_column_sorter_column(AldColumnSorter *sorter);

/* In the direction that ald_column_sorter_find() has seen. */
bool ald_column_sorter_is_descending(AldColumnSorter *sorter);

/* To be called when items have gone, which it would keep in memory otherwise. */
void ald_column_sorter_forget(AldColumnSorter *sorter);

/* To be called before values are compared again that have changed. Sorts nothing yet. */
void ald_column_sorter_expire(AldColumnSorter *sorter);

/*
 * The sorter of the column that a view is sorted by, or NULL, and tells it in which direction. To be called
 * before the view sorts in another way. `sorter` is that of the view.
 */
AldColumnSorter *ald_column_sorter_find(GtkSorter *sorter);
