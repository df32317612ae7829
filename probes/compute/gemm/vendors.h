/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

/* Which devices have matrix units, and how kernels for them are built. */

/* NVIDIA: ten times the compute capability; 0 if it is not an NVIDIA GPU. */
unsigned ald_nvidia_capability(const AldOpenclTarget *device);

/* Matrix units: wmma from Volta on, mma.sync from Turing on. */
AldFit ald_nvidia_fit_wmma(const AldOpenclTarget *device);
AldFit ald_nvidia_fit_mma(const AldOpenclTarget *device);
/* Warpgroup instructions, which only Hopper has. */
AldFit ald_nvidia_fit_wgmma(const AldOpenclTarget *device);

/* Build kernels that use kernels/nvidia-volta.cl, or nvidia.cl, or both nvidia.cl and nvidia-hopper.cl. */
int ald_nvidia_build_wmma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);
int ald_nvidia_build_mma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);
int ald_nvidia_build_wgmma(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure);

/* AMD: whether the device has matrix units: MFMA of CDNA, WMMA from RDNA 3 on. */
AldFit ald_amd_fit_mfma(const AldOpenclTarget *device);
AldFit ald_amd_fit_wmma(const AldOpenclTarget *device);

/* Builds kernels that use kernels/amd.cl. */
int ald_amd_build(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure);

/* Intel: matrix units, by cl_intel_subgroup_matrix_multiply_accumulate. The supported size of sub-groups is
 * found by building. */
AldFit ald_intel_fit_matrix(const AldOpenclTarget *device);
