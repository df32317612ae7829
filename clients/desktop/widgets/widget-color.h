/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Returns the color of text in a widget. */
static inline GdkRGBA ald_widget_color(GtkWidget *widget)
{
        GdkRGBA color;

#if GTK_CHECK_VERSION(4, 10, 0)
        gtk_widget_get_color(widget, &color);
#else
        gtk_style_context_get_color(gtk_widget_get_style_context(widget), &color);
#endif
        return color;
}
