/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "probes/common/moved.h"
#include "probes/common/optional.h"

/*
 * The rate of a transfer, and how sure it is, from what its receiver had at moments when something had just
 * arrived. From one arrival to another the amount is exact: only the time is not, by as long as nobody had
 * looked before. Pure.
 */

#define ALD_ESTIMATE_BIN_NS UINT64_C(50000000)
#define ALD_ESTIMATE_BIN_SEGMENTS 32u

/* No peer can measure more ppm than this. */
#define ALD_SPREAD_MAX UINT64_C(1000000000)

/* What had arrived by then, and how long before that was last looked at. */
typedef struct AldPoint {
        AldMoved moved;
        uint64_t since;
} AldPoint;

typedef struct AldEstimate {
        double rate;        /* bytes/ns; 0: there is none */
        double mean;        /* of all of the time: what held up the transfer shows here alone */
        double interval;    /* half of the 95 % interval; 0: it is unknown */
        AldOptional spread; /* standard deviation of the bins, in ppm of their mean */
        unsigned bins;      /* that are complete */
} AldEstimate;

/*
 * Of points in the order of time. end: when the transfer was last looked at, which may be long after the last
 * arrival; segment: bytes in a segment, as seen so far, 0 where that is unknown.
 */
AldEstimate ald_estimate(const AldPoint *points, size_t n, uint64_t end, double segment);
