/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/units.h"

/* Writes figures for people, by the table of units. The same figure is the same text everywhere. Free all
 * texts with g_free(). */

/* Stands for an unknown figure, and for an impossible one, such as a negative size. */
#define ALD_ABSENT_TEXT "–"

/* Writes a figure with its symbol, "1.50 GiB", "25.0 Gb/s", "77 %", "2 h 42 min", or as a plain number if the
 * unit is NULL. */
char *ald_format_figure(const AldUnit *unit, double value);

/* Writes a part of a whole, both in the symbol of the whole: "1.50/62.7 GiB". */
char *ald_format_figure_of(const AldUnit *unit, double part, double whole);

/* Writes half the width of an interval, in percent of the figure before it: "±0.4 %". */
char *ald_format_interval(double percent);

/* Returns the unit that the end of a field's name denotes, or NULL. */
const AldUnit *ald_unit_of_name(const char *name);

/* The symbol in which several figures of a unit are shown side by side; the greatest figure determines it. */
typedef struct AldFigureUnit {
        double factor;    /* by which a figure is multiplied */
        const char *name; /* "GiB"; "" if it has none */
} AldFigureUnit;

AldFigureUnit ald_figure_unit(const AldUnit *unit, double greatest);

/* Writes the number alone: "62.7", "0.042", "<0.001". */
char *ald_format_in_unit(const AldFigureUnit *unit, double value);

/* Times and durations are in µs. */

/* Writes a duration, from a minute on in two units: "2 h 42 min", "3 d", "9.00 s". A negative one has its
 * sign. */
char *ald_format_duration(double usec);

/* Writes a duration with its sign: "+3.20 ms", "-1.50 s". */
char *ald_format_offset(double usec);

/* Writes a duration in one unit, rounded down: "35 s", "2 h". NULL below a second. */
char *ald_format_whole_unit(double usec);

/* Writes how long ago a time was: "now", "3 s ago", "5 min ago", or its date if that is far away. A time in
 * the future is "now", as clocks differ a little. */
char *ald_format_age(double then_usec, double now_usec);

/* Writes a date and how far away it is: "2027-12-23, in 36 d". The date stands alone if it is far away, or if
 * now is unknown (NaN). */
char *ald_format_expiry(double end_usec, double now_usec);

/* Writes a date in UTC, "2027-12-23"; "?" if it is not a time. */
char *ald_format_date(double usec);

/* Returns true if a duration is longer than a year, so that a date says more than a number of days. */
bool ald_duration_is_far(double usec);
