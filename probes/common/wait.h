/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "probes/common/failure.h"

/*
 * Blocks SIGINT and SIGTERM in this thread and those it will start, and returns a file descriptor that
 * becomes readable when one of them arrives.
 */
int ald_stop_fd(void);

/* Waits until a descriptor is ready or until the deadline (ns, as ald_now()). Returns the number of ready
 * descriptors, or a negative errno. */
int ald_wait(struct pollfd *fds, unsigned n, uint64_t deadline);

/* Waits for one descriptor. Fails if `stop` becomes readable, or at the deadline; `what` is the reason then,
 * such as "waited for TLS". */
int ald_wait_for(int fd, short events, int stop, uint64_t deadline, const char *what, AldFailure *failure);
