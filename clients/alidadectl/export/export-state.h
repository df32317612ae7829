/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/topology-summary.h"
#include "state-client/model.h"

/* The state as the export formats see it. */
typedef struct AldExportState {
        AldModel *model;
        const AldTopology *topology;
        AldTopologySummary *summary;
        GHashTable *edges; /* id → AldEdgeRow */
        double now_usec;   /* CLOCK_REALTIME, only to judge the age of figures */
        bool force;        /* export old figures, too */
        bool full_names;   /* complete host names, instead of up to the first dot */
} AldExportState;

/* The model must outlive the state, and hold the topology. */
void ald_export_state_init(AldExportState *state, AldModel *model, double now_usec, bool force);
void ald_export_state_clear(AldExportState *state);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldExportState, ald_export_state_clear)

/* Returns true if the node counts, since it is heard. */
bool ald_export_state_counts(const AldExportState *state, unsigned index);
const AldEntity *ald_export_state_node(const AldExportState *state, unsigned index);

/* The rate between two nodes in the slower direction. */
typedef struct AldPairRate {
        double bits_per_second; /* NAN if neither direction was measured, or the pair does not count */
        uint64_t measured_usec; /* of the older direction, by the clock of its prober */
        bool is_old;            /* by that clock */
} AldPairRate;

AldPairRate ald_export_state_rate(const AldExportState *state, const AldNodePair *pair);

/* Returns the host name in the form that the order asks for, by default its part before the first dot, under
 * which programs register themselves. NULL if it is unknown or has characters that are invalid in host names.
 * To be freed. */
char *ald_export_state_host(const AldExportState *state, const AldEntity *node);

/* Returns true if a figure of a node is too old, by the clock of the node. */
bool ald_export_state_is_old(const AldExportState *state, const AldEntity *node, uint64_t measured_usec);

/* Appends two comments that say what the text was made from. */
void ald_export_state_append_header(
        GString *out, const AldExportState *state, const char *format, uint64_t oldest_usec);
