/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "probes/common/clock.h"
#include "probes/common/wait.h"
#include "probes/rdma/preamble.h"

#define SIZE 4u
#define PATIENCE (5 * ALD_NSEC_PER_SEC)

static const char preamble[SIZE] = { 'R', 'D', 'M', 'A' };

int ald_preamble_say(int fd, AldFailure *failure)
{
        /* Nothing was sent before, so the socket has room. */
        return send(fd, preamble, SIZE, MSG_NOSIGNAL) == SIZE
                       ? 0
                       : ald_fail(failure, ALD_FAILURE_ABORTED, "the connection is gone");
}

int ald_preamble_take(int fd, int stop, AldFailure *failure)
{
        uint64_t deadline = ald_now() + PATIENCE;
        char came[SIZE];
        size_t n = 0;

        while (n < SIZE) {
                ssize_t now;
                int r = ald_wait_for(fd, POLLIN, stop, deadline, "waited for the first bytes", failure);

                if (r < 0)
                        return r;
                now = recv(fd, came + n, SIZE - n, 0);
                if (now == 0 || (now < 0 && errno != EAGAIN && errno != EINTR))
                        return ald_fail(failure, ALD_FAILURE_ABORTED, "the other side is gone");
                n += now > 0 ? (size_t) now : 0;
                if (memcmp(came, preamble, n) != 0)
                        return ald_fail(failure, ALD_FAILURE_PROTOCOL, "the other side is not an RDMA probe");
        }
        return 0;
}
