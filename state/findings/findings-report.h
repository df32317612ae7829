/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings/findings.h"

/* Findings while they are being collected: what the files findings-*.c share. */
typedef struct AldReport {
        AldStore *store;
        AldFindingContext context;
        GPtrArray *findings;
        GHashTable *names; /* friendly name → number of nodes that have it */
        /* By whether they are about this node or about others only. */
        guint counts[ALD_FINDING_ROW_ID_N][ALD_FINDING_ROW_SEVERITY_N][2];
        guint left_out[ALD_FINDING_ROW_ID_N][ALD_FINDING_ROW_SEVERITY_N];
        size_t bytes;           /* of the findings */
        GHashTable *asymmetric; /* pairs, the faster direction first, that already have a finding for this */
} AldReport;

/* Whether there are enough findings such as this one, about these nodes. Then it is only counted, so its row
 * is not needed. */
bool ald_report_full(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *nodes, size_t n_nodes);

/*
 * Copies the arguments, which may be NULL, into a new row and adds the Id, the severity, the reporter, the
 * nodes and their names; but only counts the finding if there is no room for it. The reporter is the node
 * whose record is the evidence; NULL: this service concludes it, or the records of several nodes are. To be
 * called after ald_report_full() only.
 */
void ald_report_add(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes, const AldFindingRow *arguments);

/* How people refer to the node: its friendly name, with the first digits of its id if several nodes have that
 * name, or it reads like an id; only these digits if it has none. Free with g_free(). */
char *ald_report_name(AldReport *report, const AldId *id);

/* The friendly name of a node as it reports it, or NULL. */
const char *ald_report_friendly_name(const AldNode *node);

/* Frees a row of the findings. */
void ald_report_row_free(gpointer row);

/* The checks, each in findings-THEME.c. */
void ald_find_in_nodes(AldReport *report);
void ald_find_in_presences(AldReport *report);
void ald_find_in_groups(AldReport *report);
void ald_find_in_links(AldReport *report);
void ald_find_changed_rates(AldReport *report);
void ald_find_in_services(AldReport *report);
void ald_find_in_rdma_ports(AldReport *report);
void ald_find_contested_hardware(AldReport *report);
void ald_find_bridge_loops(AldReport *report);
