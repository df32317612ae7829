/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/column.h"
#include "clients/desktop/widgets/share-bar.h"

/* The default offsets of a GtkLevelBar are removed: they warn of an empty bar, and change color above a
 * value, not at it. */
GtkWidget *ald_share_bar_new(void)
{
        GtkWidget *bar = gtk_level_bar_new();

        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_LOW);
        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_HIGH);
        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_FULL);
        return bar;
}

void ald_share_bar_set(GtkWidget *bar, double share)
{
        gtk_level_bar_set_value(GTK_LEVEL_BAR(bar), isnan(share) ? 0 : CLAMP(share, 0, 1));
        if (ald_share_tone(share) == ALD_TONE_WARNING)
                gtk_widget_add_css_class(bar, "nearly-full");
        else
                gtk_widget_remove_css_class(bar, "nearly-full");
}
