/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/options.h"

/* Both return an exit status. */

/* Serves those who connect, of which one is measured at a time, until told to stop. */
int ald_rdma_listener_run(const AldRdmaOptions *options);

/* Serves the connection that whoever runs us has taken. */
int ald_rdma_listener_serve(const AldRdmaOptions *options);
