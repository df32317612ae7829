/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/socket/confine.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WITH_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WITH_SANITIZER 1
#endif

#define DATA_MAX (64u * 1024 * 1024)
#define FILES_MAX 64u
#define CPU_SECONDS_MAX 600u /* of all threads together */

static void limit(int resource, rlim_t most)
{
        const struct rlimit value = { most, most };

        (void) setrlimit(resource, &value);
}

int ald_confine(int signal, int parent)
{
        if (signal != 0) {
                (void) prctl(PR_SET_PDEATHSIG, signal);
                if (getppid() != parent)
                        return -ESRCH;
        }
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        limit(RLIMIT_CORE, 0);
        limit(RLIMIT_NOFILE, FILES_MAX);
        limit(RLIMIT_CPU, CPU_SECONDS_MAX);
#ifndef WITH_SANITIZER
        /* The shadow memory of a sanitizer counts as data. */
        limit(RLIMIT_DATA, DATA_MAX);
#endif
        return 0;
}
