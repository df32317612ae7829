/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Statistics of series of figures. Pure. */

/*
 * Returns the mean of the middle half of the values, which it sorts in place. It is as robust as the median
 * against up to a quarter of outliers on either side, and less noisy. n must not be 0.
 */
double ald_interquartile_mean(double *values, size_t n);

/* Round trips in ns. Jitter is the mean absolute difference of consecutive ones. */
typedef struct AldRttFigures {
        uint64_t min;
        uint64_t p50;
        uint64_t p99;
        uint64_t jitter; /* 0 if no burst has two samples */
        size_t n;
} AldRttFigures;

typedef struct AldRttSample {
        uint64_t nsec;
        uint32_t burst; /* samples of one burst follow each other immediately */
} AldRttSample;

/* Computes the figures from samples in chronological order; jitter does not span bursts. Returns false if
 * there are no samples. */
bool ald_rtt_figures(const AldRttSample *samples, size_t n, AldRttFigures *ret);
