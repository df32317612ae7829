/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/common/series.h"
#include "record/field.h"

#define SLOPE_MAX 0.003
#define CLOCK_SPREAD_MAX 0.02

static int compare(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

uint64_t ald_series_bytes(double rate)
{
        return rate >= 1 && rate <= (double) ALD_INTEGER_MAX ? (uint64_t) rate : ALD_ABSENT_UINT64;
}

bool ald_series_add(AldSeries *series, double rate)
{
        if (series->n == ALD_SERIES_MAX || !isfinite(rate) || rate <= 0)
                return false;
        series->rates[series->n++] = rate;
        return true;
}

double ald_student_factor(size_t n)
{
        static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                2.228 };

        if (n < 2)
                return INFINITY;
        if (n - 2 < G_N_ELEMENTS(table))
                return table[n - 2];
        /* These are the first terms of the series of the factor; the error is below 0.1 %. */
        return 1.96 + 2.372 / (double) (n - 1) + 2.82 / ((double) (n - 1) * (double) (n - 1));
}

static void copy_sorted(const AldSeries *series, double *ret)
{
        memcpy(ret, series->rates, series->n * sizeof *ret);
        qsort(ret, series->n, sizeof *ret, compare);
}

static double median(const AldSeries *series)
{
        double sorted[ALD_SERIES_MAX];
        size_t n = series->n;

        copy_sorted(series, sorted);
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

bool ald_series_figures(const AldSeries *series, AldSeriesFigures *ret)
{
        double sum = 0, squares = 0, best = 0, mean, n = (double) series->n;

        if (series->n == 0)
                return false;
        for (size_t i = 0; i < series->n; i++) {
                sum += series->rates[i];
                best = MAX(best, series->rates[i]);
        }
        mean = sum / n;
        for (size_t i = 0; i < series->n; i++)
                squares += (series->rates[i] - mean) * (series->rates[i] - mean);
        *ret = (AldSeriesFigures){
                .best = best,
                .mean = mean,
                .median = median(series),
                .interval = series->n < 2
                                    ? INFINITY
                                    : ald_student_factor(series->n) * sqrt(squares / (n - 1) / n) / mean,
        };
        return true;
}

size_t ald_series_near_best(const AldSeries *series, double part)
{
        double best = 0;
        size_t near = 0;

        for (size_t i = 0; i < series->n; i++)
                best = MAX(best, series->rates[i]);
        for (size_t i = 0; i < series->n; i++)
                near += series->rates[i] >= best * (1 - part);
        return near;
}

double ald_series_confirmed(const AldSeries *series, double part, size_t n)
{
        double sorted[ALD_SERIES_MAX];

        copy_sorted(series, sorted);
        for (size_t i = series->n; i >= n; i--)
                if (sorted[i - n] >= sorted[i - 1] * (1 - part))
                        return sorted[i - 1];
        return 0;
}

void ald_settle_add(AldSettle *settle, double rate, double clock)
{
        if (settle->n == ALD_SETTLE_BATCHES) {
                memmove(settle->rates, settle->rates + 1, (ALD_SETTLE_BATCHES - 1) * sizeof *settle->rates);
                memmove(settle->clocks, settle->clocks + 1,
                        (ALD_SETTLE_BATCHES - 1) * sizeof *settle->clocks);
                settle->n--;
        }
        settle->rates[settle->n] = rate;
        settle->clocks[settle->n++] = clock;
}

/* The slope is that of the least-squares line. */
double ald_settle_slope(const AldSettle *settle)
{
        const double middle = (ALD_SETTLE_BATCHES - 1) / 2.0;
        double mean = 0, along = 0, across = 0;

        if (settle->n < ALD_SETTLE_BATCHES)
                return INFINITY;
        for (size_t i = 0; i < ALD_SETTLE_BATCHES; i++)
                mean += settle->rates[i] / ALD_SETTLE_BATCHES;
        for (size_t i = 0; i < ALD_SETTLE_BATCHES; i++) {
                along += ((double) i - middle) * settle->rates[i];
                across += ((double) i - middle) * ((double) i - middle);
        }
        return mean > 0 ? along / across / mean : INFINITY;
}

static bool are_clocks_constant(const AldSettle *settle)
{
        double low = settle->clocks[0], high = settle->clocks[0];

        for (size_t i = 1; i < settle->n; i++) {
                low = MIN(low, settle->clocks[i]);
                high = MAX(high, settle->clocks[i]);
        }
        return high - low <= high * CLOCK_SPREAD_MAX;
}

bool ald_settle_done(const AldSettle *settle)
{
        return fabs(ald_settle_slope(settle)) < SLOPE_MAX && are_clocks_constant(settle);
}
