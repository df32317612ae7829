/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm-check.h"
#include "probes/compute/gemm/gemm.h"

#define ALD_N_ELEMENTS 2u

/* The buffers of the variants, created on first use, and the check of the product. */
typedef struct AldGemmBuffers {
        AldOpenclSession *session;
        unsigned n;
        cl_mem a[ALD_N_ELEMENTS];
        cl_mem b[ALD_N_ELEMENTS][2]; /* [1]: transposed */
        cl_mem tiles_a, tiles_b;
        cl_mem panels_a, panels_b;
        cl_mem c;
        AldGemmCheck *checks[ALD_N_ELEMENTS];
} AldGemmBuffers;

/* Creates the buffers that the variant needs. Returns -ENOMEM if the device has too little memory. */
int ald_gemm_buffers_prepare(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure);

/* Makes all elements of the product wrong. */
int ald_gemm_buffers_invalidate(AldGemmBuffers *buffers, AldFailure *failure);

/* Reads the product and checks it. Returns -EBADMSG if it is wrong. */
int ald_gemm_buffers_check(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure);

void ald_gemm_buffers_clear(AldGemmBuffers *buffers);
