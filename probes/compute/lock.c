/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "probes/compute/lock.h"
#include "probes/fd.h"

/* On the program itself, which all users have and which needs no folder of its own. */
int ald_lock_take(AldFailure *failure)
{
        ald_fd int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "the program cannot open itself");
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return ald_fail(failure, ALD_FAILURE_BUSY,
                        "another alidade-probe-compute is at work on this machine");
        return ald_fd_steal(&fd);
}
