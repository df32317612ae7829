/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/desktop/live/live-cluster.h"

/* The way in which the cells of a column look. */
typedef enum AldCellLook {
        ALD_CELL_TEXT,
        ALD_CELL_NUMBER, /* aligned at its end, with digits of equal width */
        ALD_CELL_SYMBOL, /* a symbol, then the text */
        ALD_CELL_LEVEL,  /* a number, then a bar */
} AldCellLook;

/* A symbol in a cell. A NULL icon means that there is none. */
typedef struct AldCellSymbol {
        const char *icon; /* name of a symbolic icon */
        const char *name; /* what it means, translated; NULL if it only decorates. Valid until the item
                             changes. */
        AldTone tone;
} AldCellSymbol;

/*
 * A column of a table. `item` is an item of the list that the table shows. With `column`, a column of a list
 * that all clients show, its id, titles, texts and numbers are taken from there, and the other members only
 * say how it looks here.
 */
typedef struct AldDataColumn {
        const char *id;         /* unique in its table */
        const char *title;      /* to be translated, as are the next two */
        const char *long_title; /* for use out of sight of the other columns; NULL: the title */
        const char *tooltip;    /* of the title; or NULL */
        AldCellLook look;
        unsigned chars; /* width in characters */
        bool hidden;    /* hidden until the user asks for it */
        bool expands;   /* takes the remaining width */
        bool searched;
        bool ages;   /* the text changes with time alone */
        guint parts; /* AldLivePart: changes of these may change its values */

        /* Returns safe text, to be freed; NULL is absent. */
        char *(*text)(gpointer item, AldLiveCluster *cluster);
        /* Returns the value by which the column is sorted instead of its text; NaN is absent. */
        double (*number)(gpointer item);
        /* Makes the text from the number, instead of text(). */
        char *(*format)(double number);
        AldCellSymbol (*symbol)(gpointer item, AldLiveCluster *cluster);
        /* The column whose share is shown by the bar. */
        const AldListColumn *level;
        /* Returns the label of the whole row for screen readers, to be freed. Only for the first column. */
        char *(*row_label)(gpointer item, AldLiveCluster *cluster);

        const AldListColumn *column;
        const void *(*row)(gpointer item, AldLiveCluster *cluster); /* the row that `column` reads */
        gpointer (*whole)(gpointer item);                           /* see AldDataTableKind */
        const char *phrase; /* surrounds a present text, such as "%s free"; to be translated */
} AldDataColumn;

/* Returns the text of a cell, to be freed; ALD_ABSENT_TEXT if it is absent. */
char *ald_data_column_text(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Return whether the column is sorted by numbers, and the number of an item; NaN is absent. */
bool ald_data_column_has_number(const AldDataColumn *column);
double ald_data_column_number(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Returns a share from 0 to 1; NaN is absent. */
double ald_data_column_level(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

bool ald_data_column_is_strong(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Returns the tone of a warning or an error, else plain. If the cell has a symbol, the symbol shows the tone
 * instead. */
AldTone ald_data_column_tone(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster);

/* Returns a translated title for menus. */
const char *ald_data_column_long_title(const AldDataColumn *column);
