/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/link-probe/link/results.h"

/* The RDMA ports that are neighbours, as GetFabric() of org.alidade.State1 reports them. A port is in at most
 * one segment and in at most one candidate. */
typedef struct AldNeighbours AldNeighbours;

AldNeighbours *ald_neighbours_new(void);
void ald_neighbours_free(AldNeighbours *neighbours);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNeighbours, ald_neighbours_free)

/* Creates it from the segments that contain ports of a node (AldSegmentRow). A large subnet has many ports,
 * so only those of these two nodes are kept. */
AldNeighbours *ald_neighbours_between(const AldRows *segments, const char *node, const char *other);

/* Adds the ports of another segment, each as "NODE PORT". */
void ald_neighbours_add(AldNeighbours *neighbours, const char *const *members, unsigned n, bool candidate);

/* Returns 2 if the ports are certainly neighbours, 1 if they may be, 0 otherwise. */
unsigned ald_neighbours_rank(const AldNeighbours *neighbours, const char *node, const char *port,
        const char *other_node, const char *other_port);

/* Chooses the RDMA ports of this machine and of a peer for a requested probe. Pure. */

/* The records of one end; each may be NULL. */
typedef struct AldRdmaRequestEnd {
        const char *id;
        const AldNetwork *network;
        const AldFabric *fabric;
} AldRdmaRequestEnd;

#define ALD_RDMA_REQUEST_TARGETS_MAX 16u

/*
 * Appends the targets (AldProbeTarget): the requested ports or, if none are given, each usable port of this
 * machine. Each is paired with a port of the peer with the same link layer: with a neighbour if there is one,
 * and with ports used less often before others. All targets have the same address for their control
 * connection: one over which a probe has reached the peer, if there is one. Returns -ALD_E_NO_SUCH_DEVICE if
 * no port matches, -ALD_E_NO_SUCH_ADDRESS if no address is known.
 */
int ald_rdma_request_resolve(const AldProbeTarget *wanted, const AldRdmaRequestEnd *own,
        const AldRdmaRequestEnd *peer, const AldNeighbours *neighbours, const AldResults *results,
        GArray *targets);
