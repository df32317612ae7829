/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/schema.h"

/* The connection graph, as GetTopology() and GetPairs() of the state service return it. */
typedef struct AldTopology {
        uint64_t revision; /* for requesting the changes since; 0: nothing was read completely yet */
        GPtrArray *nodes;  /* AldGraphNodeRow, by id */
        GPtrArray *edges;  /* AldEdgeRow, by source, sink, kind, ports and addresses */
        GPtrArray *pairs;  /* AldNodePairRow, by the two ids */
        bool with_pairs;   /* set before reading: pairs are read, too */
        char *failure;     /* why the last reading failed, or NULL */
        uint64_t n_taken;  /* increases whenever rows may have been freed */
        size_t bytes;      /* of all rows in memory */

        /* State of a reading that has begun: its revision, and whether it is one of everything. */
        uint64_t reading;
        bool reading_whole;
} AldTopology;

AldTopology *ald_topology_new(void);
void ald_topology_free(AldTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopology, ald_topology_free)

/* One reply of GetTopology() or GetPairs(). Rows and strings may belong to a message. */
typedef struct AldTopologyPage {
        uint64_t revision;
        uint64_t next; /* After for the next page; 0: this is the last one */
        bool of_pairs;
        bool whole;
        AldRows nodes, edges, pairs;
        GHashTable *gone_nodes, *gone_edges, *gone_pairs; /* "ID", "NUMBER", "ID ID" */
        GPtrArray *owned;                                 /* memory of the rows */
} AldTopologyPage;

AldTopologyPage ald_topology_page_new(void);
void ald_topology_page_clear(AldTopologyPage *page);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldTopologyPage, ald_topology_page_clear)

/*
 * Applies the changes of a page; `first` is true for the first page of an answer. Nodes and edges come before
 * pairs. The revision of the first page counts only once the last page of pairs was applied, so that an
 * interrupted reading is repeated. Returns -ESTALE if the service no longer knows what has changed since, so
 * that everything has to be read; -EDQUOT if the graph then takes more than `max_bytes`.
 */
int ald_topology_apply_page(AldTopology *topology, const AldTopologyPage *page, bool first, size_t max_bytes);

/* Empties the graph, so that the next reading is one of everything. */
void ald_topology_forget(AldTopology *topology);
/* Empties the graph in the same way because it could not be read, and keeps the reason. */
void ald_topology_fail(AldTopology *topology, const char *why);

/* Returns the row of a node; NULL if there is none. */
const AldGraphNodeRow *ald_topology_find_node(const AldTopology *topology, const char *id);
