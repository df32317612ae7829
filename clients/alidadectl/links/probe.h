/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "state-client/model.h"

/* What to probe: the link to a node over sockets or RDMA, or compute devices of this machine. */
typedef struct AldProbeOrder {
        AldCtl ctl;
        const char *label;   /* safe text: its name */
        const char *node;    /* its id */
        const char *address; /* NULL: all its addresses */
        bool rtt_only;
        bool rdma;
        const char *port, *peer_port; /* over RDMA; NULL: all that are active */
        const char *device;           /* NULL: a link; "": all devices */
        char **metrics;               /* NULL: all */
        bool force;                   /* devices, even if other work is running */
} AldProbeOrder;

/* Runs the probe, shows the progress, and prints the result. Ctrl-C cancels it. Returns an exit code. */
int ald_probe_run(const AldProbeOrder *order);
