/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Makes a button with a popover that explains the lines and numbers of the map with samples. */
GtkWidget *ald_signs_button_new(void);
