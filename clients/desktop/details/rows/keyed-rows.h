/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/*
 * The rows of a GtkListBox or an AdwExpanderRow, each with a key. An update names all of them in order: rows
 * that exist keep their focus and state, new ones are made, and rows that are not named are removed.
 */
typedef struct AldKeyedRows AldKeyedRows;

typedef GtkWidget *(*AldRowMaker)(void);

/* The container must outlive the last update. */
AldKeyedRows *ald_keyed_rows_new(GtkWidget *container);
void ald_keyed_rows_free(AldKeyedRows *rows);

void ald_keyed_rows_begin(AldKeyedRows *rows);

/* Returns the next row, which is made if there is none with this key. */
GtkWidget *ald_keyed_rows_next(AldKeyedRows *rows, const char *key, AldRowMaker make);

void ald_keyed_rows_end(AldKeyedRows *rows);

/* Returns the row with this key, or NULL. */
GtkWidget *ald_keyed_rows_find(const AldKeyedRows *rows, const char *key);

guint ald_keyed_rows_count(const AldKeyedRows *rows);
