/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/measure.h"

/* One way of traversing memory. */
typedef struct AldShape {
        const char *name;
        const char *kernel;
        unsigned local;    /* maximum number of work-items in a group */
        unsigned per_unit; /* work-items for each compute unit */
} AldShape;

/* The arguments of kernels are memory to read, the sums or memory to copy to, the number of vectors of 16
 * words, and, if they make several passes through it in one launch, their number. Each pass has its own
 * work-items. */
typedef struct AldBandwidth {
        const char *source;
        const AldShape *shapes; /* the most promising first, the simplest last */
        size_t n_shapes;
        bool copies;      /* bytes read and bytes written are counted */
        bool many_passes; /* if not, each launch makes one */
} AldBandwidth;

/* These are for processors, and for all other devices, although each runs on any device. */
extern const AldBandwidth ald_read_cpu, ald_copy_cpu, ald_read_gpu, ald_copy_gpu;

/* Measures the fastest shape that works correctly, on memory larger than the caches. */
int ald_bandwidth_measure(AldOpenclSession *session, const AldBandwidth *bandwidth,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
