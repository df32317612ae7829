/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* A node as benchmarks know it: the record interfaces that nodes measure, which are the first kinds, 2
 * GPUs, 6 network interfaces, and links to 4 peers. */
#define FIXTURE_KINDS ALD_KIND_PROBE_POLICY
#define FIXTURE_PEERS 4u
#define FIXTURE_RECORDS (FIXTURE_KINDS + FIXTURE_PEERS)

AldId fixture_id(unsigned node);

/* Record `which` (below FIXTURE_RECORDS) of the node, with figures that follow from `turn`. The key lives in
 * the buffer; the record is a new reference. */
AldUpdate fixture_update(unsigned node, unsigned which, unsigned nodes, uint64_t turn, char key[static 128]);

/* A link to a peer that the node has measured, and the node's interfaces with another negotiated speed. */
AldUpdate fixture_link(unsigned node, unsigned peer, uint64_t turn, char key[static 128]);
AldUpdate fixture_speed(unsigned node, uint64_t turn);
