/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/gemm.h"

/* Ten times the compute capability; 0 where it is not a GPU of NVIDIA. */
unsigned ald_nvidia_capability(const AldOpenclTarget *device);

/* Matrix units: wmma from Volta on, mma.sync from Turing on. */
AldFit ald_nvidia_fit_wmma(const AldOpenclTarget *device);
AldFit ald_nvidia_fit_mma(const AldOpenclTarget *device);
/* The instructions of warpgroups, which Hopper alone has. */
AldFit ald_nvidia_fit_wgmma(const AldOpenclTarget *device);

/* Build kernels that use what kernels/nvidia-volta.cl gives, or nvidia.cl, or that and nvidia-hopper.cl. */
int ald_nvidia_build_wmma(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);
int ald_nvidia_build_mma(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);
int ald_nvidia_build_wgmma(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);
