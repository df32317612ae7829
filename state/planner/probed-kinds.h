/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/*
 * What this node measures by probes: the kinds of records that one plan chooses from, with what becomes of
 * their results. Another kind of probe is another entry of the table.
 */
typedef struct AldProbedKind {
        bool kinds[ALD_N_KINDS];

        /* The AldDueProbes, the most urgent first, at most as many as the input says, which must not leave
         * out all of these kinds. */
        GArray *(*due)(AldStore *store, const AldPlannerInput *input);

        /* Merges a result with the record before, which may be NULL; of the input, the times count. Returns
         * NULL if the result is dropped: what it is about is gone, or there is too much of it, which is
         * logged. */
        AldRecord *(*merge)(
                AldStore *store, const AldPlannerInput *input, AldRecord *before, AldRecord *reported);

        /* Deletes what is gone; of the input, the two times of now count. */
        void (*prune)(AldStore *store, const AldPlannerInput *input, uint64_t expiry_usec);
} AldProbedKind;

extern const AldProbedKind ald_probed_compute, ald_probed_links, ald_probed_storage;

/* In the order in which GetDueProbes() returns what is due; NULL-terminated. */
extern const AldProbedKind *const ald_probed_kinds[];

/* The entry of a kind, or NULL if it is not measured by probes. */
const AldProbedKind *ald_probed_kind(AldKind kind);
