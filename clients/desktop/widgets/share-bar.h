/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* A GtkLevelBar for the share of something that is in use, from 0 to 1. It warns at the same value as
 * `alidadectl watch` (ald_share_tone()). */
GtkWidget *ald_share_bar_new(void);

/* Shows a share; an unknown one as 0. The caller may hide or mark the bar in that case. */
void ald_share_bar_set(GtkWidget *bar, double share);
