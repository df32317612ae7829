/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "services/link-probe/net/counters.h"
#include "state/link/probe-policy.h"

/* A probe measures a path to a peer, or a device of this machine. Its kind decides which; the members
 * of the other are empty. */
typedef struct AldProbeKind AldProbeKind;

#define ALD_CPU_ID "cpu" /* the device that the processors are, as in Node1.Backends */

typedef struct AldProbeTarget {
        const AldProbeKind *kind;
        bool automatic; /* nobody requested it */

        char peer[33];
        char address[46];   /* without zone; over RDMA, the address for the control connection */
        char interface[16]; /* through which the address must be reached; empty: as the route decides */
        /* Over RDMA: "mlx5_0.1" of this machine and of the peer. */
        char source_port[ALD_PORT_NAME_SIZE], sink_port[ALD_PORT_NAME_SIZE];
        bool rtt_only;
        /* The scope found due by the state service; always full if started by hand. */
        AldLinkScope scope;
        bool overdue;         /* asks the other end to measure even if it is in use */
        bool despite_traffic; /* the result is kept even if other traffic disturbed it */
        bool brief;           /* a full measurement that is to take little time */

        char *device;
        char *driver_version; /* maybe NULL */
        unsigned metrics;     /* AldComputeMetric */
        bool host_memory;     /* it uses host memory, so copies are not measured */
        char **arguments;     /* of its program, besides those of its kind; maybe NULL */
        bool partial;         /* the result is for its caller only, not for the record */
        bool force;           /* measures and sets a flag if other work is running, instead of stopping */
} AldProbeTarget;

/* Sets a path, copying the strings; -EINVAL if one is too long. */
int ald_probe_target_set(AldProbeTarget *target, const AldProbeKind *kind, const char *peer,
        const char *address, const char *interface);
/* Adds the ports of a path over RDMA; -EINVAL if a name of a port is invalid. */
int ald_probe_target_set_ports(AldProbeTarget *target, const char *source_port, const char *sink_port);

AldProbeTarget ald_probe_target_copy(const AldProbeTarget *target);
void ald_probe_target_clear(AldProbeTarget *target);

/* An array of targets that are cleared with it. */
GArray *ald_probe_targets_new(void);

/* Returns its name in messages and logs: the address or the device. */
const char *ald_probe_target_name(const AldProbeTarget *target);
