/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "probes/common/failure.h"
#include "probes/compute/gemm-operands.h"

#define ALD_GEMM_SAMPLES 64u

/* What the product of the operands must be, in fp64. */
typedef struct AldGemmCheck AldGemmCheck;

AldGemmCheck *ald_gemm_check_new(AldElement element, unsigned n);
void ald_gemm_check_free(AldGemmCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGemmCheck, ald_gemm_check_free)

/* How far off an element may be where sums are kept in this type. */
double ald_gemm_tolerance(unsigned n, bool fp16_sums);

/*
 * Compares rows of a product with what they must be: the corners and ALD_GEMM_SAMPLES random elements one by
 * one, and all elements of each row together, weighted at random by 1 to 2 of either sign. A single wrong
 * element shows in the latter if it is wrong by more than 1.6·√n times the tolerance.
 */
int ald_gemm_check_rows(const AldGemmCheck *check, const float *rows, unsigned first, unsigned n_rows,
        double tolerance, AldFailure *failure);
