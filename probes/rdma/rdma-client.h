/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/probe-progress.h"
#include "probes/rdma/rdma-measurement.h"
#include "probes/rdma/rdma-options.h"
#include "probes/rdma/rdma-session.h"

/* Measures over the connection fd, and takes ownership of fd and tls. ald_rdma_session_close() closes what it
 * opens. */
int ald_rdma_client_run(const AldRdmaOptions *options, AldRdmaSession *session, int fd, AldTls *tls,
        AldProgress *progress, AldRdmaMeasurement *ret);
