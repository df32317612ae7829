/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

/*
 * A node, the cluster and the findings in words: styled text, a line an entry "Label: value", wrapped to so
 * many columns (0: not at all).
 */

/* One entry, its label right-aligned to so many columns or, where lines are short, on a line of its own;
 * takes the text. */
void ald_describe_entry(GString *out, const char *label, unsigned label_width, unsigned columns, char *text);

/* A node at a glance. */
void ald_describe_node(GString *out, const AldEntity *node, unsigned columns, double now_usec);

/* Everything about a node, each record under its own heading. */
void ald_describe_records(GString *out, const AldEntity *entity, unsigned columns, double now_usec);

/* The totals. */
void ald_describe_cluster(GString *out, AldModel *model, unsigned columns);

/* The finding that this machine reaches no broker, so that what it shows of others is old; else NULL. */
json_t *ald_find_brokerless(AldModel *model);

/* The same in words, with what helps; else nothing. */
void ald_describe_brokerless(GString *out, AldModel *model, unsigned columns);

/* The findings, most severe first; those about one node only, where one is given. */
void ald_describe_findings(GString *out, AldModel *model, const char *node_id, unsigned columns);

/* The findings about one node. */
json_t *ald_findings_of(json_t *findings, const char *node_id);

/* "165 TFLOPS, 1 device left out (1 never measured)" and so on, for the cluster. */
char *ald_describe_tflops(json_t *totals);
char *ald_describe_bandwidth(json_t *totals);
char *ald_describe_memory(json_t *totals);
char *ald_describe_counts(json_t *totals);
