/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "probes/common/failure.h"

/*
 * Blocks SIGINT and SIGTERM in this thread and those it will start, and returns a file descriptor that is
 * readable once one of them came.
 */
int ald_stop_fd(void);

/* Waits until one of the descriptors is ready or the deadline (ns, as ald_now()) is there: the number of
 * them, or -errno. */
int ald_wait(struct pollfd *fds, unsigned n, uint64_t deadline);

/* Waits for one, unless told to stop, which is a failure as is the deadline (`what` did not come). */
int ald_wait_for(int fd, short events, int stop, uint64_t deadline, const char *what, AldFailure *failure);
