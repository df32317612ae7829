/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/prctl.h>

#include "probes/common/confine.h"
#include "probes/common/limits.h"

/* Newer than the headers of our oldest distribution; older kernels do not know it. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int ald_confine(uint64_t data_max, int signal, int parent)
{
        const AldLimits limits = { .data_max = data_max, .files_max = 64, .cpu_seconds_max = 600 };

        /* Data from other machines is read here and must never become code. */
        (void) prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
        return ald_limits_take(&limits, signal, parent);
}
