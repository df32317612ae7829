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

/* Four significant decimal digits, which is finer than the thresholds of all fields and takes half the space
 * of the noise that follows them. Infinity becomes NaN, and -0 becomes 0. */
double ald_sample_round(double value);

/*
 * Puts samples, in the order in which they arrived, into the order of time. Of several at one time the last
 * that arrived remains. That holds for samples that arrive late, for a record that is sent twice, and for a
 * clock that was set back: what is measured then is stored among what was measured before, since nothing
 * tells which of them has the right time.
 */
void ald_samples_settle(GArray *samples);
