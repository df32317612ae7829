/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/units.h"

/* Figures as people read them, by the table of units. The same figure is the same text wherever it stands.
 * Free all texts with g_free(). */

/* Stands for an unknown figure, and for one that cannot be, such as a negative size. */
#define ALD_ABSENT_TEXT "–"

/* "1.50 GiB", "25.0 Gb/s", "77 %", "2 h 42 min"; a plain number if the unit is NULL. */
char *ald_format_figure(const AldUnit *unit, double value);

/* "1.50/62.7 GiB": both in the symbol of the whole. */
char *ald_format_figure_of(const AldUnit *unit, double part, double whole);

/* "±0.4 %": half the width of an interval, in percent of the figure before it. */
char *ald_format_interval(double percent);

/* The unit that the end of a name tells, or NULL. */
const AldUnit *ald_unit_of_name(const char *name);

/* The symbol in which several figures of a unit are shown beside each other, that of the greatest. */
typedef struct AldFigureUnit {
        double factor;    /* by which a figure is multiplied */
        const char *name; /* "GiB"; "" if it has none */
} AldFigureUnit;

AldFigureUnit ald_figure_unit(const AldUnit *unit, double greatest);

/* The number alone: "62.7", "0.042", "<0.001". */
char *ald_format_in_unit(const AldFigureUnit *unit, double value);

/* Times and durations, in µs. */

/* "2 h 42 min", "3 d", "9.00 s": two units from a minute on; a negative one has its sign. */
char *ald_format_duration(double usec);

/* "+3.20 ms", "-1.50 s" */
char *ald_format_offset(double usec);

/* "35 s", "2 h": one unit, rounded down; NULL below a second. */
char *ald_format_whole_unit(double usec);

/* "now", "3 s ago", "5 min ago"; a date if that is far. A time in the future is "now", as clocks differ a
 * little. */
char *ald_format_age(double then_usec, double now_usec);

/* "2027-12-23, in 36 d"; the date alone if that is far away, or without now (NaN). */
char *ald_format_expiry(double end_usec, double now_usec);

/* "2027-12-23", in UTC; "?" if it is not a time. */
char *ald_format_date(double usec);

/* True if a duration is so long, more than a year, that a date says more than a number of days. */
bool ald_is_far(double usec);
