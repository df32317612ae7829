/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/rdma-options.h"

/* Both return an exit status. */

/* Accepts connections and measures one peer at a time, until a signal arrives. */
int ald_rdma_listener_run(const AldRdmaOptions *options);

/* Serves the connection link.session_fd. The process is killed when the parent dies. */
int ald_rdma_listener_serve(const AldRdmaOptions *options, int parent);
