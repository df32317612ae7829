/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/neighbours.h"
#include "services/link-probe/results.h"

/* Which RDMA ports of this machine and of a peer are to be measured, where somebody wishes so. Pure. */

/* What an end says of itself; each record may be NULL. */
typedef struct AldRdmaWishEnd {
        const char *id;
        const AldNetwork *network;
        const AldFabric *fabric;
} AldRdmaWishEnd;

#define ALD_RDMA_WISH_TARGETS_MAX 16u

/*
 * Fills in the targets (AldProbeTarget): the ports that are wanted or, where those are empty, each one of
 * this machine that can be used, with one of the peer of the same link layer: a neighbour if there is one,
 * and each in turn. All have the same address for their control connection: one over which a probe reached
 * the peer, if there is one. -ENODEV where there are no such ports, -ENXIO where there is no address.
 */
int ald_rdma_wish_resolve(const AldProbeTarget *wanted, const AldRdmaWishEnd *own, const AldRdmaWishEnd *peer,
        const AldNeighbours *neighbours, const AldResults *results, GArray *targets);
