/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * The peers with which this node measures links now. In a small cluster these are all nodes that are online.
 * From ALD_PEER_SAMPLE_FROM nodes on, the nodes form a ring by their ids, and in each period those at certain
 * distances are paired, so that every node has at most ALD_PEER_SAMPLE peers, both ends agree without
 * communication, and after a whole turn all have been paired. A turn is a power of two of periods, so that it
 * stays the same while single nodes come and go.
 */
#define ALD_PEER_SAMPLE_FROM 64u
#define ALD_PEER_SAMPLE 16u

/* Returns the indices (size_t) of the peers of node `own` in this period, among `n_nodes` nodes in the order
 * of their ids. */
GArray *ald_peer_sample_pick(size_t n_nodes, size_t own, uint64_t period);

/* Returns the peers of this node, as AldNodes. */
GPtrArray *ald_peer_sample_compute(AldStore *store, uint64_t now_realtime, uint64_t period_usec);

/* Returns the number of periods in a turn: 1 in small clusters, 4 with 64 nodes, 64 with 1000, 1024 with
 * 10,000. */
size_t ald_peer_sample_n_periods(size_t n_nodes);
