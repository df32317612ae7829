/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/*
 * Describe a node, the cluster and the findings as styled text, with a line "Label: value" for each entry,
 * wrapped to `columns` (0: not wrapped). Times are CLOCK_REALTIME in µs.
 */

/* One entry, with its label right-aligned to `label_width` or, if lines are short, on a separate line; takes
 * the text. */
void ald_describe_entry(GString *out, const char *label, unsigned label_width, unsigned columns, char *text);

/* An entry for each AldFact. */
void ald_describe_facts(GString *out, const GPtrArray *facts, unsigned label_width, unsigned columns);

/* A node at a glance. */
void ald_describe_node(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, double now_usec);

/* Everything about a node or link, each record under its own heading; the source is the node that sent them.
 */
void ald_describe_records(
        GString *out, const AldEntity *entity, const AldEntity *source, unsigned columns, double now_usec);

/* The totals. */
void ald_describe_cluster(GString *out, AldModel *model, unsigned columns);

/* The finding that this machine reaches no broker, with its remedy; else nothing. */
void ald_describe_brokerless(GString *out, AldModel *model, unsigned columns);

/* The findings of these rows (AldFindingListRow) with their sentences and remedies; those that are silent are
 * marked. */
void ald_describe_findings(GString *out, const GArray *rows, unsigned columns);

/* "2 errors, 1 warning", or "none". */
char *ald_describe_findings_counts(AldModel *model);

/* The findings about one node, as they arrived. */
json_t *ald_findings_of(AldModel *model, const char *node_id);
