/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/command-line/table.h"
#include "clients/common/columns/column-choice.h"

/* Returns a table for a terminal with the columns of the choice, still without rows. */
AldTable *ald_column_table_new(const AldColumnChoice *choice);

/* Adds the cells of a row. */
void ald_column_table_add(AldTable *table, const AldColumnChoice *choice, const void *row);

/* Appends a table of these rows, laid out for `columns` (0: no limit). */
void ald_column_table_append(
        GString *out, const AldColumnChoice *choice, const GArray *rows, unsigned columns);

/* Adds the cells of a row that belongs to the row above and has other columns; its name is indented. Without
 * the column of names, the two rows would look alike, so this one is omitted. */
void ald_column_table_add_below(AldTable *table, const AldColumnChoice *choice, const void *row);

/*
 * Reads --columns= of the command line; without it, the usual columns are chosen. Returns -1, or an exit code
 * if there is nothing more to do: it has reported an error, also one in --sort=, or printed the list of
 * columns for --columns=help.
 */
int ald_column_table_choose(const AldCtl *ctl, const AldColumnList *list, const unsigned *usual,
        unsigned n_usual, AldColumnChoice *choice);

/* Sorts the rows by --sort= of the command line, if it is given. Returns -1, or an exit code if it has
 * reported an error. */
int ald_column_table_sort(const AldCtl *ctl, const AldColumnList *list, GArray *rows);

/* Returns true if the command line asks for the rows of a table in JSON or CSV, instead of records. */
bool ald_column_table_is_exported(const AldCtl *ctl);

/* Prints the rows as JSON, under a key, or as CSV. Returns an exit code. */
int ald_column_table_export(
        const AldCtl *ctl, const char *key, const AldColumnChoice *choice, const GArray *rows);
