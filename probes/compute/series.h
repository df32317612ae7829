/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a series of rates, in work a second, says. Pure. */

/* More than any measurement takes: it ends before. */
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

/* False where there is no room for another, or it is no rate. */
bool ald_series_add(AldSeries *series, double rate);

/* False where the series is empty. */
bool ald_series_figures(const AldSeries *series, AldSeriesFigures *ret);

/* How many of the rates come within a part of the best. */
size_t ald_series_near_best(const AldSeries *series, double part);

/* The factor of the standard error for a 95 % interval of the mean of so many values, by Student. */
double ald_student(size_t n);

/* The batches that come before a measurement: whether the device has stopped speeding up or slowing down. */
#define ALD_SETTLE_BATCHES 5u

typedef struct AldSettle {
        double rates[ALD_SETTLE_BATCHES];
        double clocks[ALD_SETTLE_BATCHES]; /* 0: unknown */
        size_t n;
} AldSettle;

/* The clock in Hz, 0 where nothing tells it. */
void ald_settle_add(AldSettle *settle, double rate, double clock);

/* The change from one of the last batches to the next, relative to their mean; INFINITY before there are
 * enough of them. */
double ald_settle_slope(const AldSettle *settle);

/* Whether the rates and the clocks are flat. */
bool ald_settle_done(const AldSettle *settle);
