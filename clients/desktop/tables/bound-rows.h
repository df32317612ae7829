/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/tables/data-cell.h"

/*
 * The cells that show items at present, by item. Rows follow their items' signal "changed", with one handler
 * for each row rather than for each cell, and only while the rows can be seen.
 */
typedef struct AldBoundRows AldBoundRows;

AldBoundRows *ald_bound_rows_new(void);

/* All cells must have been removed. */
void ald_bound_rows_free(AldBoundRows *rows);

/* Call these when a cell begins, or stops, to show its item. */
void ald_bound_rows_add(AldBoundRows *rows, AldDataCell *cell);
void ald_bound_rows_remove(AldBoundRows *rows, AldDataCell *cell);

/* Refreshes all rows if one has changed while they could not be seen. */
void ald_bound_rows_set_visible(AldBoundRows *rows, bool seen);

/* Refreshes the cells that show ages. */
void ald_bound_rows_tick(AldBoundRows *rows);
