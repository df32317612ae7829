/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/common/limits.h"

static void limit(int resource, rlim_t most)
{
        const struct rlimit value = { most, most };

        (void) setrlimit(resource, &value);
}

int ald_limits_take(const AldLimits *limits, int signal, int parent)
{
        if (signal != 0) {
                (void) prctl(PR_SET_PDEATHSIG, signal);
                if (getppid() != parent)
                        return -ESRCH;
        }
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        limit(RLIMIT_CORE, 0);
        limit(RLIMIT_NOFILE, limits->files_max);
        limit(RLIMIT_CPU, limits->cpu_seconds_max);
#ifndef WITH_SANITIZER
        /* The shadow memory of a sanitizer counts as data. */
        if (limits->data_max > 0)
                limit(RLIMIT_DATA, limits->data_max);
#endif
        return 0;
}
