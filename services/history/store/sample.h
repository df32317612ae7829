/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * The value of a field at a moment; NaN if it was unknown. Integers of records are at most 2^53, so a double
 * represents each of them exactly. Pure.
 */
typedef struct AldSample {
        int64_t time; /* CLOCK_REALTIME, in steps of ALD_SAMPLE_STEP_USEC */
        double value;
} AldSample;

/* Telemetry has at most one sample per 500 ms, and the exact time of a sample would take more space than its
 * value. */
#define ALD_SAMPLE_STEP_USEC INT64_C(100000)

/*
 * Rounds a value for storage: to a multiple of 1, 2 or 5 times a power of ten that is at most 1/400 of the
 * value, so that integers up to 800 are exact; or of twice the precision if that is greater. Storing the
 * noise beyond that would take twice the space. Infinity becomes NaN, and -0 becomes 0.
 */
double ald_sample_round(double value, double precision);

/*
 * Sorts samples, given in the order of arrival, by time. Of several with the same time, the last one remains.
 * This covers samples that arrive late, a record that is sent twice, and a clock that was set back: new
 * samples are then stored among older ones, since it is unknown which have the right time.
 */
void ald_samples_settle(GArray *samples);
