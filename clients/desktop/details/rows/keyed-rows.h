/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/*
 * The rows of a GtkListBox or an AdwExpanderRow, each with a key. To bring them up to date, all of them are
 * named in their order: rows that were there stay, with their focus and state, and those that are not named
 * go.
 */
typedef struct AldKeyedRows AldKeyedRows;

typedef GtkWidget *(*AldRowMaker)(void);

/* The container must outlive the use of it. */
AldKeyedRows *ald_keyed_rows_new(GtkWidget *container);
void ald_keyed_rows_free(AldKeyedRows *rows);

void ald_keyed_rows_begin(AldKeyedRows *rows);

/* The next row; it is made if there is none with this key. */
GtkWidget *ald_keyed_rows_next(AldKeyedRows *rows, const char *key, AldRowMaker make);

void ald_keyed_rows_end(AldKeyedRows *rows);

guint ald_keyed_rows_count(const AldKeyedRows *rows);
