/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "probes/common/failure.h"
#include "probes/compute/gemm/gemm-operands.h"

#define ALD_GEMM_SAMPLES 64u

/* Some elements of the correct product of the operands, and the weighted sum of each of its rows, in fp64. */
typedef struct AldGemmCheck AldGemmCheck;

AldGemmCheck *ald_gemm_check_new(AldElement element, unsigned n);
void ald_gemm_check_free(AldGemmCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGemmCheck, ald_gemm_check_free)

/* Returns the tolerance of an element for sums of this type. */
double ald_gemm_tolerance(unsigned n, bool fp16_sums);

/*
 * Compares rows of a product with the correct values: the corners and ALD_GEMM_SAMPLES random elements
 * individually, and the sum of each row with random weights of 1 to 2 of either sign. The latter detects a
 * single element that is wrong by more than 1.6·√n times the tolerance.
 */
int ald_gemm_check_rows(const AldGemmCheck *check, const float *rows, unsigned first, unsigned n_rows,
        double tolerance, AldFailure *failure);
