/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "services/link-probe/net/counters.h"
#include "state/link/probe-policy.h"

/* A probe measures a path to a peer, or a device of this machine. Its kind decides which; the members for the
 * other are empty. */
typedef struct AldProbeKind AldProbeKind;

#define ALD_CPU_ID "cpu" /* the processors as a device, as in Node1.Backends */

typedef struct AldProbeTarget {
        const AldProbeKind *kind;
        bool automatic; /* not requested by a user */

        char peer[33];
        char address[46];   /* without zone; over RDMA, of the control connection */
        char interface[16]; /* through which to reach the address; empty: chosen by the route */
        /* Over RDMA, ports of this machine and of the peer, such as "mlx5_0.1". */
        char source_port[ALD_PORT_NAME_SIZE], sink_port[ALD_PORT_NAME_SIZE];
        bool rtt_only;
        /* The scope that the state service found due; always full for a requested probe. */
        AldLinkScope scope;
        bool overdue;         /* asks the other end to measure even if it is in use */
        bool despite_traffic; /* the result is kept even if other traffic disturbed it */
        bool brief;           /* a full measurement that takes little time */
        /* A first measurement that is made beside programs that use the processors. Its result is marked. */
        bool despite_work;

        char *device;
        char *driver_version; /* may be NULL */
        unsigned metrics;     /* AldComputeMetric */
        bool host_memory;     /* it uses host memory, so copies are not measured */
        char **arguments;     /* further arguments of its program; may be NULL */
        bool partial;         /* the result is for the caller only, not for the record */
        bool force;           /* measures and sets a flag if other work is running, instead of stopping */
} AldProbeTarget;

/* Sets a path, copying the strings; -EINVAL if one is too long. */
int ald_probe_target_set(AldProbeTarget *target, const AldProbeKind *kind, const char *peer,
        const char *address, const char *interface);
/* Sets the ports of a path over RDMA; -EINVAL if the name of a port is invalid. */
int ald_probe_target_set_ports(AldProbeTarget *target, const char *source_port, const char *sink_port);

AldProbeTarget ald_probe_target_copy(const AldProbeTarget *target);
void ald_probe_target_clear(AldProbeTarget *target);

/* Creates an array of targets that are cleared with it. */
GArray *ald_probe_targets_new(void);

/* Returns the name of a target in messages and logs: its address or device. */
const char *ald_probe_target_name(const AldProbeTarget *target);
