/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

/* Whether the device has matrix units: MFMA of CDNA, WMMA from RDNA 3 on. */
AldFit ald_amd_fit_mfma(const AldOpenclTarget *device);
AldFit ald_amd_fit_wmma(const AldOpenclTarget *device);

/* Builds kernels that use kernels/amd.cl. */
int ald_amd_build(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);
