/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/segments.h"

/* Segments under construction, shared by the files segments-*.c. Ports are joined as possible neighbours, and
 * joined again if they certainly are; connected ports finally form a segment. */
typedef enum AldJoin {
        ALD_JOIN_SURE,
        ALD_JOIN_MAYBE, /* includes all certain ones */
        ALD_N_JOINS,
} AldJoin;

/* A port, or an interface that only joins ports. */
typedef struct AldVertex {
        AldSegmentHow how;
        const AldNode *node;
        const char *name;
        bool is_port;
        const char *identity; /* NULL, or common to all vertices with which it can be joined */
        struct AldVertex *parent[ALD_N_JOINS];
} AldVertex;

typedef struct AldSegmentBuild {
        AldStore *store;
        GPtrArray *nodes;    /* of const AldNode: the nodes that count */
        GHashTable *counted; /* the same nodes, as a set */
        AldOwners *owners;
        GStringChunk *strings;
        GHashTable *vertices; /* of AldVertex, each its own key by how, node, is_port and name */
        GArray *cables;       /* of AldCable; NULL if not requested */
} AldSegmentBuild;

/* Returns an empty table for AldSegmentBuild.vertices. */
GHashTable *ald_segment_vertices_new(void);

/* Finds or creates the vertex. */
AldVertex *ald_segment_vertex(
        AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port);
/* Finds the vertex, or returns NULL. */
AldVertex *ald_segment_find(
        const AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port);
/* Returns the vertex that stands for all that are joined with this one. */
AldVertex *ald_segment_root(AldVertex *vertex, AldJoin join);
void ald_segment_join(AldVertex *a, AldVertex *b, AldJoin how_sure);

/* Returns the vertex of the interface that carries this one, since a VLAN and its parent, or a bond and its
 * ports, are on the same link. */
AldVertex *ald_segment_link(AldSegmentBuild *build, const AldNode *node, const char *interface);

/* Notes that two interfaces are on the same link. */
void ald_segment_join_links(AldSegmentBuild *build, const AldNode *a, const char *interface_of_a,
        const AldNode *b, const char *interface_of_b, AldJoin how_sure);

/* Add vertices and joins, by kind. */
void ald_segments_add_rdma_ports(AldSegmentBuild *build);
void ald_segments_join_thunderbolt(AldSegmentBuild *build);
void ald_segments_join_lldp(AldSegmentBuild *build);
void ald_segments_join_by_links(AldSegmentBuild *build);
