/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/measure.h"

/* One way of going through memory. */
typedef struct AldShape {
        const char *name;
        const char *kernel;
        unsigned local;    /* at most so many work-items in a group */
        unsigned per_unit; /* work-items for each compute unit */
} AldShape;

/* Kernels take memory to read, the sums or memory to copy to, how many vectors of 16 words there are, and how
 * often to go through them. Processors get as many work-items for each pass, others the same for all passes.
 */
typedef struct AldBandwidth {
        const char *source;
        const AldShape *shapes; /* the likeliest first, the simplest last */
        size_t n_shapes;
        bool copies; /* bytes read and bytes written count */
} AldBandwidth;

/* Of processors, and of everything else; they run anywhere. */
extern const AldBandwidth ald_read_cpu, ald_copy_cpu, ald_read_gpu, ald_copy_gpu;

/* The fastest shape that does all of its work, through memory that outgrows the caches. */
int ald_bandwidth_measure(AldSession *session, const AldBandwidth *bandwidth,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
