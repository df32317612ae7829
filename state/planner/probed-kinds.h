/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/*
 * The kinds of records that this node measures by probes and that one plan chooses from, with the handling of
 * their results. Another kind of probe is another entry of the table.
 */
typedef struct AldProbedKind {
        bool kinds[ALD_N_KINDS];

        /* Returns the AldDueProbes, the most urgent first, at most as many as the input says, which must not
         * leave out all of these kinds. */
        GArray *(*due)(AldStore *store, const AldPlannerInput *input);

        /* Merges a result with the earlier record, which may be NULL. Only the times of the input count.
         * Returns NULL if the result is dropped, because its subject is gone or there is too much of it; the
         * latter is logged. */
        AldRecord *(*merge)(
                AldStore *store, const AldPlannerInput *input, AldRecord *before, AldRecord *reported);

        /* Deletes what is gone. Only the two times of now of the input count. */
        void (*prune)(AldStore *store, const AldPlannerInput *input, uint64_t expiry_usec);
} AldProbedKind;

extern const AldProbedKind ald_probed_compute, ald_probed_links, ald_probed_storage;

/* The entries in the order in which GetDueProbes() returns what is due; NULL-terminated. */
extern const AldProbedKind *const ald_probed_kinds[];

/* Returns the entry of a kind, or NULL if it is not measured by probes. */
const AldProbedKind *ald_probed_kind(AldKind kind);
