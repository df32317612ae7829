/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/neighbours.h"
#include "services/link-probe/link/results.h"

/* Chooses the RDMA ports of this machine and of a peer for a requested probe. Pure. */

/* The records of one end; each may be NULL. */
typedef struct AldRdmaRequestEnd {
        const char *id;
        const AldNetwork *network;
        const AldFabric *fabric;
} AldRdmaRequestEnd;

#define ALD_RDMA_REQUEST_TARGETS_MAX 16u

/*
 * Fills in the targets (AldProbeTarget): the requested ports or, if none are given, each usable port of this
 * machine, with a port of the peer with the same link layer: a neighbour if there is one, and each in turn.
 * All have the same address for their control connection: one over which a probe has reached the peer, if
 * there is one. -ALD_E_NO_SUCH_DEVICE if no port matches, -ALD_E_NO_SUCH_ADDRESS if no
 * address is known.
 */
int ald_rdma_request_resolve(const AldProbeTarget *wanted, const AldRdmaRequestEnd *own,
        const AldRdmaRequestEnd *peer, const AldNeighbours *neighbours, const AldResults *results,
        GArray *targets);
