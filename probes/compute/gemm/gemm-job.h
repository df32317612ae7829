/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm-buffers.h"

/* A variant that is ready to be launched. */
typedef struct AldGemmJob {
        const AldGemmVariant *variant;
        AldOpenclSession *session;
        AldFailure *failure; /* of launches */
        unsigned n;
        cl_program program;
        cl_kernel pack_a, pack_b, gemm;
} AldGemmJob;

/* The buffers must be prepared for the variant, and outlive the job. */
int ald_gemm_job_new(
        const AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure, AldGemmJob **ret);
void ald_gemm_job_free(AldGemmJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGemmJob, ald_gemm_job_free)

/* An AldLaunch: one whole product, including packing. */
int ald_gemm_job_launch(void *userdata, cl_event *ret);

/* Floating point operations of a launch. */
double ald_gemm_work(unsigned n);
