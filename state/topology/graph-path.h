/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* A path of the connection graph (graph.h), and its description in each direction. */

typedef struct AldGraphPathEnd {
        char *port; /* interface, RDMA port, Thunderbolt connection, device or "host"; NULL if unknown */
        const char *type; /* static; of sockets and devices; NULL if unknown */
        uint64_t generation;
        uint64_t bits_per_second;
} AldGraphPathEnd;

typedef struct AldGraphPath {
        AldEdgeRowKind kind;
        AldId source; /* the node that probes it; for a cable, the lower id; for devices the same as the sink
                       */
        AldId sink;
        const char *key; /* the key of the record that it has or would have; for a cable "PORT,SINKID,PORT",
                            for devices the Id of their join */
        const AldEntry *entry;  /* its record; NULL if it has none */
        bool known;             /* without a record */
        bool candidate;         /* if known: it is not certain that its ends are joined */
        bool routed;            /* for sockets: the address of its sink is on no link of its source */
        bool searched;          /* whether paths between these nodes are known without a record */
        char *known_ports[2];   /* if known, the ports of the source and the sink; may be NULL */
        AldDeviceJoinKind join; /* for devices */
        uint64_t edges[2];      /* ids of the edges from source to sink and back */

        /* Computed: */
        AldGraphPathEnd ends[2]; /* source, sink */
        AldEdgeRowPresence presence;
        const char *problem;    /* static; NULL if it can be used and is probed */
        unsigned problem_end;   /* the end that has it */
        const char *transport;  /* static; of RDMA, as in the row */
        const char *due_reason; /* static; as in the row, like the next */
        uint64_t due_usec;
} AldGraphPath;

/* Space for the strings of a row. */
typedef struct AldGraphSpace {
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE];
        char *reason;
} AldGraphSpace;

void ald_graph_space_clear(AldGraphSpace *space);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldGraphSpace, ald_graph_space_clear)

/* Returns the Presence of a node in the graph. NULL stands for a node that is not in the store. */
AldGraphNodeRowPresence ald_graph_presence_of(const AldNode *node);

/* Computes what follows from the records of both nodes. */
void ald_graph_path_compute(AldGraphPath *path, AldStore *store);

/* Describes the edge from source to sink, or the reverse one, of a computed path. */
void ald_graph_path_describe(
        const AldGraphPath *path, AldStore *store, bool reverse, AldGraphSpace *space, AldEdgeRow *ret);

/* Returns whether a socket path leads over another interface at either end than when it was measured, so that
 * its rates are no longer those of the path. */
bool ald_graph_path_has_moved(const AldGraphPath *path);

/* Frees the strings that the path holds. */
void ald_graph_path_clear(AldGraphPath *path);
