/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/common/process-limits.h"

/* The headers of the oldest distribution that we support lack this; older kernels do not know it. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define MIB (UINT64_C(1) << 20)

/* These processes read data from other machines, which must never become code. */
const AldProcessLimits ald_process_limits_socket = {
        .data_max = 64 * MIB, .files_max = 64, .cpu_seconds_max = 600, .no_new_code = true
};
const AldProcessLimits ald_process_limits_rdma = {
        .data_max = 256 * MIB, .files_max = 64, .cpu_seconds_max = 600, .no_new_code = true
};

static void set_limit(int resource, rlim_t most)
{
        const struct rlimit value = { most, most };

        (void) setrlimit(resource, &value);
}

int ald_process_limits_apply(const AldProcessLimits *limits, int signal, int parent)
{
        if (limits->no_new_code)
                (void) prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
        if (signal != 0) {
                (void) prctl(PR_SET_PDEATHSIG, signal);
                if (getppid() != parent)
                        return -ESRCH;
        }
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        set_limit(RLIMIT_CORE, 0);
        set_limit(RLIMIT_NOFILE, limits->files_max);
        set_limit(RLIMIT_CPU, limits->cpu_seconds_max);
#ifndef WITH_SANITIZER
        /* The shadow memory of a sanitizer counts as data. */
        if (limits->data_max > 0)
                set_limit(RLIMIT_DATA, limits->data_max);
#endif
        return 0;
}
