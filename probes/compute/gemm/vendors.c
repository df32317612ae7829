/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/gemm/vendors.h"
#include "probes/compute/kernels.h"
#include "probes/compute/opencl/ptx.h"

#define PTX_MAX (64u * 1024 * 1024)

/* Returns ten times the compute capability of an NVIDIA GPU; 0 for any other device. */
static unsigned nvidia_capability(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_GPU && device->vendor == ALD_VENDOR_NVIDIA
                       ? device->nv_major * 10 + device->nv_minor
                       : 0;
}

AldFit ald_nvidia_fit_wmma(const AldOpenclTarget *device)
{
        return nvidia_capability(device) >= 70 ? ALD_FIT_YES : ALD_FIT_NO;
}

AldFit ald_nvidia_fit_mma(const AldOpenclTarget *device)
{
        return nvidia_capability(device) >= 75 ? ALD_FIT_YES : ALD_FIT_NO;
}

AldFit ald_nvidia_fit_wgmma(const AldOpenclTarget *device)
{
        return nvidia_capability(device) == 90 ? ALD_FIT_YES : ALD_FIT_NO;
}

static int build_source(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure)
{
        g_autofree char *all = g_strdup_printf(
                "%s -DCAPABILITY=%u", options, nvidia_capability(session->facts));

        return ald_opencl_session_build(session, source, all, ret, failure);
}

int ald_nvidia_build_wmma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure)
{
        g_autofree char *all = g_strconcat(ald_kernel_nvidia_volta, source, NULL);

        return build_source(session, all, options, ret, failure);
}

int ald_nvidia_build_mma(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure)
{
        g_autofree char *all = g_strconcat(ald_kernel_nvidia, source, NULL);

        return build_source(session, all, options, ret, failure);
}

/* Returns the PTX of a program, which NVIDIA's driver provides as its binary; NULL if it does not. */
static char *read_ptx(AldOpenclSession *session, cl_program program, size_t *ret_size)
{
        g_autofree char *ptx = NULL;
        size_t size = 0;

        if (session->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
                        CL_SUCCESS ||
                size == 0 || size > PTX_MAX)
                return NULL;
        ptx = g_malloc0(size + 1);
        if (session->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof ptx, &ptx, NULL) != CL_SUCCESS)
                return NULL;
        *ret_size = size;
        return g_steal_pointer(&ptx);
}

static int rebuild_for_hopper(
        AldOpenclSession *session, cl_program program, cl_program *ret, AldFailure *failure)
{
        size_t size = 0;
        g_autofree char *ptx = read_ptx(session, program, &size);
        g_autofree char *changed = ptx ? ald_ptx_uncomment(ptx, size, "sm_90", "sm_90a") : NULL;

        if (!changed)
                return ald_fail(
                        failure, ALD_FAILURE_BUILD_FAILED, "the driver returns no PTX that can be patched");
        return ald_opencl_session_build_ptx(session, changed, ret, failure);
}

int ald_nvidia_build_wgmma(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure)
{
        g_autofree char *all = g_strconcat(ald_kernel_nvidia, ald_kernel_nvidia_hopper, source, NULL);
        cl_program program;
        int r = build_source(session, all, options, &program, failure);

        if (r < 0)
                return r;
        r = rebuild_for_hopper(session, program, ret, failure);
        session->cl->ReleaseProgram(program);
        return r;
}

/* The chips that kernels/amd.cl knows. */
static const char *const with_mfma[] = { "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", NULL };
static const char *const with_wmma[] = { "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151",
        "gfx1152", "gfx1153", "gfx1200", "gfx1201", NULL };

/* The name of a chip may be followed by features, as in "gfx90a:sramecc+:xnack-". */
static AldFit fit_among(const AldOpenclTarget *device, const char *const *names)
{
        g_autofree char *name = g_strndup(device->gfx, strcspn(device->gfx, ":"));

        return g_strv_contains(names, name) ? ALD_FIT_YES : ALD_FIT_NO;
}

AldFit ald_amd_fit_mfma(const AldOpenclTarget *device)
{
        return fit_among(device, with_mfma);
}

AldFit ald_amd_fit_wmma(const AldOpenclTarget *device)
{
        return fit_among(device, with_wmma);
}

int ald_amd_build(AldOpenclSession *session, const char *source, const char *options, cl_program *ret,
        AldFailure *failure)
{
        g_autofree char *all = g_strconcat(ald_kernel_amd, source, NULL);

        return ald_opencl_session_build(session, all, options, ret, failure);
}

AldFit ald_intel_fit_matrix(const AldOpenclTarget *device)
{
        return device->type != ALD_LISTED_DEVICE_TYPE_CPU && device->vendor == ALD_VENDOR_INTEL &&
                               ald_opencl_target_has_extension(
                                       device, "cl_intel_subgroup_matrix_multiply_accumulate")
                       ? ALD_FIT_YES
                       : ALD_FIT_NO;
}
