/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/topology-summary.h"
#include "state-client/model.h"

/* The state, as formats made of it see it. */
typedef struct AldExportState {
        AldModel *model;
        const AldTopology *topology;
        AldTopologySummary *summary;
        GHashTable *edges; /* id → AldEdgeRow */
        double now_usec;   /* CLOCK_REALTIME, to judge the age of figures only */
        bool force;        /* old figures, too */
        bool full_names;   /* host names as the nodes have them, not up to the first dot */
} AldExportState;

/* The model must outlive it, and hold the topology. */
void ald_export_state_init(AldExportState *state, AldModel *model, double now_usec, bool force);
void ald_export_state_clear(AldExportState *state);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldExportState, ald_export_state_clear)

/* The node counts: it is heard. */
bool ald_export_state_counts(const AldExportState *state, unsigned index);
const AldEntity *ald_export_state_node(const AldExportState *state, unsigned index);

/* What joins two nodes: its slower direction. */
typedef struct AldPairRate {
        double bits_per_second; /* NAN if neither direction was measured, or the pair does not count */
        uint64_t measured_usec; /* the older of the two, by the clock of its prober */
        bool is_old;            /* by that clock */
} AldPairRate;

AldPairRate ald_export_state_rate(const AldExportState *state, const AldNodePair *pair);

/* The host name in the form that the order asks for. By default that is its part before the first dot, as
 * programs register themselves. NULL if it is unknown or has characters that host names do not have. To be
 * freed. */
char *ald_export_state_host(const AldExportState *state, const AldEntity *node);

/* Whether a figure of a node is too old, by the clock of the node. */
bool ald_export_state_is_old(const AldExportState *state, const AldEntity *node, uint64_t measured_usec);

/* Two comments: what the text was made of. */
void ald_export_state_append_header(
        GString *out, const AldExportState *state, const char *format, uint64_t oldest_usec);
