/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* A bar with a row for each job that runs; invisible without one. */
GtkWidget *ald_job_bar_new(void);

typedef struct AldJobRow AldJobRow;

typedef void (*AldJobRowCanceled)(void *userdata);

/* The subject is what is measured, as safe text. Canceled is called once. */
AldJobRow *ald_job_row_new(GtkWidget *bar, const char *subject, AldJobRowCanceled canceled, void *userdata);

/* Progress is from 0 to 1, or NaN. */
void ald_job_row_show(AldJobRow *row, const char *step, double progress);

/* Takes the row away. */
void ald_job_row_free(AldJobRow *row);
