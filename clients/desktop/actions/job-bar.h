/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Creates a bar with a row for each running job; it is invisible without any. */
GtkWidget *ald_job_bar_new(void);

typedef struct AldJobRow AldJobRow;

typedef void (*AldJobRowCanceled)(void *userdata);

/* Adds a row. The subject is what is measured, as safe text. `canceled` is called at most once, from the
 * row's button. */
AldJobRow *ald_job_row_new(GtkWidget *bar, const char *subject, AldJobRowCanceled canceled, void *userdata);

/* Shows the present step; `progress` is from 0 to 1, or NaN if unknown. */
void ald_job_row_show(AldJobRow *row, const char *step, double progress);

/* Removes the row. */
void ald_job_row_free(AldJobRow *row);
