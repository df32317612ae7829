/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/layout/spark-points.h"

/* A sparkline. It has no description for screen readers, since words beside it say the same. */
#define ALD_TYPE_SPARK_CHART (ald_spark_chart_get_type())
G_DECLARE_FINAL_TYPE(AldSparkChart, ald_spark_chart, ALD, SPARK_CHART, GtkWidget)

GtkWidget *ald_spark_chart_new(void);

void ald_spark_chart_show(AldSparkChart *chart, const AldSparkPoint *points, guint n, AldSparkRange range);
