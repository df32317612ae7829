/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* The direction in which data flows, as the source of a link sees it. */
typedef enum AldShownFlow {
        ALD_SHOWN_FLOW_NONE,
        ALD_SHOWN_FLOW_UP,
        ALD_SHOWN_FLOW_DOWN,
} AldShownFlow;

/* A series of org.alidade.History1 that is shown: a number of a record over time. */
typedef struct AldShownSeries {
        char *group; /* heading of what it belongs to: safe text; NULL: the node itself */
        char *place; /* the same in short: the name of a device, or the path of a link; safe text, or NULL */
        char *label; /* safe text */
        char *node;  /* id; of the source, for a link */
        AldKind kind;
        char *key;              /* "" for a node */
        char *field;            /* as GetSeries() takes it */
        const AldStruct *type;  /* of the struct with the number: the record, or one of its rows */
        const AldField *number; /* of that struct */
        AldShownFlow flow;
        double scale;   /* factor for display: a half for round trips */
        bool optional;  /* left out where nothing is recorded */
        GArray *points; /* AldHistoryPoint, once they have been read; NULL before, or if not kept */
} AldShownSeries;

void ald_shown_series_free(AldShownSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldShownSeries, ald_shown_series_free)

/* Returns true if the series is measured by probes, so that there are few samples. */
bool ald_shown_series_is_probed(const AldShownSeries *series);

/* Returns true for a percentage; a graph shows it between 0 and 100. */
bool ald_shown_series_is_share(const AldShownSeries *series);

/* Returns the unit, such as "bytes per second", as the interface names it; NULL if it has none. */
const char *ald_shown_series_unit(const AldShownSeries *series);

/* Returns an empty array of AldShownSeries, which it owns. */
GPtrArray *ald_shown_series_list_new(void);

/* Return the series that are shown of a node, or of the links between two, if nothing else is asked for. */
GPtrArray *ald_shown_series_of_node(const AldEntity *node);
GPtrArray *ald_shown_series_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec);

/* Return all possible series: each number of a node, its rows and its links, or of one row, which need not
 * exist any more. */
GPtrArray *ald_shown_series_all_of_node(const AldEntity *node);
GPtrArray *ald_shown_series_all_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec);
GPtrArray *ald_shown_series_of_row(const AldEntity *node, AldKind kind, const AldField *rows, const char *id);
