/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/record.h"

/*
 * Formats numbers for people, in SI or binary units. NaN, an absent value, becomes "–", and so do impossible
 * values such as a negative size. Integers up to 2^53, the limit of a field, fit in a double. Free all texts
 * with g_free().
 */

/* A field of a record as a double; absent is NaN. */
static inline double ald_figure(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? ALD_ABSENT_DOUBLE : (double) value;
}

static inline double ald_figure_signed(int64_t value)
{
        return value == ALD_ABSENT_INT64 ? ALD_ABSENT_DOUBLE : (double) value;
}

char *ald_format_bytes(double bytes);                 /* 62.7 GiB */
char *ald_format_bytes_of(double part, double whole); /* 45.1/62.7 GiB */
char *ald_format_bytes_per_second(double rate);       /* 1.01 TB/s */
char *ald_format_bits_per_second(double rate);        /* 25.0 Gb/s */
char *ald_format_hertz(double hertz);                 /* 2.52 GHz */
char *ald_format_transfers(double rate);              /* 16.0 GT/s */
char *ald_format_tflops(double tflops);               /* 82.6 TFLOPS */
char *ald_format_percent(double percent);             /* 12 % */
char *ald_format_celsius(double millicelsius);        /* 61 °C */
char *ald_format_watts(double microwatts);            /* 220 W */
char *ald_format_nsec(double nsec);                   /* 18.2 µs */
char *ald_format_count(double count);                 /* 12 */

char *ald_format_duration(double usec); /* 2 h 42 min */

char *ald_format_whole_unit(double usec); /* 35 s, 2 h: one unit, rounded down; NULL below a second */

/* "now", "3 s ago", "5 min ago"; a time in the future is "now", as clocks differ a little. */
char *ald_format_age(double then_usec, double now_usec);

/* "2027-12-23", in UTC; "?" if it is not a time. */
char *ald_format_date(double usec);

/* True if a duration is so long, more than a year, that a date says more than a number of days. */
bool ald_is_far(double usec);

/* Formats a field according to the unit at the end of its name. Text is made safe; lists are joined; rows are
 * counted. */
char *ald_format_field(const AldField *field, const void *value, double now_usec);

/* The same for a field that this version does not know; absent if its type is not one of a field. */
char *ald_format_raw(const char *name, const json_t *value, double now_usec);

/* The unit in which several figures of a field are shown beside each other, that of the greatest. */
typedef struct AldFigureUnit {
        double factor;    /* by which a figure is multiplied */
        const char *name; /* "GiB"; "" if it has none */
} AldFigureUnit;

AldFigureUnit ald_figure_unit(const char *name, double greatest);

/* The number alone: "62.7", "0.042", "<0.001". */
char *ald_format_in_unit(const AldFigureUnit *unit, double value);

/* "a, b, c"; ALD_ABSENT_TEXT for NULL. Made safe. */
char *ald_format_list(const char *const *list);
