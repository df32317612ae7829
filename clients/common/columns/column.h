/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/common/tone.h"

/*
 * The columns of the lists that all clients show. A column is described once, in the table of its list
 * (node-columns.c): the tables of alidadectl and of the desktop program, CSV, JSON, completion and the manual
 * page are made from that. `row` is an element of the list, such as an AldNodeRow.
 */
typedef struct AldListColumn AldListColumn;

struct AldListColumn {
        const char *id;          /* of --columns= and --sort=; unique in its list */
        const char *key;         /* of JSON and CSV; ends in the unit, as the fields of records do */
        const char *heading;     /* on a terminal */
        const char *title;       /* elsewhere; to be translated, as are the next two */
        const char *long_title;  /* where the other columns are out of sight; NULL: the title */
        const char *description; /* a sentence without its full stop */
        bool is_number;          /* aligned at its end; JSON has the number, unless there is plain() */
        bool flexible;           /* a terminal may narrow it to `least` */
        unsigned least;          /* width on a terminal, so that changing values do not move the others */
        unsigned wanted;   /* width of a flexible one: most others are dropped before it becomes narrower */
        unsigned priority; /* a narrow terminal drops the greatest first; never 0 */

        /* Returns safe text for people, to be freed; NULL is absent. Without it, number() is formatted by
         * format(), or else in the unit that the key ends in. */
        char *(*text)(const void *row);
        char *(*format)(double number);
        /* Returns the text of JSON and CSV, if people see another one. */
        char *(*plain)(const void *row);
        /* Returns the number by which the column is sorted; NaN is absent. Without it, the column is sorted
         * by its text. */
        double (*number)(const void *row);
        /* The name in `alidadectl check --require=`, if the column can be required, and since when the number
         * is known, in µs of CLOCK_REALTIME of the node; NaN is unknown. */
        const char *required;
        double (*since)(const void *row);
        bool is_measured; /* by a probe, instead of being sent repeatedly */
        /* Returns how much of it is in use, from 0 to 1; a terminal draws it as a bar in place of the
         * text. */
        double (*share)(const void *row);
        /* NULL stands for plain. */
        AldTone (*tone)(const void *row);
        bool (*is_strong)(const void *row);
        /* The column that takes this one's place in rows below this row, such as the devices of a node; or
         * NULL. */
        const AldListColumn *below;
};

typedef struct AldColumnList {
        const char *name;             /* "nodes" */
        const AldListColumn *columns; /* the first one names the row */
        unsigned n_columns;
} AldColumnList;

/* Returns the text of a cell, to be freed; ALD_ABSENT_TEXT if it is absent. */
char *ald_list_column_text(const AldListColumn *column, const void *row);

/* The number of digits of an id that people see; other programs get all of them. */
#define ALD_SHOWN_ID_LENGTH 12

/* From this share on, memory or another resource is nearly full, which deserves a warning. */
#define ALD_SHARE_NEARLY_FULL 0.9

/* Returns the tone of such a share; plain if it is unknown. */
AldTone ald_share_tone(double share);
