/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

#include "clients/common/tone.h"

/* A row for a path: a title, figures side by side, their age, and a state. */
#define ALD_TYPE_FIGURE_ROW (ald_figure_row_get_type())
G_DECLARE_FINAL_TYPE(AldFigureRow, ald_figure_row, ALD, FIGURE_ROW, GtkListBoxRow)

#define ALD_FIGURES_MAX 4u

typedef struct AldFigure {
        const char *label;
        const char *text; /* ALD_ABSENT_TEXT rather than NULL */
        const char *more; /* such as "±0.4 %", or NULL */
} AldFigure;

/* The texts are safe, and may be NULL. */
typedef struct AldFigureSet {
        const char *title;  /* such as "ethernet" */
        const char *detail; /* such as "alder → birch, 192.0.2.2" */
        AldFigure figures[ALD_FIGURES_MAX];
        guint n;
        const char *age;   /* such as "1 min ago" */
        const char *state; /* such as "ok" */
        AldTone tone;      /* of the state */
        const char *remedy;
        bool outdated; /* the figures are not current */
} AldFigureSet;

GtkWidget *ald_figure_row_new(void);
void ald_figure_row_show(AldFigureRow *row, const AldFigureSet *figures);
