/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"

/* The columns of a list that are shown, in this order. */
typedef struct AldColumnChoice {
        const AldColumnList *list;
        GArray *shown; /* const AldListColumn * */
} AldColumnChoice;

void ald_column_choice_clear(AldColumnChoice *choice);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldColumnChoice, ald_column_choice_clear)

/*
 * Chooses the columns of --columns=NAME,…: the usual ones, given by their index, if `names` is NULL; these
 * and more if it begins with "+". Returns -EINVAL with a sentence if a name is unknown or given twice.
 */
int ald_column_choice_init(AldColumnChoice *choice, const AldColumnList *list, const unsigned *usual,
        unsigned n_usual, const char *names, char **ret_problem);

/*
 * Sorts the rows by --sort=NAME,…: by the first column, and those that are equal in it by the next; "-"
 * before a name reverses its order, and "+" does not. Absent values are always last. The sort is stable.
 * Returns -EINVAL with a sentence if a name is unknown.
 */
int ald_column_sort(const AldColumnList *list, const char *names, GArray *rows, char **ret_problem);

/* Lists the names of the columns, their keys and descriptions, one per line, for --columns=help. */
char *ald_column_list_help(const AldColumnList *list);
