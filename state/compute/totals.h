/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Counts, and sums over the nodes that count (see ald_node_counts()), as in the properties of
 * org.alidade.State1. A sum without known values is absent. Sums are limited to ALD_INTEGER_MAX.
 */
typedef struct AldTotals {
        AldClusterTotals
                figures; /* without NodeId, RefusedRecords and RefusedSignals, which the service adds */
        uint64_t tflops_fp16_reasons[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_reasons[ALD_LEFT_OUT_N];
} AldTotals;

/*
 * The records of many nodes are rarely in the caches, so each node keeps its sums, and only those that depend
 * on a record that has changed are computed again. Whoever computes the totals more than once notes the
 * changes.
 */
void ald_totals_compute(AldStore *store, AldTotals *ret);

/* A record has changed, and was `before`, or will be removed: then, as for a new record, `before` is NULL.
 * Returns whether the totals depend on it. */
bool ald_totals_note_change(AldEntry *entry, const AldRecord *before);
