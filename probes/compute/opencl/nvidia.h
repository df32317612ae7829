/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm/gemm.h"

/* Ten times the compute capability; 0 if it is not an NVIDIA GPU. */
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
