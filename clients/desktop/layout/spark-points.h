/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/* The values recorded in one of the equal parts of a period; NaN if nothing was recorded, or the value was
 * unknown. */
typedef struct AldSparkPoint {
        double min, mean, max;
} AldSparkPoint;

#define ALD_SPARK_POINT_INIT   \
        {                      \
                NAN, NAN, NAN, \
        }

/* The values at the lower and the upper edge. */
typedef struct AldSparkRange {
        double low, high;
} AldSparkRange;

static inline bool ald_spark_point_is_known(const AldSparkPoint *point)
{
        return point->min <= point->mean && point->mean <= point->max;
}

/* Returns the least and greatest value of all points, and the mean of their means; NaN if no point is known.
 */
AldSparkPoint ald_sparkline_summary(const AldSparkPoint *points, size_t n);

/* Returns the range from the least to the greatest value, but at least a tenth of the greatest one, so that
 * noise does not look like change. Returns 0 to 1 if no point is known. */
AldSparkRange ald_sparkline_range(const AldSparkPoint *points, size_t n);

/*
 * Makes boxes that draw the points as a line of steps, from left to right, or from right to left: the bands
 * from least to greatest value, at most n, and the line of the means, at most 2 n. An unknown point leaves a
 * gap in the line. Values beyond the range are drawn at its edge.
 */
void ald_sparkline_lay_out(const AldSparkPoint *points, size_t n, AldSparkRange range, double width,
        double height, bool from_right, AldBox *ret_bands, size_t *ret_n_bands, AldBox *ret_line,
        size_t *ret_n_line);
