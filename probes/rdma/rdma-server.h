/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/rdma-measurement.h"
#include "probes/rdma/rdma-options.h"
#include "probes/rdma/rdma-session.h"

/* Serves the connection fd, and takes ownership of fd and tls. ald_rdma_session_close() closes what it opens.
 * `served` is filled in as far as the session gets. */
int ald_rdma_server_run(const AldRdmaOptions *options, AldRdmaSession *session, int fd, AldTls *tls,
        AldRdmaSessionReport *served);
