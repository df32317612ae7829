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
 * Computes the totals. The records of many nodes are rarely cached, so each node keeps its sums, and only
 * those that depend on a record that has changed are computed again. A caller that computes the totals more
 * than once has to note the changes.
 */
void ald_totals_compute(AldStore *store, AldTotals *ret);

/* Notes that a record has changed from `before`, is new, or will be removed; in the latter two cases `before`
 * is NULL. Returns whether the totals depend on it. */
bool ald_totals_note_change(AldEntry *entry, const AldRecord *before);
