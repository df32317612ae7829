/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/compute-summary.h"
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

void ald_totals_compute(AldStore *store, AldTotals *ret);
