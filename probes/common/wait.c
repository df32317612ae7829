/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "probes/common/probe-clock.h"
#include "probes/common/wait.h"

int ald_stop_fd(void)
{
        sigset_t set;
        int fd;

        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

int ald_wait(struct pollfd *fds, unsigned n, uint64_t deadline)
{
        for (;;) {
                uint64_t now = ald_now(), left = deadline > now ? deadline - now : 0;
                struct timespec timeout = {
                        .tv_sec = (time_t) (left / ALD_NSEC_PER_SEC),
                        .tv_nsec = (long) (left % ALD_NSEC_PER_SEC),
                };
                int r = ppoll(fds, n, &timeout, NULL);

                if (r >= 0)
                        return r;
                if (errno != EINTR)
                        return -errno;
        }
}

int ald_wait_for(int fd, short events, int stop, uint64_t deadline, const char *what, AldFailure *failure)
{
        struct pollfd fds[] = { { fd, events, 0 }, { stop, POLLIN, 0 } };
        int r = ald_wait(fds, 2, deadline);

        if (r < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "waiting failed");
        if (fds[1].revents)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (r == 0)
                return ald_fail(failure, ALD_FAILURE_TIMEOUT, "timed out (%s)", what);
        return 0;
}
