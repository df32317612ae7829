/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/*
 * GTK on an X server of this process, without a session and without a screen reader: what widgets tell one
 * can be asked for with gtk_test_accessible_assert_property() and its like. Call after g_test_init(). FALSE
 * if there is no Xvfb.
 */
gboolean own_display_open(void);

/* The first widget of this type in or below a widget, in the order in which they are read. Aborts if there is
 * none. */
GtkWidget *own_display_find(GtkWidget *widget, GType type);
