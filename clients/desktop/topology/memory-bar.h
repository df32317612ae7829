/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/*
 * A bar that shows which part of the memory is used. Two plain rectangles: a GtkLevelBar, whose parts are
 * styled, takes more time to draw than the rest of a card, and figures change all the time.
 */
#define ALD_TYPE_MEMORY_BAR (ald_memory_bar_get_type())
G_DECLARE_FINAL_TYPE(AldMemoryBar, ald_memory_bar, ALD, MEMORY_BAR, GtkWidget)

GtkWidget *ald_memory_bar_new(void);

/* The part that is used, 0 to 1. Differences that are not seen are not drawn. */
void ald_memory_bar_set(AldMemoryBar *bar, double used);
