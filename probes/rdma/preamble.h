/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"

/* The first bytes of a control connection, "RDMA" before TLS: they only choose the program that is to serve.
 */

int ald_preamble_say(int fd, AldFailure *failure);

/* Takes them off the connection. */
int ald_preamble_take(int fd, int stop, AldFailure *failure);
