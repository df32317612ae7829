/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

#include "clients/common/tone.h"

/* Creates a label for text of any length: it wraps, and ends with an ellipsis after some lines. The style
 * class may be NULL. */
GtkWidget *ald_wrapping_label_new(const char *style_class);

/* Creates an image for a symbol that means the same as words beside it, and is hidden from screen readers. */
GtkWidget *ald_decoration_new(void);
void ald_decoration_show(GtkWidget *image, const char *icon);

/* Sets the text if it differs, since setting the same text would measure and draw the label again. */
void ald_label_set(GtkWidget *label, const char *text);

/* Does the same, and hides the label without a text. */
void ald_label_show(GtkWidget *label, const char *text);

/* Sets the style class of the tone, and removes the one of the earlier tone. */
void ald_widget_show_tone(GtkWidget *widget, AldTone tone);

/* Returns the style class of a tone; NULL for a plain one. */
const char *ald_tone_class(AldTone tone);

/* Returns the symbol that means the same as the color; NULL for a tone without a symbol. */
const char *ald_tone_icon(AldTone tone);

/* Returns whether something within the widget has the keyboard focus. */
bool ald_widget_has_focus_within(GtkWidget *widget);

/* Dims a widget while its content is not current. */
void ald_widget_dim(GtkWidget *widget, bool dim);

/* Sets name and description for screen readers if they differ from the previous ones. The description may be
 * NULL; a widget whose name is NULL from the start keeps its own. */
void ald_widget_describe(GtkWidget *widget, const char *name, const char *description);

/*
 * Shows a tooltip for a widget that has none of its own, but is within a widget that handles tooltips for all
 * of its kind. GTK asks the display server for the position of the pointer for each widget with a tooltip,
 * each time the widget is laid out or its text is set; for widgets that change twice a second that is too
 * much. Returns whether there is a tooltip.
 */
bool ald_tooltip_explain(GtkTooltip *tooltip, GtkWidget *within, GtkWidget *widget, const char *text);

/* Names a button without a text for screen readers, and sets the name as tooltip, which they do not use as a
 * name. */
void ald_button_name(GtkWidget *button, const char *name);
