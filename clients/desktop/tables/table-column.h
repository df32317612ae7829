/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/desktop/live/live-cluster.h"

/* How the cells of a column look. */
typedef enum AldCellLook {
        ALD_CELL_TEXT,
        ALD_CELL_NUMBER, /* aligned at its end, with digits of equal width */
        ALD_CELL_SYMBOL, /* a symbol, then the text */
        ALD_CELL_LEVEL,  /* a number, then a bar */
} AldCellLook;

/* A symbol of a cell; without an icon there is none. */
typedef struct AldCellSymbol {
        const char *icon; /* name of a symbolic icon */
        const char *name; /* what it means, translated; NULL if it only decorates. Valid until the item
                             changes. */
        AldTone tone;
} AldCellSymbol;

/*
 * A column of a table. `item` is an item of the list that the table shows. If it is a column of a list that
 * all clients show, its texts and numbers are those of that column, with the id and titles of it; what
 * remains is how it looks here.
 */
typedef struct AldDataColumn {
        const char *id;         /* unique in its table */
        const char *title;      /* to be translated, as are the next two */
        const char *long_title; /* where the other columns are out of sight; NULL: the title */
        const char *tooltip;    /* of the title; or NULL */
        AldCellLook look;
        unsigned chars; /* width in characters */
        bool hidden;    /* until the user asks for it */
        bool expands;   /* takes what room there is */
        bool searched;
        bool ages;   /* the text changes with time alone */
        guint parts; /* AldLivePart: what its values change with */

        /* Safe text, to be freed; NULL is absent. */
        char *(*text)(gpointer item, AldLiveCluster *cluster);
        /* By which it is sorted, instead of by its text; NaN is absent. */
        double (*number)(gpointer item);
        /* Makes the text from the number, instead of text(). */
        char *(*format)(double number);
        AldCellSymbol (*symbol)(gpointer item, AldLiveCluster *cluster);
        /* The column whose share the bar shows. */
        const AldListColumn *level;
        /* What a screen reader says of the whole row, to be freed. Of the first column only. */
        char *(*row_label)(gpointer item, AldLiveCluster *cluster);

        const AldListColumn *column;
        const void *(*row)(gpointer item, AldLiveCluster *cluster); /* with a column */
        const char *phrase; /* around its text, unless that is absent: "%s free"; to be translated */
} AldDataColumn;

/* ALD_ABSENT_TEXT if it is absent; to be freed. */
char *ald_data_column_text(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Whether it is sorted by numbers, and such a number; NaN is absent. */
bool ald_data_column_has_number(const AldDataColumn *column);
double ald_data_column_number(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* From 0 to 1; NaN is absent. */
double ald_data_column_level(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

bool ald_data_column_is_strong(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* That of a warning or an error, else plain. Where there is a symbol, that has the tone. */
AldTone ald_data_column_tone(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Translated, for menus. */
const char *ald_data_column_long_title(const AldDataColumn *column);
