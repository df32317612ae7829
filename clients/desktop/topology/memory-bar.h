/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/*
 * A bar that shows how much of the memory is in use. It draws two plain rectangles, because a GtkLevelBar,
 * whose parts are styled, takes longer to draw than the rest of a card, and the figures change all the time.
 */
#define ALD_TYPE_MEMORY_BAR (ald_memory_bar_get_type())
G_DECLARE_FINAL_TYPE(AldMemoryBar, ald_memory_bar, ALD, MEMORY_BAR, GtkWidget)

GtkWidget *ald_memory_bar_new(void);

/* Sets the share that is in use, 0 to 1. Changes too small to be visible are not drawn. */
void ald_memory_bar_set(AldMemoryBar *bar, double used);
