/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/memory/bandwidth.h"
#include "probes/compute/memory/memory-rate.h"

/* A shape that the device can run. */
typedef struct AldReadyShape {
        const AldShape *shape;
        cl_kernel kernel;
        size_t items; /* work-items of one pass */
        size_t local;
        double best;  /* rate; 0 if not tried */
        bool refused; /* it failed, or skipped work */
} AldReadyShape;

#define ALD_SHAPES_MAX 16u
#define ALD_PASSES_MAX 64u

typedef struct AldShapes {
        AldOpenclSession *session;
        cl_program program;
        AldReadyShape ready[ALD_SHAPES_MAX];
        size_t n;
        bool many_passes;   /* as in AldBandwidth */
        unsigned passes;    /* through the memory in one launch */
        AldReadyShape *now; /* the shape to launch */
        uint64_t launches;  /* counted by ald_shapes_launch() */
        AldFailure *failure;
} AldShapes;

/* Builds the requested shapes. */
int ald_shapes_open(AldShapes *ret, AldOpenclSession *session, const AldBandwidth *bandwidth,
        const AldMeasureOptions *options, AldFailure *failure);
void ald_shapes_close(AldShapes *shapes);

/* Returns the work-items of the largest possible launch. */
size_t ald_shapes_items(const AldShapes *shapes);

/* Selects a shape for the next launches, with this many passes through this memory, which must be one unless
 * kernels make many. Launches set `failure`. */
void ald_shapes_use(AldShapes *shapes, AldReadyShape *shape, const AldMemoryBuffers *memory, unsigned passes,
        AldFailure *failure);

/* Launches `now`. This is an AldLaunch whose userdata is an AldShapes. */
int ald_shapes_launch(void *userdata, cl_event *ret);

/* Returns the fastest shape that is not refused, or NULL. */
AldReadyShape *ald_shapes_best(AldShapes *shapes);
