/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/socket/transfer/socket-options.h"
#include "probes/socket/transfer/socket-result.h"

/*
 * Serves one connection; with --listen once it has its turn, which it requests at link.report_fd. Takes
 * ownership of fd and tls. `served` is filled in as far as the session gets, and must be cleared in any case.
 */
int ald_socket_server_run(const AldSocketOptions *options, int fd, AldTls *tls, int stop,
        AldSocketSessionReport *served, AldFailure *failure);
