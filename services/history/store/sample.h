/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * What a field was at a moment. NaN means that it was unknown then. Integers of records are at most 2^53, so
 * a double holds each of them. Pure.
 */
typedef struct AldSample {
        int64_t time; /* CLOCK_REALTIME, in steps of ALD_SAMPLE_STEP_USEC */
        double value;
} AldSample;

/* Telemetry is at most as frequent as every 500 ms. The exact time of a sample would take more space than its
 * value. */
#define ALD_SAMPLE_STEP_USEC INT64_C(100000)

/*
 * The value as it is kept: rounded to a multiple of 1, 2 or 5 times a power of ten that is at most 1/400 of
 * it, so that integers up to 800 are exact; or of twice the precision if that is more. Noise beyond it would
 * take twice the space of what it is about. Infinity becomes NaN, and -0 becomes 0.
 */
double ald_sample_round(double value, double precision);

/*
 * Puts samples, in the order in which they arrived, into the order of time. Of several at one time the last
 * that arrived remains. That holds for samples that arrive late, for a record that is sent twice, and for a
 * clock that was set back: what is measured then is stored among what was measured before, since nothing
 * tells which of them has the right time.
 */
void ald_samples_settle(GArray *samples);
