/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm-buffers.h"

/* A variant that is ready to be launched. */
typedef struct AldGemmJob {
        const AldGemmVariant *variant;
        AldOpenclSession *session;
        AldFailure *failure; /* receives those of launches; to be set before each run */
        unsigned n;
        cl_program program;
        cl_kernel pack_a, pack_b, gemm;
} AldGemmJob;

/* Builds a variant. The buffers must be prepared for it, and outlive the job. */
int ald_gemm_job_new(
        const AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure, AldGemmJob **ret);
void ald_gemm_job_free(AldGemmJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGemmJob, ald_gemm_job_free)

/* Launches one whole product, including packing. This is an AldLaunch. */
int ald_gemm_job_launch(void *userdata, cl_event *ret);

/* Returns the floating point operations of a launch. */
double ald_gemm_work(unsigned n);
