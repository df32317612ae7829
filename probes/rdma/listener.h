/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/options.h"

/* Both return an exit status. */

/* Accepts connections and measures one peer at a time, until a signal. */
int ald_rdma_listener_run(const AldRdmaOptions *options);

/* Serves a connection that the caller has accepted. */
int ald_rdma_listener_serve(const AldRdmaOptions *options);
