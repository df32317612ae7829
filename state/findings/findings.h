/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * The limit of findings of one Id and severity that this node's own records show, of those about this node
 * that others have a part in, and of those about other nodes only; see findings-share.h for which are left
 * out. Additional rows of that Id and severity, with LeftOut, count these: one for each reporter of whose
 * findings some are reported, and one for all others.
 */
#define ALD_FINDINGS_PER_ID 100u

/* The limit of all rows together, in bytes of a message, except for the last of those with LeftOut. It only
 * affects findings about very many nodes, and long strings of peers. */
#define ALD_FINDINGS_BYTES_MAX (12u * 1024 * 1024)

/* The conditions on which findings depend besides records; times are in µs. */
typedef struct AldFindingContext {
        uint64_t real;               /* CLOCK_REALTIME */
        bool clock_is_set;           /* whether the clock was ever set */
        uint64_t now;                /* CLOCK_MONOTONIC, as the store has it */
        uint64_t started;            /* when the service that fills the store started, by the same clock */
        const char *history_problem; /* why the history service of this node cannot write; NULL: it can, or it
                                        does not run */
} AldFindingContext;

/*
 * Finds what is wrong or odd in the cluster. Returns rows of GetFindings() (AldFindingRow), freed with the
 * array and sorted by severity, Id, first node and text, those with LeftOut last of their Id. They depend
 * only on the records, when they came, and this context.
 */
GPtrArray *ald_findings_compute(AldStore *store, const AldFindingContext *context);

/* Does the same in steps, of which the longest takes a third of the time. The store may change between them;
 * each step finds what is there at its time. */
typedef struct AldFindingsRound AldFindingsRound;

AldFindingsRound *ald_findings_round_new(AldStore *store, const AldFindingContext *context);
void ald_findings_round_free(AldFindingsRound *round);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFindingsRound, ald_findings_round_free)

/* Takes the next step. Returns NULL as long as more steps follow. */
GPtrArray *ald_findings_round_step(AldFindingsRound *round);

/*
 * Returns whether a change, as in AldStoreChanged, can begin or end a finding or change what one is about.
 * Other changes only let time pass: records that are sent again unchanged, as each node does with all of its
 * records every half minute, and most records of memory and load, which come every second.
 */
bool ald_findings_change_with(const AldEntry *entry, const AldRecord *before);

/* Returns a hash of which findings there are and what they are about. It stays the same as long as only their
 * figures differ, such as free space or how long something lasts. */
uint64_t ald_findings_digest(const GPtrArray *findings);
