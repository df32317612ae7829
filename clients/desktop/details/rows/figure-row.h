/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

#include "clients/common/tone.h"

/* A row for a path: what it is, its figures side by side, their age, and its state. */
#define ALD_TYPE_FIGURE_ROW (ald_figure_row_get_type())
G_DECLARE_FINAL_TYPE(AldFigureRow, ald_figure_row, ALD, FIGURE_ROW, GtkListBoxRow)

#define ALD_FIGURES_MAX 4u

typedef struct AldFigure {
        const char *label;
        const char *text; /* never NULL; ALD_ABSENT_TEXT */
        const char *more; /* "±0.4 %", or NULL */
} AldFigure;

/* Every text is safe, and may be NULL. */
typedef struct AldFigureSet {
        const char *title;  /* "ethernet" */
        const char *detail; /* "alder → birch, 192.0.2.2" */
        AldFigure figures[ALD_FIGURES_MAX];
        guint n;
        const char *age;   /* "1 min ago" */
        const char *state; /* "ok" */
        AldTone tone;      /* of the state */
        const char *remedy;
        bool outdated; /* the figures are not current */
} AldFigureSet;

GtkWidget *ald_figure_row_new(void);
void ald_figure_row_show(AldFigureRow *row, const AldFigureSet *figures);
