/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "probes/common/optional.h"

/*
 * Estimates the rate of a transfer and its uncertainty from the amounts that the receiver had whenever data
 * had just arrived. Between two arrivals the amount is exact; the time is uncertain by the interval since the
 * receiver last looked. Pure.
 */

#define ALD_ESTIMATE_BIN_NS UINT64_C(50000000)
#define ALD_ESTIMATE_BIN_SEGMENTS 32u

/* The counters of one direction at a point in time. */
typedef struct AldTransferCounters {
        uint64_t when;
        uint64_t bytes;    /* received in order, or acknowledged */
        uint64_t segments; /* received, including those after a lost one; 0 if unknown */
        uint64_t segment;  /* bytes of a full segment */
} AldTransferCounters;

/* The counters when data had just arrived, and how long before that the receiver last looked, in ns. */
typedef struct AldPoint {
        AldTransferCounters counters;
        uint64_t since;
} AldPoint;

typedef struct AldEstimate {
        double rate;        /* bytes/ns; 0: unknown */
        double mean;        /* over the whole time; unlike the rate, it shows stalls */
        double interval;    /* half of the 95 % interval; 0: unknown */
        AldOptional spread; /* standard deviation of the bins, in ppm of their mean */
        unsigned bins;      /* complete ones */
} AldEstimate;

/*
 * Estimates from points in chronological order. end: the time when the receiver last looked, which may be
 * long after the last arrival; segment: bytes in a segment, as seen so far, 0 if unknown; lossy: the sender
 * pauses because segments get lost, so its pauses count, rather than because its machine is busy.
 */
AldEstimate ald_estimate(const AldPoint *points, size_t n, uint64_t end, double segment, bool lossy);
