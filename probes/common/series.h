/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Statistics of a series of rates, in work per second. Pure. */

/* More than any measurement needs. */
#define ALD_SERIES_MAX 1024u

typedef struct AldSeries {
        double rates[ALD_SERIES_MAX];
        size_t n;
} AldSeries;

typedef struct AldSeriesFigures {
        double best;
        double mean;
        double median;
        double interval; /* half of the 95 % interval of the mean, relative to it; INFINITY below 2 rates */
} AldSeriesFigures;

/* A rate of bytes as a field holds it, a whole number; absent if none does. */
uint64_t ald_series_bytes(double rate);

/* False if the series is full, or the value is not a rate. */
bool ald_series_add(AldSeries *series, double rate);

/* False if the series is empty. */
bool ald_series_figures(const AldSeries *series, AldSeriesFigures *ret);

/* The number of rates that are at least 1 - part of the best. */
size_t ald_series_near_best(const AldSeries *series, double part);

/*
 * The highest rate that n rates come close to, itself among them: they are at least 1 - part of it and not
 * above it. Where we are woken late, one window is too long and the next one too short, so that its rate
 * means nothing. 0 if there is none.
 */
double ald_series_confirmed(const AldSeries *series, double part, size_t n);

/* The factor of the standard error for a 95 % interval of the mean of n values (Student's t). */
double ald_student(size_t n);

/* The batches before a measurement, which show whether the device has stopped speeding up or slowing down. */
#define ALD_SETTLE_BATCHES 5u

typedef struct AldSettle {
        double rates[ALD_SETTLE_BATCHES];
        double clocks[ALD_SETTLE_BATCHES]; /* 0: unknown */
        size_t n;
} AldSettle;

/* Adds a batch; the clock in Hz, 0 if unknown. */
void ald_settle_add(AldSettle *settle, double rate, double clock);

/* The slope of the rates over the last batches, relative to their mean; INFINITY if there are too few. */
double ald_settle_slope(const AldSettle *settle);

/* Whether the rates and the clocks are constant. */
bool ald_settle_done(const AldSettle *settle);
