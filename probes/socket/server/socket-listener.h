/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/transfer/socket-options.h"

/* Both return an exit status. */

/* Serves clients, each in its own child process, until a signal stops it. */
int ald_socket_listener_run(const AldSocketOptions *options);

/* Serves the connection link.session_fd and reports the result. The process is killed when the parent
 * dies. */
int ald_socket_listener_serve(const AldSocketOptions *options, int parent);
