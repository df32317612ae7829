/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/ctl.h"
#include "state-client/model.h"

/* What is to be probed: the link to a node over sockets or RDMA, or compute devices of this machine. */
typedef struct AldProbeOrder {
        const AldCtl *ctl;
        const char *label;   /* safe text: how it is called */
        const char *node;    /* its id */
        const char *address; /* NULL: all of its */
        bool rtt_only;
        bool rdma;
        const char *port, *peer_port; /* over RDMA; NULL: all that are active */
        const char *device;           /* NULL: a link; "": all devices */
        char **metrics;               /* NULL: all */
        bool force;                   /* devices in spite of other work */
} AldProbeOrder;

/* Has it probed, shows how it goes, and prints the result. Ctrl-C cancels it. An exit code. */
int ald_probe_run(const AldProbeOrder *order);
