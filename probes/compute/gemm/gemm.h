/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm-operands.h"
#include "probes/compute/run/measure.h"

/* The suitability of a kernel for a device. */
typedef enum AldFit {
        ALD_FIT_NO,
        ALD_FIT_LAST_RESORT, /* if no better one works */
        ALD_FIT_YES,
} AldFit;

/* Builds a program that needs more than its source. Returns a negative errno with the failure. */
typedef int (*AldProgramBuild)(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure);

typedef struct AldGemmVariant AldGemmVariant;

/*
 * A kernel gemm(a, b, c, int n) that computes C = A·B with n × n elements. C is fp32, its rows one after the
 * other, with ALD_GEMM_ROWS_OVER rows after the last that may be written to.
 */
struct AldGemmVariant {
        const char *name;
        const char *precision, *accumulator; /* as in org.alidade.Node1.Compute */
        bool fp16_hardware;                  /* the multiplicands are fp16 in hardware */
        bool fp16_sums;                      /* sums are fp16 in some step, so results are less exact */
        AldFit (*fit)(const AldOpenclTarget *device);

        AldElement element;
        bool b_transposed; /* columns of B one after the other */
        bool tiled; /* operands are in tiles of ald_operand_to_tiles(): tile_rows rows of A, tile_columns
                       columns of B */
        unsigned multiple; /* n must be a multiple of this */

        const char *peak; /* the variant of peak.h for units that other variants of this precision do not use;
                             or NULL */

        const char *source, *options; /* options may be NULL */
        AldProgramBuild build; /* NULL to build the source as it is; gets the options of the variant and of
                                  its sizes */

        /* Work-groups of local_columns × local_rows work-items compute tiles of C. The options are
         * -DTILE_COLUMNS and -DTILE_ROWS. */
        unsigned tile_columns, tile_rows;
        unsigned local_columns, local_rows;
        bool resident; /* only as many work-groups as there are compute units, which share the tiles */

        /*
         * If these are not 0, two kernels run first and are included in the time: pack_a(a, panels, int n),
         * with a work-item for each pack_rows rows, and pack_b(b, panels, int n), with one for each 16 rows,
         * each for 256 columns. gemm gets the panels. The options are -DCOLUMNS and -DROWS.
         */
        unsigned pack_columns, pack_rows;
};

#define ALD_GEMM_ROWS_OVER 16u

/* Variants, ordered by how well they use the hardware; each is followed by simpler ones. */
typedef struct AldGemmVariants {
        const AldGemmVariant *variants;
        size_t n;
} AldGemmVariants;

extern const AldGemmVariants ald_gemm_variants;

/* Returns NULL if there is none of this name. */
const AldGemmVariant *ald_gemm_variant_find(const AldGemmVariants *variants, const char *name);

/* Like ald_gemm_measure(), but with one of these variants. */
int ald_gemm_measure_among(AldOpenclSession *session, const AldGemmVariants *variants,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);

/* Returns the size n for this device with this much free memory (0 if unknown). Sets *ret_reduced if it is
 * smaller than the speed of the device requires, because of too little memory. Returns 0 if there is not
 * enough memory for any size. */
unsigned ald_gemm_size(const AldOpenclTarget *device, uint64_t available, bool *ret_reduced);

#define ALD_GEMM_N_MIN 256u
