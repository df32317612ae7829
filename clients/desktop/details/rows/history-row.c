/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/details/rows/history-row.h"
#include "clients/desktop/widgets/spark-chart.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

struct _AldHistoryRow {
        GtkListBoxRow parent;
        GtkWidget *title, *detail, *chart, *values;
};

G_DEFINE_FINAL_TYPE(AldHistoryRow, ald_history_row, GTK_TYPE_LIST_BOX_ROW)

static void ald_history_row_class_init(AldHistoryRowClass *class)
{
}

static void ald_history_row_init(AldHistoryRow *row)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);

        row->title = ald_wrapping_label_new(NULL);
        row->detail = ald_wrapping_label_new("caption");
        row->chart = ald_spark_chart_new();
        row->values = ald_wrapping_label_new("caption");
        gtk_widget_add_css_class(row->detail, "dim-label");
        gtk_widget_add_css_class(row->values, "numeric");
        gtk_widget_set_margin_start(box, 12);
        gtk_widget_set_margin_end(box, 12);
        gtk_widget_set_margin_top(box, 10);
        gtk_widget_set_margin_bottom(box, 10);
        gtk_box_append(GTK_BOX(box), row->title);
        gtk_box_append(GTK_BOX(box), row->detail);
        gtk_box_append(GTK_BOX(box), row->chart);
        gtk_box_append(GTK_BOX(box), row->values);
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
}

GtkWidget *ald_history_row_new(void)
{
        return g_object_new(ALD_TYPE_HISTORY_ROW, NULL);
}

/* Returns the three values, or a single one if they read the same. */
static char *describe_values(const AldHistoryCurve *curve)
{
        AldSparkPoint all = ald_sparkline_summary(curve->points, curve->n);
        g_autofree char *min = ald_format_figure(curve->unit, all.min),
                        *mean = ald_format_figure(curve->unit, all.mean),
                        *max = ald_format_figure(curve->unit, all.max);

        return g_str_equal(min, max) ? g_steal_pointer(&mean)
                                     : g_strdup_printf(_("min %s, mean %s, max %s"), min, mean, max);
}

void ald_history_row_show(AldHistoryRow *row, const AldHistoryCurve *curve)
{
        const AldSparkRange share = { 0, 100 };
        g_autofree char *values = describe_values(curve);
        g_autofree char *name = curve->detail ? g_strdup_printf("%s, %s", curve->title, curve->detail)
                                              : g_strdup(curve->title);

        ald_label_show(row->title, curve->title);
        ald_label_show(row->detail, curve->detail);
        ald_label_show(row->values, values);
        ald_spark_chart_show(ALD_SPARK_CHART(row->chart), curve->points, curve->n,
                curve->is_share ? share : ald_sparkline_range(curve->points, curve->n));
        ald_widget_describe(row->chart, curve->title, values);
        ald_widget_describe(GTK_WIDGET(row), name, values);
}
