/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/options.h"

/* Both return an exit status. */

/* Serves one after the other who connects, until told to stop. */
int ald_rdma_listener_run(const AldRdmaOptions *options);

/* Serves the connection that whoever runs us has taken. */
int ald_rdma_listener_serve(const AldRdmaOptions *options);
