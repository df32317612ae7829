/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/*
 * These functions describe a node, the cluster and the findings as styled text, with a line "Label: value"
 * for each entry, wrapped to `columns` (0: not wrapped). Times are CLOCK_REALTIME in µs.
 */

/* Describes each AldFact as an entry, with labels right-aligned to `label_width` or, if lines are short, on
 * separate lines. */
void ald_describe_facts(GString *out, const GPtrArray *facts, unsigned label_width, unsigned columns);

/* Describes a node at a glance. */
void ald_describe_node(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, double now_usec);

/* Describes everything about a node or link, each record under its own heading; the source is the node that
 * sent them. */
void ald_describe_records(
        GString *out, const AldEntity *entity, const AldEntity *source, unsigned columns, double now_usec);

/* Describes the totals of the cluster. */
void ald_describe_cluster(GString *out, AldModel *model, unsigned columns);

/* Describes the finding that this machine reaches no broker, with its remedy, if there is one. */
void ald_describe_brokerless(GString *out, AldModel *model, unsigned columns);

/* Describes the findings of these rows (AldFindingListRow) with their sentences and remedies; silenced ones
 * are marked. */
void ald_describe_findings(GString *out, const GArray *rows, unsigned columns);

/* Returns "2 errors, 1 warning", for example, or "none". */
char *ald_describe_findings_counts(AldModel *model);

/* Returns the findings about one node, as they arrived. */
json_t *ald_findings_of(AldModel *model, const char *node_id);
