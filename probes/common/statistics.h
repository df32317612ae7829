/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What series of figures say. Pure. */

/*
 * The mean of the middle half of the values, sorted in place: as deaf to what is far off as the median is to
 * a quarter of the values, and steadier, since it is not one of them. n > 0.
 */
double ald_middle_mean(double *values, size_t n);

/*
 * The 95 % interval of the median of sorted values, by the ranks of a binomial distribution,
 * so whatever their distribution is. Below 6 values there is none: false.
 */
bool ald_median_interval(const double *sorted, size_t n, double *ret_low, double *ret_high);

/* Round trips in ns. Jitter is the mean absolute difference of consecutive ones. */
typedef struct AldRttFigures {
        uint64_t min;
        uint64_t p50;
        uint64_t p99;
        uint64_t jitter; /* 0 where no burst has two */
        size_t n;
} AldRttFigures;

typedef struct AldRttSample {
        uint64_t nsec;
        uint32_t burst; /* those of one follow each other at once */
} AldRttSample;

/* Of samples in the order of time; jitter never spans two bursts. False where there are none. */
bool ald_rtt_figures(const AldRttSample *samples, size_t n, AldRttFigures *ret);
