/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings.h"

/* Findings while they are being made: what the files findings-*.c share. */
typedef struct AldReport {
        AldStore *store;
        uint64_t now_realtime;
        bool clock_is_set;
        GPtrArray *findings;
        GHashTable *names;  /* friendly name → number of nodes that have it */
        GHashTable *counts; /* id of a finding → how many there are */
        GHashTable *uneven; /* pairs, the faster direction first, of which it was said that they are uneven */
} AldReport;

/* Whether enough findings of this id are told. Then this one is only counted, so that no text need be made.
 */
bool ald_report_full(AldReport *report, const char *id);

/* Takes text and remedy; remedy may be NULL. To be called after ald_report_full() only. */
void ald_report_add(AldReport *report, AldSeverity severity, const char *id, const AldId *nodes,
        size_t n_nodes, char *text, char *remedy);

/* What people call the node: its friendly name, with the first digits of its id where several have that name;
 * only these digits where it has none. */
char *ald_report_name(AldReport *report, const AldId *id);

/* The first digits of an id. */
char *ald_report_short_id(const AldId *id);

/* "a", "a and b", "a, b and c"; beyond max_named "14 nodes". */
char *ald_report_names(AldReport *report, const AldId *ids, size_t n, size_t max_named);

/* What is looked for, each in findings-THEME.c. */
void ald_find_in_nodes(AldReport *report);
void ald_find_in_devices(AldReport *report, const AldNode *node);
void ald_find_in_presences(AldReport *report);
void ald_find_in_memberships(AldReport *report);
void ald_find_in_groups(AldReport *report);
void ald_find_in_links(AldReport *report);
void ald_find_in_rdma_ports(AldReport *report);
void ald_find_contested_hardware(AldReport *report);
void ald_find_bridge_loops(AldReport *report);
