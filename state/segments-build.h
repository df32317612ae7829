/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/segments.h"

/* Segments while they are being made: what the files segments-*.c share. Ports are joined, and joined again
 * where they are neighbours for sure; what hangs together in the end is a segment. */
typedef enum AldJoin {
        ALD_JOIN_SURE,
        ALD_JOIN_MAYBE, /* all that is sure, and more */
        ALD_N_JOINS,
} AldJoin;

/* A port, or an interface that only joins ports. */
typedef struct AldVertex {
        AldSegmentHow how;
        const AldNode *node;
        const char *name;
        bool is_port;
        const char *identity; /* NULL, or one for all that it can be joined with */
        struct AldVertex *parent[ALD_N_JOINS];
} AldVertex;

typedef struct AldSegmentBuild {
        AldStore *store;
        GPtrArray *nodes;    /* of const AldNode: those that count */
        GHashTable *counted; /* the same */
        AldOwners *owners;
        GStringChunk *strings;
        GHashTable *vertices; /* of AldVertex, each its own key by how, node, is_port and name */
} AldSegmentBuild;

/* The vertex, made where there is none. */
AldVertex *ald_segment_vertex(
        AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port);
/* The same, but NULL where there is none. */
AldVertex *ald_segment_find(
        const AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port);
void ald_segment_join(AldVertex *a, AldVertex *b, AldJoin how_sure);

/* The interface, or rather the one that carries it: whatever a VLAN and its wire, or a bond and its ports,
 * reach, is one link. */
AldVertex *ald_segment_link(AldSegmentBuild *build, const AldNode *node, const char *interface);

/* Says that two interfaces are on one link. */
void ald_segment_join_links(AldSegmentBuild *build, const AldNode *a, const char *interface_of_a,
        const AldNode *b, const char *interface_of_b, AldJoin how_sure);

/* Each kind of node by itself, then what joins them. */
void ald_segments_add_rdma_ports(AldSegmentBuild *build);
void ald_segments_join_thunderbolt(AldSegmentBuild *build);
void ald_segments_join_lldp(AldSegmentBuild *build);
void ald_segments_join_by_links(AldSegmentBuild *build);
