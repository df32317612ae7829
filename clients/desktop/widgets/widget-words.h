/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

#include "clients/common/tone.h"

/* A label for text of any length: it wraps, and ends with an ellipsis after some lines. The style class may
 * be NULL. */
GtkWidget *ald_wrapping_label_new(const char *style_class);

/* An image for a symbol that says nothing which words beside it do not say. */
GtkWidget *ald_decoration_new(void);
void ald_decoration_show(GtkWidget *image, const char *icon);

/* Changes the text if it differs, so that nothing is measured and drawn anew for the same text. */
void ald_label_set(GtkWidget *label, const char *text);

/* The same; without text the label is hidden. */
void ald_label_show(GtkWidget *label, const char *text);

/* Sets the style class of the tone, and removes that of the earlier one. */
void ald_widget_show_tone(GtkWidget *widget, AldTone tone);

/* The style class of a tone; NULL for a plain one. */
const char *ald_tone_class(AldTone tone);

/* The symbol that says the same as the color; NULL for a tone without a symbol. */
const char *ald_tone_icon(AldTone tone);

/* Whether something within it has the keyboard's focus. */
bool ald_widget_has_focus_within(GtkWidget *widget);

/* For what is not current. */
void ald_widget_dim(GtkWidget *widget, bool dim);

/* Sets name and description for screen readers if they differ from those before. The description may be NULL;
 * a name that is NULL from the start leaves the widget its own. */
void ald_widget_describe(GtkWidget *widget, const char *name, const char *description);

/*
 * Shows a tooltip of a widget that has none of its own, but is within one that answers for all of its kind.
 * GTK asks the display server where the pointer is for each widget with a tooltip, each time it is laid out
 * or its text is set: for widgets that change twice a second that is too much. Returns whether there is a
 * tooltip.
 */
bool ald_tooltip_explain(GtkTooltip *tooltip, GtkWidget *within, GtkWidget *widget, const char *text);

/* Names a button without a text, for screen readers and by a tooltip, which they do not take for a name. */
void ald_button_name(GtkWidget *button, const char *name);
