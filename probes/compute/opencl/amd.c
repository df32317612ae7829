/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/kernels.h"
#include "probes/compute/opencl/amd.h"

/* Those that kernels/amd.cl knows. */
static const char *const with_mfma[] = { "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", NULL };
static const char *const with_wmma[] = { "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151",
        "gfx1152", "gfx1153", "gfx1200", "gfx1201", NULL };

/* "gfx90a:sramecc+:xnack-" */
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
