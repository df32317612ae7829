/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/link/peer-sample.h"
#include "state/topology/graph-pair.h"

/*
 * The connection graph: the nodes, and the paths between them, measured or not. Each path is two edges, one
 * for each direction.
 *
 * A path exists as soon as it is known: from the record of a link, from the addresses of both nodes
 * (state/link/path-candidates.h), from the segment that two RDMA ports are in (state/topology/port-pairs.h),
 * or from what both ends of a cable report (state/topology/segments.h). What joins the devices of a node to
 * its host and to each other are paths from the node to itself (state/topology/graph-device.h). Paths that
 * nobody has measured are limited to those of this node once there are ALD_GRAPH_ALL_BELOW nodes, since their
 * number grows with the square of the nodes.
 *
 * The graph depends only on the store, not on the order in which records arrived. It notes the entries that
 * change; the next update finds which paths may be affected, and computes only these again. Segments are
 * computed as a whole, but only if something that joins ports has changed.
 *
 * Each change of a node or an edge increases the revision of the graph and becomes that of the node or edge.
 */
typedef struct AldGraph AldGraph;

#define ALD_GRAPH_ALL_BELOW ALD_PEER_SAMPLE_FROM

/* The number of nodes and edges that are remembered after they have gone. */
#define ALD_GRAPH_GONE_MAX 16384u

/* Creates a graph whose revisions begin after `revision`. */
AldGraph *ald_graph_new(AldStore *store, uint64_t revision);
void ald_graph_free(AldGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGraph, ald_graph_free)

/* Note that a record has changed, or will be removed. Return whether the graph depends on it. */
bool ald_graph_note_change(AldGraph *graph, const AldEntry *entry);
bool ald_graph_note_removal(AldGraph *graph, AldEntry *entry);

/* Returns whether any change was noted since the last update. */
bool ald_graph_is_outdated(const AldGraph *graph);

/* Brings the graph up to date. Returns its revision, which is the same as before if nothing differs. */
uint64_t ald_graph_update(AldGraph *graph);

/* Something that has changed. */
typedef enum AldGraphChange {
        ALD_GRAPH_NODE,
        ALD_GRAPH_EDGE,
        ALD_GRAPH_PAIR,
        ALD_GRAPH_GONE_NODE, /* from here on they no longer exist */
        ALD_GRAPH_GONE_EDGE,
        ALD_GRAPH_GONE_PAIR,
        ALD_GRAPH_CHANGE_N,
} AldGraphChange;

typedef struct AldGraphItem {
        AldGraphChange change;
        uint64_t revision;
        uint64_t edge; /* its id */
        AldId node;    /* for nodes and pairs */
        AldId peer;    /* for pairs */
        size_t bytes;  /* size of its row on D-Bus, at most, at the last update */
        bool hidden;   /* it is, or leads to, a node of which nothing but links to it is known */
} AldGraphItem;

/* Returns whether everything that has gone since this revision is still remembered; never for 0. */
bool ald_graph_remembers(const AldGraph *graph, uint64_t revision);

/* Calls func for all items with a greater revision, in the order of these, until it returns false. */
typedef bool (*AldGraphFunc)(const AldGraphItem *item, void *userdata);
void ald_graph_foreach_after(AldGraph *graph, uint64_t revision, AldGraphFunc func, void *userdata);

/* Describe items that exist; strings are valid until the next change of the store or the graph, or the next
 * use of the space. */
void ald_graph_describe_node(
        AldGraph *graph, const AldGraphItem *item, AldGraphSpace *space, AldGraphNodeRow *ret);
void ald_graph_describe_edge(
        AldGraph *graph, const AldGraphItem *item, AldGraphSpace *space, AldEdgeRow *ret);
void ald_graph_describe_pair(const AldGraphItem *item, AldGraphSpace *space, AldNodePairRow *ret);

/* Returns whether a node or a pair that had gone exists again. Edges get a new id then. */
bool ald_graph_has_returned(const AldGraph *graph, const AldGraphItem *item);

/* Returns the size of the item's row on D-Bus now, at most; records may have changed since the last update.
 * */
size_t ald_graph_row_size(AldGraph *graph, const AldGraphItem *item);

/* Returns the segments of the nodes that count (state/topology/segments.h), as AldSegmentRow; valid until the
 * next update. */
const GPtrArray *ald_graph_segments(const AldGraph *graph);
