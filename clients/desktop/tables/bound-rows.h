/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/tables/data-cell.h"

/*
 * The cells that show items at present, by item. They follow the items' signal "changed", one handler for
 * each row rather than for each cell, and only while they can be seen.
 */
typedef struct AldBoundRows AldBoundRows;

AldBoundRows *ald_bound_rows_new(void);

/* All cells must have been removed. */
void ald_bound_rows_free(AldBoundRows *rows);

/* The cell begins or stops to show its item. */
void ald_bound_rows_add(AldBoundRows *rows, AldDataCell *cell);
void ald_bound_rows_remove(AldBoundRows *rows, AldDataCell *cell);

/* What was missed is made up for when they can be seen again. */
void ald_bound_rows_set_seen(AldBoundRows *rows, bool seen);

/* Refreshes the cells with ages. */
void ald_bound_rows_tick(AldBoundRows *rows);
