/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides whether a figure is slower than its own past. A link has a past for each path and direction, a
 * compute device one for each metric. A result is slow if it is below the median of the last 30 days by more
 * than a tenth of the median and by more than three times the spread. The spread is the median distance from
 * the median, times 1.4826: this is the standard deviation of normally distributed results, to which outliers
 * add nothing. It is also multiplied by 1 + 20 / n for n results, since few results have too small a spread
 * by chance. A slow result may be chance, so it counts only once a second probe confirms it. A rate that
 * stays low becomes the usual one when it makes up about half of the results of 30 days, and is not slow from
 * then on. Pure.
 */
#define ALD_PAST_USEC (INT64_C(30) * 24 * 3600 * 1000000)
#define ALD_PAST_RESULTS_MIN 20u

typedef struct AldPastResult {
        int64_t time; /* of the measurement, CLOCK_REALTIME in µs */
        double rate;  /* the higher, the better */
} AldPastResult;

typedef struct AldPastVerdict {
        bool known;     /* there are enough results to compare */
        bool slower;    /* the last two results are slow */
        bool suspected; /* only the last result is slow; the next one confirms it or not */
        double median, spread;
        double limit;  /* a lower rate is slow */
        double rate;   /* the last result; if slower, the greater of the last two */
        int64_t since; /* if slower: the first of the consecutive slow results */
} AldPastVerdict;

/* Judges any number of results in the order of time. Results that are not positive are ignored. */
AldPastVerdict ald_past_compare(const AldPastResult *results, size_t n);
