/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/amd.h"
#include "probes/compute/kernels.h"

/* Those that kernels/amd.cl knows. */
static const char *const with_matrix_units[] = { "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950",
        "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200",
        "gfx1201" };

/* "gfx90a:sramecc+:xnack-" */
AldFit ald_amd_fit_matrix(const AldDevice *device)
{
        size_t length = strcspn(device->gfx, ":");

        for (size_t i = 0; i < G_N_ELEMENTS(with_matrix_units); i++)
                if (strlen(with_matrix_units[i]) == length &&
                        strncmp(with_matrix_units[i], device->gfx, length) == 0)
                        return ALD_FIT_YES;
        return ALD_FIT_NO;
}

int ald_amd_build(AldSession *session, const AldGemmVariant *variant, const char *options, cl_program *ret,
        AldFailure *failure)
{
        g_autofree char *source = g_strconcat(ald_kernel_amd, variant->source, NULL), *log = NULL;

        if (ald_session_build(session, source, options, ret, &log) < 0)
                return ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "it does not compile%s%s", log ? ": " : "",
                        log ?: "");
        return 0;
}
