/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm.h"

/* Matrix units: MFMA of CDNA, WMMA of RDNA from its third generation on. */
AldFit ald_amd_fit_mfma(const AldOpenclTarget *device);
AldFit ald_amd_fit_wmma(const AldOpenclTarget *device);

/* Builds kernels that use what kernels/amd.cl gives. */
int ald_amd_build(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);
