/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

/* Matrix units: the devices that have them, and how kernels for them are built. */

/* These return whether an NVIDIA GPU has matrix units: wmma from Volta on, mma.sync from Turing on. */
AldFit ald_nvidia_fit_wmma(const AldOpenclTarget *device);
AldFit ald_nvidia_fit_mma(const AldOpenclTarget *device);
/* Returns whether it has warpgroup instructions, which only Hopper has. */
AldFit ald_nvidia_fit_wgmma(const AldOpenclTarget *device);

/* These build kernels that use kernels/nvidia-volta.cl, or nvidia.cl, or both nvidia.cl and
 * nvidia-hopper.cl. */
int ald_nvidia_build_wmma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);
int ald_nvidia_build_mma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);
int ald_nvidia_build_wgmma(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure);

/* These return whether an AMD GPU has matrix units: MFMA of CDNA, WMMA from RDNA 3 on. */
AldFit ald_amd_fit_mfma(const AldOpenclTarget *device);
AldFit ald_amd_fit_wmma(const AldOpenclTarget *device);

/* Builds kernels that use kernels/amd.cl. */
int ald_amd_build(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);

/* Returns whether an Intel GPU has matrix units, used by cl_intel_subgroup_matrix_multiply_accumulate. The
 * supported size of sub-groups is found by building. */
AldFit ald_intel_fit_matrix(const AldOpenclTarget *device);
