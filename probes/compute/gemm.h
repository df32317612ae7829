/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm-operands.h"
#include "probes/compute/measure.h"

/* Whether a device should run a kernel. */
typedef enum AldFit {
        ALD_FIT_NO,
        ALD_FIT_LAST_RESORT, /* if none that fits better is right */
        ALD_FIT_YES,
} AldFit;

/* For programs that need more than their source: -errno with what is wrong. */
typedef int (*AldBuild)(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);

typedef struct AldGemmVariant AldGemmVariant;

/*
 * A kernel gemm(a, b, c, int n) that makes C = A·B of n × n elements. C is fp32, its rows one after the
 * other, with ALD_GEMM_ROWS_OVER rows after the last that may be written to.
 */
struct AldGemmVariant {
        const char *name;
        const char *precision, *accumulator; /* as in org.alidade.Node1.Compute */
        bool fp16_hardware;                  /* the multiplicands are fp16 in hardware */
        bool fp16_sums;                      /* in any step: results are less exact */
        AldFit (*fit)(const AldOpenclTarget *device);

        AldElement element;
        bool b_transposed; /* columns of B one after the other */
        unsigned multiple; /* n must be one of this */

        const char *peak; /* the one of peak.h by units that others of its precision do not use; or NULL */

        const char *source, *options; /* options may be NULL */
        AldBuild build; /* NULL: of the source as it is. The options are those of the variant and of its
                           sizes. */

        /* Work-groups of local_columns × local_rows work-items do tiles of C. -DTILE_COLUMNS, -DTILE_ROWS. */
        unsigned tile_columns, tile_rows;
        unsigned local_columns, local_rows;

        /*
         * Not 0: kernels pack_a(a, panels, int n), a work-item for each so many rows, and pack_b(b, panels,
         * int n), one for each 16 rows, each for 256 columns, come first, within the time that is taken; gemm
         * gets the panels. -DCOLUMNS, -DROWS.
         */
        unsigned pack_columns, pack_rows;
};

#define ALD_GEMM_ROWS_OVER 16u

/* Those first that use the hardware best: what follows a variant is simpler. */
typedef struct AldGemmVariants {
        const AldGemmVariant *variants;
        size_t n;
} AldGemmVariants;

extern const AldGemmVariants ald_gemm_variants;

/* NULL where there is none of this name. */
const AldGemmVariant *ald_gemm_variant_find(const AldGemmVariants *variants, const char *name);

/* ald_gemm_measure() with one of these. */
int ald_gemm_measure_among(AldSession *session, const AldGemmVariants *variants,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);

/* n for this device, of which so much memory is free (0: not known); *ret_reduced: smaller than its speed
 * asks for, for want of memory. 0: not enough for any. */
unsigned ald_gemm_size(const AldOpenclTarget *device, uint64_t available, bool *ret_reduced);

/* Whether memory for n is there. */
bool ald_gemm_size_fits(const AldOpenclTarget *device, uint64_t available, unsigned n);

#define ALD_GEMM_N_MIN 256u
