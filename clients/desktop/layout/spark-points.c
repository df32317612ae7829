/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "clients/desktop/layout/spark-points.h"

#define THICKNESS 2.0
#define LEAST_SPAN 0.1 /* as a part of the greatest value */

/* The area in which points are drawn, and how. */
typedef struct SparkArea {
        AldSparkRange range;
        double width, height;
        size_t n;
        bool from_right;
} SparkArea;

AldSparkPoint ald_sparkline_summary(const AldSparkPoint *points, size_t n)
{
        AldSparkPoint summary = ALD_SPARK_POINT_INIT;
        double sum = 0;
        size_t known = 0;

        for (size_t i = 0; i < n; i++) {
                if (!ald_spark_point_is_known(&points[i]))
                        continue;
                summary.min = fmin(summary.min, points[i].min);
                summary.max = fmax(summary.max, points[i].max);
                sum += points[i].mean;
                known++;
        }
        if (known > 0)
                summary.mean = sum / (double) known;
        return summary;
}

AldSparkRange ald_sparkline_range(const AldSparkPoint *points, size_t n)
{
        AldSparkPoint all = ald_sparkline_summary(points, n);
        double greatest = fmax(fabs(all.min), fabs(all.max)),
               missing = greatest * LEAST_SPAN - (all.max - all.min);

        if (isnan(greatest) || greatest == 0)
                return (AldSparkRange){ 0, 1 };
        if (missing > 0) {
                all.min -= missing / 2;
                all.max += missing / 2;
        }
        return (AldSparkRange){ all.min, all.max };
}

static double y_of(const SparkArea *area, double value)
{
        double share = (value - area->range.low) / (area->range.high - area->range.low);

        return (area->height - THICKNESS) * (1 - CLAMP(share, 0, 1)) + THICKNESS / 2;
}

/* Returns the left edge of a step. It is on a whole pixel, so that neighbors meet without a seam. */
static double edge_of(const SparkArea *area, size_t i)
{
        return round(area->width * (double) i / (double) area->n);
}

/* Returns a box from `left` to `right`, which are given as if time went to the right. */
static AldBox box_of(const SparkArea *area, double left, double right, double top, double bottom)
{
        return (AldBox){ area->from_right ? area->width - right : left, top, right - left, bottom - top };
}

/* Returns the vertical line from the point before, at most as wide as a step. */
static AldBox riser_of(const SparkArea *area, size_t i, double before, double y)
{
        double left = edge_of(area, i), width = fmin(THICKNESS, fmax(edge_of(area, i + 1) - left, 1));

        return box_of(
                area, left, left + width, fmin(before, y) - THICKNESS / 2, fmax(before, y) + THICKNESS / 2);
}

void ald_sparkline_lay_out(const AldSparkPoint *points, size_t n, AldSparkRange range, double width,
        double height, bool from_right, AldBox *ret_bands, size_t *ret_n_bands, AldBox *ret_line,
        size_t *ret_n_line)
{
        const SparkArea area = { range, width, height, n, from_right };
        double before = NAN;

        *ret_n_bands = *ret_n_line = 0;
        for (size_t i = 0; i < n; i++) {
                double left = edge_of(&area, i), right = fmax(edge_of(&area, i + 1), left + 1), y;

                if (!ald_spark_point_is_known(&points[i])) {
                        before = NAN;
                        continue;
                }
                y = y_of(&area, points[i].mean);
                if (points[i].min < points[i].max)
                        ret_bands[(*ret_n_bands)++] = box_of(
                                &area, left, right, y_of(&area, points[i].max), y_of(&area, points[i].min));
                if (!isnan(before) && before != y)
                        ret_line[(*ret_n_line)++] = riser_of(&area, i, before, y);
                ret_line[(*ret_n_line)++] = box_of(&area, left, right, y - THICKNESS / 2, y + THICKNESS / 2);
                before = y;
        }
}
