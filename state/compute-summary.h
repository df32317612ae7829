/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Why a device that could have a figure lacks it. */
typedef enum AldLeftOut {
        ALD_LEFT_OUT_FAILED,         /* it was tried, and failed */
        ALD_LEFT_OUT_NEVER_MEASURED, /* it was not tried yet */
        ALD_LEFT_OUT_NO_OPENCL,      /* it has no OpenCL platform, so nothing can measure it */
        ALD_LEFT_OUT_N,
} AldLeftOut;

/* "Failed", "NeverMeasured" or "NoOpenCl": a key of TflopsFp16LeftOutReasons and its like. */
const char *ald_left_out_to_string(AldLeftOut reason);

/* Which devices of a node its figures are sums over. */
typedef enum AldComputeOf {
        ALD_COMPUTE_OF_NONE,       /* nothing was measured */
        ALD_COMPUTE_OF_GPUS,       /* GPUs and accelerators */
        ALD_COMPUTE_OF_PROCESSORS, /* of which it measured no other device */
} AldComputeOf;

/* What the devices of one node deliver together, as measured. */
typedef struct AldComputeSummary {
        AldComputeOf of;
        double tflops_fp16;                         /* ALD_ABSENT_DOUBLE where none has it */
        uint64_t memory_bandwidth_bytes_per_second; /* ALD_ABSENT_UINT64 where none has it */
        uint64_t tflops_fp16_left_out[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_left_out[ALD_LEFT_OUT_N];
} AldComputeSummary;

/*
 * The one rule for totals, rows and cards: the GPUs and accelerators of a node if any of them was measured,
 * else its processors. alidadectl follows the same rule (ald_node_figures()).
 *
 * Left out are devices that could have a figure and lack it: GPUs and accelerators, and processors too while
 * none of the former was measured. A device that multiplies in another precision than FP16 has no TFLOPS of
 * FP16 to be left out of. A device that backends does not list, whose class is unknown, or that is split
 * into instances is passed over. Either record may be NULL.
 */
void ald_compute_summary(const AldBackends *backends, const AldCompute *compute, AldComputeSummary *ret);

/* Adds to a sum that is absent until something is known; it stops at ALD_INTEGER_MAX. */
void ald_sum_add(uint64_t *sum, uint64_t value);
void ald_sum_add_double(double *sum, double value);
