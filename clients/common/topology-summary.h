/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/topology.h"

/* Summarizes the connection graph for people: nodes by name, and the best figures between each two of
 * them. */

/* Two nodes with paths between them; a is before b. Absent if unknown. */
typedef struct AldNodePair {
        guint64 key;
        unsigned a, b;             /* indices of nodes */
        uint64_t there, back;      /* bits per second from a to b, and from b to a */
        uint64_t rtt;              /* ns */
        const AldNodePairRow *row; /* of the topology */
} AldNodePair;

typedef struct AldTopologyNode {
        char *name; /* safe text */
        const AldGraphNodeRow *row;
} AldTopologyNode;

typedef struct AldTopologySummary {
        GPtrArray *nodes;  /* AldTopologyNode, by name */
        GPtrArray *pairs;  /* AldNodePair, by a and b */
        GHashTable *by_id; /* id → index + 1 */
} AldTopologySummary;

/* The topology must outlive the summary. */
AldTopologySummary *ald_topology_summarize(const AldTopology *topology);
void ald_topology_summary_free(AldTopologySummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopologySummary, ald_topology_summary_free)

/* Returns the index of a node plus 1; 0 for NULL, and if the graph does not have the node. */
unsigned ald_topology_summary_index(const AldTopologySummary *summary, const char *id);

/* Returns the name of a node, or the first digits of its id. */
const char *ald_topology_summary_name(const AldTopologySummary *summary, const char *id);

/* Returns the pair of two nodes in either order, or NULL. */
const AldNodePair *ald_topology_summary_find(const AldTopologySummary *summary, unsigned x, unsigned y);

/* Returns true if one direction is more than twice as fast as the other. */
bool ald_node_pair_is_asymmetric(const AldNodePair *pair);

/* Returns true if there is no path over sockets: the only paths are RDMA, or cables that nothing was
 * configured for. */
bool ald_node_pair_is_without_ip(const AldNodePair *pair);

/* Returns true if an edge joins devices of one node, instead of two nodes. */
bool ald_edge_is_within_node(const AldEdgeRow *edge);

/* Returns true if an end reports why the path cannot be used at present. A path that is merely not probed can
 * be used. */
bool ald_edge_is_unusable(const AldEdgeRow *edge);

/* Returns true if an edge or a pair has this presence. */
bool ald_presence_is(const char *presence, AldEdgeRowPresence value);

/* Returns "live", "not measured" or "offline: eth0 at the sink has no carrier", for example; to be freed. */
char *ald_edge_state_words(const AldEdgeRow *edge, AldTone *ret_tone);

/* Returns "eth0 → eth1"; with the address of an end, "eth0 → eth1 192.0.2.2". Safe text, to be freed. */
char *ald_edge_path_words(const AldEdgeRow *edge);

/* Returns "ethernet", "ethernet → wifi 6" or "rdma infiniband", for example. Safe text, to be freed. */
char *ald_edge_type_words(const AldEdgeRow *edge);
