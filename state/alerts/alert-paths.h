/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/link/link.h"

/*
 * The ports of nodes and, where LLDP names them, the switches that the links of the cluster pass, and how the
 * links are. The records of the nodes must outlive it.
 */

typedef struct AldAlertNode {
        AldId id;
        const char *name;          /* as Names in AldFindingRow */
        bool offline, counts;      /* it counts while it is heard */
        const AldNetwork *network; /* this and the next may be NULL */
        const AldFabric *fabric;
} AldAlertNode;

/* The device that LLDP names at the other end of a cable; strings point into records. */
typedef struct AldAlertSwitch {
        const char *id, *name;
} AldAlertSwitch;

typedef struct AldAlertEnd {
        unsigned node;        /* index */
        const char *port;     /* interface, or RDMA port without one; NULL if unknown */
        AldAlertSwitch above; /* NULLs if unknown */
} AldAlertEnd;

/* A link, which both ends may measure, in both directions. */
typedef struct AldAlertLink {
        AldAlertEnd ends[2];
        bool troubled_by[2];        /* the measurements of each end */
        bool troubled;              /* by any measurement: it is slow, or no longer reached */
        bool healthy;               /* by a measurement, unless it is troubled */
        const AldFindingRow *cause; /* what explains its trouble; NULL if nothing does */
} AldAlertLink;

typedef struct AldAlertPaths {
        GArray *nodes;       /* of AldAlertNode */
        GHashTable *indices; /* id → index + 1 */
        GPtrArray *links;    /* of AldAlertLink */
        GHashTable *by_ends; /* text of both ends → AldAlertLink */
        GPtrArray *causes;   /* rows that explain trouble, see alert-groups.h */
        GHashTable *offline; /* node index + 1 → the row that explains why it is offline */
        GStringChunk *strings;
} AldAlertPaths;

AldAlertPaths *ald_alert_paths_new(void);
void ald_alert_paths_free(AldAlertPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldAlertPaths, ald_alert_paths_free)

/* Add all nodes first, then all links; links of nodes that are unknown or do not count are left out. */
void ald_alert_paths_add_node(AldAlertPaths *paths, const AldAlertNode *node);
void ald_alert_paths_add_link(AldAlertPaths *paths, const AldLink *link);

/* Returns the switches of a node, each once and sorted by its id, as AldAlertSwitch. */
GArray *ald_alert_paths_switches(const AldAlertNode *node);

/* Returns the port at an end of the link that the finding is about, 0 for its first node and 1 for the
 * second: NULL if it is not about a link, or the port is unknown. */
const char *ald_alert_paths_port(const AldAlertPaths *paths, const AldFindingRow *row, unsigned end);

/* Returns what explains a finding about a link, or about a node that is offline, or NULL. */
const AldFindingRow *ald_alert_paths_cause(AldAlertPaths *paths, const AldFindingRow *row);
