/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings/findings.h"

/*
 * The findings of one Id and severity, of which at most ALD_FINDINGS_PER_ID of each nearness are reported. No
 * node can hide what others report. This node's own evidence has places that no other node can take. Each of
 * the other findings is charged to one node, and while there are too many, the node with most of them loses
 * its latest. So every node has as many places as any other, or all that it needs.
 */
typedef struct AldFindingShare AldFindingShare;

typedef enum AldNearness {
        ALD_NEARNESS_OWN,   /* this node's record shows it, or it is concluded about this node alone */
        ALD_NEARNESS_ABOUT, /* about this node as well, but others have a part in the evidence */
        ALD_NEARNESS_OTHER, /* about other nodes only */
        ALD_NEARNESS_N
} AldNearness;

/* A node to which findings are charged. */
typedef struct AldFindingAccount {
        AldId id;
        guint kept[ALD_NEARNESS_N];
        guint mentions;    /* in findings that several nodes' records show */
        uint64_t left_out; /* findings that it reports and that are left out */
} AldFindingAccount;

/* A finding before its names and sentences are made, which only reported findings need. */
typedef struct AldFindingDraft {
        AldFindingRow *row; /* with its arguments, Id, Severity and Reporter */
        AldId *nodes;
        size_t n_nodes;
        size_t bytes; /* approximate size of the whole row */
        AldNearness nearness;
        AldFindingAccount *account;
} AldFindingDraft;

AldFindingShare *ald_finding_share_new(const AldId *local);
void ald_finding_share_free(AldFindingShare *share);

/*
 * Charges a further finding to its reporter, to the only node that it is about, or else to the one of its
 * nodes that is part of most findings. Returns true if this node has its share already: then the finding is
 * only counted.
 */
bool ald_finding_share_full(
        AldFindingShare *share, const AldId *reporter, const AldId *nodes, size_t n_nodes);

/* Adds the finding for which ald_finding_share_full() was last called. The row is copied. */
void ald_finding_share_add(
        AldFindingShare *share, const AldFindingRow *row, const AldId *nodes, size_t n_nodes);

/* Counts a draft that cannot be reported after all. It stays valid. */
void ald_finding_share_leave_out(AldFindingShare *share, const AldFindingDraft *draft);

/* Returns the drafts (AldFindingDraft) of one nearness, which belong to the share. */
const GPtrArray *ald_finding_share_drafts(const AldFindingShare *share, AldNearness nearness);

/* Returns the accounts of which some findings are reported and others are left out, in the order of their
 * ids. Free the array. */
GPtrArray *ald_finding_share_cut(const AldFindingShare *share);

/* Returns the number of other findings that are left out: those without a single reporter, and those of
 * reporters of which none is reported. */
uint64_t ald_finding_share_rest(const AldFindingShare *share);
