/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "clients/common/tone.h"
#include "clients/desktop/details/rows/keyed-rows.h"

/* An expander whose rows are made, and kept up to date, while it is open only: when it is opened it activates
 * the action "details.refresh". */
#define ALD_TYPE_LAZY_EXPANDER (ald_lazy_expander_get_type())
G_DECLARE_FINAL_TYPE(AldLazyExpander, ald_lazy_expander, ALD, LAZY_EXPANDER, AdwExpanderRow)

GtkWidget *ald_lazy_expander_new(void);

/* Spoken is the subtitle for screen readers, where it has symbols; NULL: the subtitle itself. */
void ald_lazy_expander_show(
        AldLazyExpander *expander, const char *title, const char *subtitle, const char *spoken);

/* A symbol behind the title, with these words as its name; none for a tone without a symbol. */
void ald_lazy_expander_show_state(AldLazyExpander *expander, const char *words, AldTone tone);

/* A button behind the title, made by the first call. */
GtkWidget *ald_lazy_expander_button(AldLazyExpander *expander, const char *icon);

/* Its rows, or NULL while it is closed. */
AldKeyedRows *ald_lazy_expander_open_rows(AldLazyExpander *expander);
