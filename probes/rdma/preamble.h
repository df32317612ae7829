/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"

/* The first bytes of a control connection, "RDMA" before TLS: link-probed selects the program by them. */

int ald_preamble_say(int fd, AldFailure *failure);

/* Reads them from the connection. */
int ald_preamble_take(int fd, int stop, AldFailure *failure);
