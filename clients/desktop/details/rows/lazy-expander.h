/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "clients/common/tone.h"
#include "clients/desktop/details/rows/keyed-rows.h"

/* An expander whose rows exist and are updated only while it is open. Opening it activates the action
 * "details.refresh". */
#define ALD_TYPE_LAZY_EXPANDER (ald_lazy_expander_get_type())
G_DECLARE_FINAL_TYPE(AldLazyExpander, ald_lazy_expander, ALD, LAZY_EXPANDER, AdwExpanderRow)

GtkWidget *ald_lazy_expander_new(void);

/* `spoken` replaces a subtitle with symbols for screen readers; NULL if the subtitle can be read out. */
void ald_lazy_expander_show(
        AldLazyExpander *expander, const char *title, const char *subtitle, const char *spoken);

/* Shows a symbol after the title, with these words as its name, unless the tone has no symbol. */
void ald_lazy_expander_show_state(AldLazyExpander *expander, const char *words, AldTone tone);

/* Returns a button after the title, which the first call makes. */
GtkWidget *ald_lazy_expander_button(AldLazyExpander *expander, const char *icon);

/* Returns the rows, or NULL while the expander is closed. */
AldKeyedRows *ald_lazy_expander_open_rows(AldLazyExpander *expander);
