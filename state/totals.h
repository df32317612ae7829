/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* Sums over all nodes, as the properties of org.alidade.State1 say them; what nothing is known of is absent.
 * Sums stop at ALD_INTEGER_MAX. */
typedef struct AldTotals {
        double tflops_fp16;
        uint64_t tflops_fp16_left_out; /* devices without a figure, in Backends or in Compute */
        uint64_t memory_bandwidth_bytes_per_second;
        const char *memory_bandwidth_of; /* "gpu", "cpu" or "" */
        uint64_t memory_total_bytes;
        uint64_t device_memory_total_bytes;
} AldTotals;

void ald_totals_compute(AldStore *store, AldTotals *ret);
