/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/layout/spark-points.h"
#include "record/units.h"

/* A row for a figure over time: its name, a sparkline, and its least, mean and greatest value. */
#define ALD_TYPE_HISTORY_ROW (ald_history_row_get_type())
G_DECLARE_FINAL_TYPE(AldHistoryRow, ald_history_row, ALD, HISTORY_ROW, GtkListBoxRow)

typedef struct AldHistoryCurve {
        const char *title;  /* such as "Load" */
        const char *detail; /* whose figure it is; NULL if that is clear */
        const AldSparkPoint *points;
        guint n;
        bool is_share; /* from 0 to 100 */
        const AldUnit *unit;
} AldHistoryCurve;

GtkWidget *ald_history_row_new(void);
void ald_history_row_show(AldHistoryRow *row, const AldHistoryCurve *curve);
