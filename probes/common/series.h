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

/* Converts a rate of bytes to the whole number of a field, which is absent if none can hold it. */
uint64_t ald_series_bytes(double rate);

/* Returns false if the series is full, or the value is not a rate. */
bool ald_series_add(AldSeries *series, double rate);

/* Returns false if the series is empty. */
bool ald_series_figures(const AldSeries *series, AldSeriesFigures *ret);

/* Returns the number of rates that are at least (1 - part) times the best. */
size_t ald_series_near_best(const AldSeries *series, double part);

/*
 * Returns the highest rate that n rates confirm, itself among them: they are at least (1 - part) times that
 * rate and not above it. A late wake-up makes one window too long and the next one too short, so the rate of
 * a single window means nothing. Returns 0 if there is none.
 */
double ald_series_confirmed(const AldSeries *series, double part, size_t n);

/* Returns the factor of the standard error for a 95 % interval of the mean of n values (Student's t). */
double ald_student_factor(size_t n);

/* The batches before a measurement, which show whether the device has stopped speeding up or slowing down. */
#define ALD_SETTLE_BATCHES 5u

typedef struct AldSettle {
        double rates[ALD_SETTLE_BATCHES];
        double clocks[ALD_SETTLE_BATCHES]; /* 0: unknown */
        size_t n;
} AldSettle;

/* Adds a batch; the clock in Hz, 0 if unknown. */
void ald_settle_add(AldSettle *settle, double rate, double clock);

/* Returns the slope of the rates over the last batches, relative to their mean; INFINITY if there are too
 * few. */
double ald_settle_slope(const AldSettle *settle);

/* Returns whether the rates and the clocks are constant. */
bool ald_settle_done(const AldSettle *settle);
