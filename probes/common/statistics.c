/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include <glib.h>

#include "probes/common/statistics.h"

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static int compare_numbers(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

double ald_interquartile_mean(double *values, size_t n)
{
        size_t quarter = n / 4;
        double sum = 0;

        qsort(values, n, sizeof *values, compare_doubles);
        for (size_t i = quarter; i < n - quarter; i++)
                sum += values[i];
        return sum / (double) (n - 2 * quarter);
}

static uint64_t jitter(const AldRttSample *samples, size_t n)
{
        uint64_t sum = 0, pairs = 0;

        for (size_t i = 1; i < n; i++) {
                uint64_t now = samples[i].nsec, before = samples[i - 1].nsec;

                if (samples[i].burst != samples[i - 1].burst)
                        continue;
                sum += now > before ? now - before : before - now;
                pairs++;
        }
        return pairs > 0 ? sum / pairs : 0;
}

/* Returns the least value that this percentage of all values does not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t n, size_t percent)
{
        return sorted[(n * percent + 99) / 100 - 1];
}

bool ald_rtt_figures(const AldRttSample *samples, size_t n, AldRttFigures *ret)
{
        g_autofree uint64_t *sorted = g_new(uint64_t, n);

        if (n == 0)
                return false;
        for (size_t i = 0; i < n; i++)
                sorted[i] = samples[i].nsec;
        qsort(sorted, n, sizeof *sorted, compare_numbers);
        *ret = (AldRttFigures){
                .min = sorted[0],
                .p50 = percentile(sorted, n, 50),
                .p99 = percentile(sorted, n, 99),
                .jitter = jitter(samples, n),
                .n = n,
        };
        return true;
}
