/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Draws a series as one line of block characters, one for each span of equal length, and marks below it. */

/* The value of a span. */
typedef struct AldSpark {
        bool recorded; /* false: nothing, which is a gap */
        double value;  /* NaN: it was unknown */
} AldSpark;

/* The values of the lowest and of the highest block; equal if the series does not vary. */
typedef struct AldSparkScale {
        double low, high;
} AldSparkScale;

/* Returns a scale that begins at 0 if the least value is below half of the greatest, else at the least. A
 * series that varies by less than 2 % counts as steady, since the history rounds its values. */
AldSparkScale ald_spark_scale(double least, double greatest);

#define ALD_SPARK_UNKNOWN "·"

/* Returns `width` characters: "▁▂▃▄▅▆▇█" for values, a space for a gap, ALD_SPARK_UNKNOWN for an unknown
 * value. If there are fewer sparks than characters, each spark is several characters wide. Free with
 * g_free(). */
char *ald_sparkline(const AldSpark *sparks, size_t n, unsigned width, const AldSparkScale *scale);

/* When something began and ended, in the unit of the times below. */
typedef struct AldSparkEvent {
        uint64_t began, ended; /* ended may be UINT64_MAX */
} AldSparkEvent;

/* Returns `width` characters for the times from `from` to `to`: "▲" where an event began, "▼" where one
 * ended, "◆" where both happened, and "─" where one lasted. A beginning before `from` and an end after `to`
 * have no mark. */
char *ald_spark_marks(const AldSparkEvent *events, size_t n, uint64_t from, uint64_t to, unsigned width);
