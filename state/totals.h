/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/compute-summary.h"
#include "state/store.h"

/*
 * What is known, and sums over the nodes that count (see ald_node_counts()), as the properties of
 * org.alidade.State1 have them. A sum of nothing known is absent. Sums stop at ALD_INTEGER_MAX.
 */
typedef struct AldTotals {
        AldClusterTotals
                figures; /* absent: NodeId and what the service counts, RefusedRecords and RefusedSignals */
        uint64_t tflops_fp16_reasons[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_reasons[ALD_LEFT_OUT_N];
} AldTotals;

void ald_totals_compute(AldStore *store, AldTotals *ret);
