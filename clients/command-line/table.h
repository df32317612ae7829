/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A table of styled text that fits the terminal: columns are dropped, and one is cut, until it does. */
typedef struct AldTable AldTable;

typedef struct AldColumn {
        const char *title;
        bool right;
        unsigned least;    /* minimum width, so that changing values do not move the other columns */
        unsigned priority; /* columns without any value are dropped first, then those with the greatest
                              priority; never with 0 */
        bool flexible;     /* may be narrowed to `least`, and uses only the remaining space */
        unsigned wanted;   /* columns with a priority above 1 are dropped before it is narrower than this */
} AldColumn;

/* The columns are copied, but not their titles. */
AldTable *ald_table_new(const AldColumn *columns, unsigned n_columns);
void ald_table_free(AldTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTable, ald_table_free)

/* Adds the next cell; takes the text, which may be NULL for an empty one. */
void ald_table_add(AldTable *table, char *text);

/*
 * Chooses columns and widths for a terminal of this many columns; 0: no limit. `floors`, an array with the
 * width of each column, or NULL, prevents them from shrinking between updates.
 */
void ald_table_layout(AldTable *table, unsigned columns, unsigned *floors);

unsigned ald_table_rows(AldTable *table);

/* Returns a line of the table, after the layout. Row -1 is the header. */
char *ald_table_line(AldTable *table, int row);

/* Appends all lines of the table, after the layout. */
void ald_table_append(GString *out, AldTable *table);
