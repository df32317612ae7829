/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

#define ALD_TOPOLOGY_PATHS 2u /* sockets, RDMA */
#define ALD_TOPOLOGY_EDGES_MAX 250000u

/* Two nodes and what goes between them; NaN is unknown. a comes before b. */
typedef struct AldPair {
        guint64 key;
        unsigned a, b;      /* indices of nodes */
        double there, back; /* bits per second from a to b, and from b to a */
        double rtt;         /* the smaller of what is told, ns */
} AldPair;

typedef struct AldTopology {
        GPtrArray *names; /* of nodes: safe text; the model's that count, then those it does not know */
        GPtrArray *gone;  /* "three (offline)": nodes of the model that do not count, as safe text */
        GPtrArray *pairs[ALD_TOPOLOGY_PATHS]; /* AldPair, by a and b */
} AldTopology;

/* Of the rows of GetTopology(); those that make no edge between two nodes are passed over. */
AldTopology *ald_topology_new(AldModel *model, const json_t *rows);
void ald_topology_free(AldTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopology, ald_topology_free)

/* The pair of two nodes in either order, or NULL. */
const AldPair *ald_topology_find(const AldTopology *topology, unsigned path, unsigned x, unsigned y);

/* The rows with the names of their nodes put in. */
json_t *ald_topology_to_json(AldModel *model, const json_t *rows);
