/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/options.h"

/* Both return an exit status. */

/* Serves whoever connects, each in a child of its own, until told to stop. */
int ald_listener_run(const AldProbeOptions *options);

/* Serves one connection and tells how it was. parent: our end when it dies. */
int ald_listener_serve(const AldProbeOptions *options, int fd, int lock, int parent);
