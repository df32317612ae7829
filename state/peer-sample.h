/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * With which peers this node measures links now. In a small cluster that is every node that is online. From
 * ALD_PEER_SAMPLE_FROM nodes on, they stand in a ring by their ids, and in each period those at certain
 * distances meet, so that every node meets at most ALD_PEER_SAMPLE others, both ends agree without a word,
 * and after a whole turn all have met. The turn is a power of two of periods, so that it stays the same while
 * single nodes come and go.
 */
#define ALD_PEER_SAMPLE_FROM 64u
#define ALD_PEER_SAMPLE 16u

/* Of so many nodes in the order of their ids: the places (size_t) of those whom the one at the place `own`
 * meets in this period, counted from any. */
GArray *ald_peer_sample_pick(size_t n_nodes, size_t own, uint64_t period);

/* The AldNodes, this node left out. */
GPtrArray *ald_peer_sample_compute(AldStore *store, uint64_t now_realtime, uint64_t period_usec);

/* In how many periods each of so many nodes meets each other: 1, 4 with 64 nodes, 64 with 1000, 1024 with
 * 10,000. */
size_t ald_peer_sample_turn(size_t n_nodes);
