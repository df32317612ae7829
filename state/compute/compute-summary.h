/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Why a device that could have a figure lacks it. */
typedef enum AldLeftOut {
        ALD_LEFT_OUT_DISBELIEVED,    /* other measurements contradict it */
        ALD_LEFT_OUT_FAILED,         /* the last attempt failed */
        ALD_LEFT_OUT_NEVER_MEASURED, /* there was no attempt yet */
        ALD_LEFT_OUT_NO_OPENCL,      /* it has no OpenCL platform, so it cannot be measured */
        ALD_LEFT_OUT_N,
} AldLeftOut;

/* "Disbelieved", "Failed", "NeverMeasured" or "NoOpenCl": a key of TflopsFp16LeftOutReasons and
 * MemoryBandwidthLeftOutReasons. */
const char *ald_left_out_to_string(AldLeftOut reason);

/* The devices of a node that its sums cover. */
typedef enum AldComputeOf {
        ALD_COMPUTE_OF_NONE,       /* nothing was measured */
        ALD_COMPUTE_OF_GPUS,       /* GPUs and accelerators */
        ALD_COMPUTE_OF_PROCESSORS, /* if no other device was measured */
} AldComputeOf;

/* The sums of the measured figures of one node. */
typedef struct AldComputeSummary {
        AldComputeOf of;
        double tflops_fp16;    /* ALD_ABSENT_DOUBLE if none has it */
        double tflops_fp32;    /* of devices whose matrix product was in FP32; absent likewise */
        uint64_t fp32_devices; /* how many these are */
        uint64_t memory_bandwidth_bytes_per_second; /* ALD_ABSENT_UINT64 if none has it */
        uint64_t tflops_fp16_left_out[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_left_out[ALD_LEFT_OUT_N];
} AldComputeSummary;

/*
 * Sums up the GPUs and accelerators of a node if any of them was measured, else its processors. Totals and
 * all clients use this rule (ald_node_figures()). Figures of FP32 are summed up apart.
 *
 * Left out are devices that could have a figure and lack it: GPUs and accelerators, and processors too while
 * none of the former was measured. A device that multiplies in another precision than FP16 does not count as
 * left out of the TFLOPS of FP16. Figures that `doubts` leaves out are left out. A device that is not in
 * `backends`, whose class is unknown, or that is split into instances is ignored. Each record may be NULL.
 */
void ald_compute_summary(const AldBackends *backends, const AldCompute *compute, const AldDoubts *doubts,
        AldComputeSummary *ret);

/* Whether its product was measured in FP32, not in FP16, so that its GemmTflops are of FP32. */
bool ald_compute_has_fp32_only(const AldComputeDevice *device);

/* Whether the device is split into instances; then it is never measured as a whole. */
bool ald_compute_is_split(const AldBackends *backends, const AldBackend *backend);

/* Adds to a sum that is absent until the first addition; it is limited to ALD_INTEGER_MAX. */
void ald_sum_add(uint64_t *sum, uint64_t value);
void ald_sum_add_double(double *sum, double value);
