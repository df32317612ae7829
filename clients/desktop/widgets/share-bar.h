/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* A GtkLevelBar for a share of something that is in use, from 0 to 1. It warns as `alidadectl watch` does
 * (ald_share_tone()). */
GtkWidget *ald_share_bar_new(void);

/* A share that is unknown is shown as 0; what else becomes of the bar is up to the caller. */
void ald_share_bar_set(GtkWidget *bar, double share);
