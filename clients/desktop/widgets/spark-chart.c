/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/widgets/spark-chart.h"
#include "clients/desktop/widgets/widget-color.h"

#define HEIGHT_PX 36
#define BAND_ALPHA 0.3f
#define BASE_ALPHA 0.15f

struct _AldSparkChart {
        GtkWidget parent;
        GArray *points; /* AldSparkPoint */
        AldSparkRange range;
};

G_DEFINE_FINAL_TYPE(AldSparkChart, ald_spark_chart, GTK_TYPE_WIDGET)

static void draw_boxes(
        GtkSnapshot *snapshot, const GdkRGBA *color, float alpha, const AldBox *boxes, size_t n)
{
        GdkRGBA faded = *color;

        faded.alpha *= alpha;
        for (size_t i = 0; i < n; i++)
                gtk_snapshot_append_color(snapshot, &faded,
                        &GRAPHENE_RECT_INIT((float) boxes[i].x, (float) boxes[i].y, (float) boxes[i].width,
                                (float) boxes[i].height));
}

/* Draws with boxes alone, which need no intermediate image. */
static void ald_spark_chart_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
        AldSparkChart *chart = ALD_SPARK_CHART(widget);
        guint n = chart->points->len;
        double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
        g_autofree AldBox *bands = g_new(AldBox, n), *line = g_new(AldBox, 2 * n);
        const AldBox base = { 0, height - 1, width, 1 };
        GdkRGBA color = ald_widget_color(widget);
        size_t n_bands, n_line;

        ald_sparkline_lay_out((const AldSparkPoint *) (const void *) chart->points->data, n, chart->range,
                width, height - 1, gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL, bands, &n_bands,
                line, &n_line);
        draw_boxes(snapshot, &color, BASE_ALPHA, &base, 1);
        draw_boxes(snapshot, &color, BAND_ALPHA, bands, n_bands);
        draw_boxes(snapshot, &color, 1, line, n_line);
}

static void ald_spark_chart_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
        int *natural, int *minimum_baseline, int *natural_baseline)
{
        *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL ? HEIGHT_PX : 40;
}

static void ald_spark_chart_finalize(GObject *object)
{
        g_array_unref(ALD_SPARK_CHART(object)->points);
        G_OBJECT_CLASS(ald_spark_chart_parent_class)->finalize(object);
}

static void ald_spark_chart_class_init(AldSparkChartClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->finalize = ald_spark_chart_finalize;
        widget_class->snapshot = ald_spark_chart_snapshot;
        widget_class->measure = ald_spark_chart_measure;
        gtk_widget_class_set_css_name(widget_class, "sparkchart");
        gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void ald_spark_chart_init(AldSparkChart *chart)
{
        chart->points = g_array_new(FALSE, FALSE, sizeof(AldSparkPoint));
        chart->range = (AldSparkRange){ 0, 1 };
}

GtkWidget *ald_spark_chart_new(void)
{
        return g_object_new(ALD_TYPE_SPARK_CHART, NULL);
}

void ald_spark_chart_show(AldSparkChart *chart, const AldSparkPoint *points, guint n, AldSparkRange range)
{
        g_array_set_size(chart->points, 0);
        g_array_append_vals(chart->points, points, n);
        chart->range = range;
        gtk_widget_queue_draw(GTK_WIDGET(chart));
}
