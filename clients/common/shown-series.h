/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Which way something flows, as the source of a link sees it. */
typedef enum AldShownFlow {
        ALD_SHOWN_FLOW_NONE,
        ALD_SHOWN_FLOW_UP,
        ALD_SHOWN_FLOW_DOWN,
} AldShownFlow;

/* A series of org.alidade.History1 that is shown: a number of a record over time. */
typedef struct AldShownSeries {
        char *group; /* what it belongs to, as a heading: safe text; NULL: the node itself */
        char *place; /* the same in short: the name of a device, or the path of a link; safe text, or NULL */
        char *label; /* safe text */
        char *node;  /* id; of the source, for a link */
        AldKind kind;
        char *key;              /* "" for a node */
        char *field;            /* as GetSeries() takes it */
        const AldStruct *type;  /* that has the number: of the record, or of its rows */
        const AldField *number; /* the number in it */
        AldShownFlow flow;
        double scale;   /* by which it is multiplied for people: a half for round trips */
        bool optional;  /* left out where nothing is recorded */
        GArray *points; /* AldHistoryPoint, once they have been read; NULL before, or if not kept */
} AldShownSeries;

void ald_shown_series_free(AldShownSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldShownSeries, ald_shown_series_free)

/* Whether it is measured by probes, so that there are few samples. */
bool ald_shown_series_is_probed(const AldShownSeries *series);

/* Returns true for a share of 100; a graph shows it between 0 and 100. */
bool ald_shown_series_is_share(const AldShownSeries *series);

/* "bytes per second", as the interface has it; NULL if it has none. */
const char *ald_shown_series_unit(const AldShownSeries *series);

/* Arrays of AldShownSeries, which they own. */
GPtrArray *ald_shown_series_list_new(void);

/* What is shown of a node, or of the links between two, if nothing else is asked for. */
GPtrArray *ald_shown_series_of_node(const AldEntity *node);
GPtrArray *ald_shown_series_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec);

/* All that there can be: each number of a node, its rows and its links, or of one row, which need not be
 * there any more. */
GPtrArray *ald_shown_series_all_of_node(const AldEntity *node);
GPtrArray *ald_shown_series_all_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec);
GPtrArray *ald_shown_series_of_row(const AldEntity *node, AldKind kind, const AldField *rows, const char *id);
