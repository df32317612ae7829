/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "clients/common/columns/column.h"
#include "clients/desktop/topology/memory-bar.h"
#include "clients/desktop/widgets/widget-color.h"

#define HEIGHT_PX 6
#define STEPS 100.0

struct _AldMemoryBar {
        GtkWidget parent;
        double used;
        bool warns;
};

G_DEFINE_FINAL_TYPE(AldMemoryBar, ald_memory_bar, GTK_TYPE_WIDGET)

static void ald_memory_bar_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
        static const GdkRGBA usual = { 0.21f, 0.52f, 0.89f, 1 }, nearly_full = { 0.90f, 0.38f, 0, 1 };
        AldMemoryBar *bar = ALD_MEMORY_BAR(widget);
        float width = (float) gtk_widget_get_width(widget), height = (float) gtk_widget_get_height(widget);
        float used = roundf(width * (float) bar->used);
        bool from_right = gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL;
        GdkRGBA trough = ald_widget_color(widget);

        trough.alpha *= 0.15f;
        gtk_snapshot_append_color(snapshot, &trough, &GRAPHENE_RECT_INIT(0, 0, width, height));
        gtk_snapshot_append_color(snapshot, bar->warns ? &nearly_full : &usual,
                &GRAPHENE_RECT_INIT(from_right ? width - used : 0, 0, used, height));
}

static void ald_memory_bar_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
        int *natural, int *minimum_baseline, int *natural_baseline)
{
        *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL ? HEIGHT_PX : 40;
}

static void ald_memory_bar_class_init(AldMemoryBarClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        widget_class->snapshot = ald_memory_bar_snapshot;
        widget_class->measure = ald_memory_bar_measure;
        gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_METER);
}

static void ald_memory_bar_init(AldMemoryBar *bar)
{
        gtk_accessible_update_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Memory in use"),
                GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0, GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, 1.0, -1);
}

GtkWidget *ald_memory_bar_new(void)
{
        return g_object_new(ALD_TYPE_MEMORY_BAR, NULL);
}

void ald_memory_bar_set(AldMemoryBar *bar, double used)
{
        bool warns = ald_share_tone(used) == ALD_TONE_WARNING;

        used = round(CLAMP(used, 0, 1) * STEPS) / STEPS;
        if (used == bar->used && warns == bar->warns)
                return;
        bar->used = used;
        bar->warns = warns;
        gtk_accessible_update_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, used, -1);
        gtk_widget_queue_draw(GTK_WIDGET(bar));
}
