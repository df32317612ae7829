/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

typedef struct AldPeakVariant AldPeakVariant;

/*
 * A kernel peak(__global float *out, int iterations, float factor), with factor -1, whose work-items each
 * write their result to `out`.
 */
struct AldPeakVariant {
        const char *name;
        const char *precision, *accumulator;
        bool fp16_hardware;
        AldFit (*fit)(const AldOpenclTarget *device);
        const char *source, *options;
        AldProgramBuild build;  /* NULL to build the source as it is */
        unsigned local;         /* work-items of a work-group */
        unsigned per_unit;      /* work-items for each compute unit, whole work-groups */
        unsigned width, chains; /* elements of a chain, and chains of a work-item: -DWIDTH, -DCHAINS */
        double operations;      /* floating point operations of a work-item in an iteration */
        /* Returns the value of `out` at an index after any even number of iterations. */
        double (*expected)(const AldPeakVariant *variant, unsigned index);
};

const AldPeakVariant *ald_peak_variants(size_t *ret_n);
const AldPeakVariant *ald_peak_variant_find(const char *name);
