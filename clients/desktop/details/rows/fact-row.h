/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/tone.h"

/* A row with a label, a text, and a note such as the reason why the text is absent. */
#define ALD_TYPE_FACT_ROW (ald_fact_row_get_type())
G_DECLARE_FINAL_TYPE(AldFactRow, ald_fact_row, ALD, FACT_ROW, GtkListBoxRow)

GtkWidget *ald_fact_row_new(void);

/* The text is NULL if absent. The note is a line below it, or NULL. */
void ald_fact_row_show(AldFactRow *row, const char *label, const char *text, AldTone tone, const char *note);

/* Shows a bar for the share that is in use, with this name for screen readers; NaN hides it. */
void ald_fact_row_show_level(AldFactRow *row, double share, const char *name);

/* Makes the row smaller, for one of many; indented if it belongs to the one above. */
void ald_fact_row_set_compact(AldFactRow *row, gboolean indented);

/* Emphasizes the text, for a figure that matters more than others. */
void ald_fact_row_set_prominent(AldFactRow *row);
