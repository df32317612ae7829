/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm-check.h"
#include "probes/compute/gemm.h"

#define ALD_N_ELEMENTS 2u

/* What the variants work on, each made when one first asks for it, and what the product must be. */
typedef struct AldGemmBuffers {
        AldSession *session;
        unsigned n;
        cl_mem a[ALD_N_ELEMENTS];
        cl_mem b[ALD_N_ELEMENTS][2]; /* [1]: transposed */
        cl_mem panels_a, panels_b;
        cl_mem c;
        AldGemmCheck *checks[ALD_N_ELEMENTS];
} AldGemmBuffers;

/* Makes all that the variant needs. -ENOMEM where the device has not enough memory. */
int ald_gemm_buffers_prepare(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure);

/* Leaves no right element in the product. */
int ald_gemm_buffers_spoil(AldGemmBuffers *buffers, AldFailure *failure);

/* Reads the product and says whether it is right: -EBADMSG if not. */
int ald_gemm_buffers_check(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure);

void ald_gemm_buffers_clear(AldGemmBuffers *buffers);
