/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/compute-summary.h"
#include "state/store.h"

/* Sums over the nodes that count (see ald_node_counts()), as the properties of org.alidade.State1 have them;
 * a sum of nothing known is absent. Sums stop at ALD_INTEGER_MAX. */
typedef struct AldTotals {
        uint64_t nodes_left_out; /* nodes with records that do not count */
        double tflops_fp16;
        uint64_t tflops_fp16_left_out;
        uint64_t tflops_fp16_left_out_reasons[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_bytes_per_second;
        const char *memory_bandwidth_of; /* "gpu", "cpu", "both" or "" */
        uint64_t memory_bandwidth_left_out;
        uint64_t memory_bandwidth_left_out_reasons[ALD_LEFT_OUT_N];
        uint64_t memory_total_bytes;
        uint64_t memory_available_bytes;
        uint64_t device_memory_total_bytes;
        uint64_t device_memory_available_bytes;
        uint64_t device_memory_unread; /* devices of which the memory in use is unknown */
} AldTotals;

void ald_totals_compute(AldStore *store, AldTotals *ret);
