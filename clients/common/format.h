/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/figure-text.h"
#include "record/record.h"

/* Formats fields of records for people. Integers up to 2^53, the limit of a field, fit in a double. Free all
 * texts with g_free(). */

/* Converts a field of a record to a double; absent becomes NaN. */
static inline double ald_uint64_to_double(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? ALD_ABSENT_DOUBLE : (double) value;
}

static inline double ald_int64_to_double(int64_t value)
{
        return value == ALD_ABSENT_INT64 ? ALD_ABSENT_DOUBLE : (double) value;
}

/* The units in which clients show most figures; record/figure-text.h has all others. */

/* 62.7 GiB */
static inline char *ald_format_bytes(double value)
{
        return ald_format_figure(&ald_unit_bytes, value);
}

/* 1.01 TB/s */
static inline char *ald_format_bytes_per_second(double value)
{
        return ald_format_figure(&ald_unit_bytes_per_second, value);
}

/* 25.0 Gb/s */
static inline char *ald_format_bits_per_second(double value)
{
        return ald_format_figure(&ald_unit_bits_per_second, value);
}

/* 82.6 TFLOPS */
static inline char *ald_format_tflops(double value)
{
        return ald_format_figure(&ald_unit_teraflops, value);
}

/* 12 % */
static inline char *ald_format_percent(double value)
{
        return ald_format_figure(&ald_unit_percent, value);
}

/* 18.2 µs */
static inline char *ald_format_nsec(double value)
{
        return ald_format_figure(&ald_unit_nanoseconds, value);
}

char *ald_format_bytes_of(double part, double whole); /* 45.1/62.7 GiB */
char *ald_format_count(double count);                 /* 12 */

/* Formats a field in its unit. Text is made safe; lists are joined; rows are counted. */
char *ald_format_field(const AldField *field, const void *value, double now_usec);

/* Formats a field that this version does not know, in the unit that its name implies; absent if its type is
 * not one that a field can have. */
char *ald_format_raw(const char *name, const json_t *value, double now_usec);

/* Returns "a, b, c", made safe; ALD_ABSENT_TEXT for NULL. */
char *ald_format_list(const char *const *list);
