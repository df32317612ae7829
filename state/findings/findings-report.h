/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings/findings-share.h"

/* Findings while they are being collected, shared by the files findings-*.c. */
typedef struct AldReport {
        AldStore *store;
        AldFindingContext context;
        GHashTable *names; /* friendly name → number of nodes that have it */
        AldFindingShare *shares[ALD_FINDING_ROW_ID_N][ALD_FINDING_ROW_SEVERITY_N];
        GHashTable *asymmetric; /* pairs, the faster direction first, that already have a finding for this */
} AldReport;

/*
 * Returns whether there are enough findings such as this one. Then it is only counted, so its row is not
 * needed. The reporter is the node whose record is the evidence; NULL if this service concludes the finding,
 * or if it follows from the records of several nodes.
 */
bool ald_report_full(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes);

/* Adds the finding for which ald_report_full() was just called, with the same reporter and nodes. Copies the
 * arguments, which may be NULL. */
void ald_report_add(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes, const AldFindingRow *arguments);

/*
 * Returns the rows of all findings for which there is room, with names and sentences, in no order. This
 * node's own evidence takes places first, then the findings that take least room, so that neither findings
 * about very many nodes nor long strings of peers push out others. Rows with LeftOut count the rest.
 */
GPtrArray *ald_report_rows(AldReport *report);

/* Returns how people refer to the node: its friendly name, with the first digits of its id if several nodes
 * have that name, or it reads like an id; only these digits if it has none. Free with g_free(). */
char *ald_report_name(AldReport *report, const AldId *id);

/* Returns the friendly name of a node as it reports it, or NULL. */
const char *ald_report_friendly_name(const AldNode *node);

/* The checks, each in findings-THEME.c. */
void ald_find_in_nodes(AldReport *report);
void ald_find_in_presences(AldReport *report);
void ald_find_in_groups(AldReport *report);
void ald_find_in_links(AldReport *report);
void ald_find_changed_rates(AldReport *report);
void ald_find_doubted_figures(AldReport *report);
void ald_find_in_services(AldReport *report);
void ald_find_in_rdma_ports(AldReport *report);
void ald_find_contested_hardware(AldReport *report);
void ald_find_bridge_loops(AldReport *report);

/* Return whether more than figures differ between the findings of two such records of a node. */
bool ald_findings_differ_for_memory(const AldMemory *a, const AldMemory *b);
bool ald_findings_differ_for_system(const AldSystem *a, const AldSystem *b);
