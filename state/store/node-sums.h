/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Why a device that could have a figure lacks it. */
typedef enum AldLeftOut {
        ALD_LEFT_OUT_DISBELIEVED,     /* other measurements contradict it */
        ALD_LEFT_OUT_FAILED,          /* the last attempt failed */
        ALD_LEFT_OUT_NEVER_MEASURED,  /* there was no attempt yet */
        ALD_LEFT_OUT_NO_OPENCL,       /* it has no OpenCL platform, so it cannot be measured */
        ALD_LEFT_OUT_OTHER_PRECISION, /* it was measured, neither in FP16 in hardware nor in FP32 */
        ALD_LEFT_OUT_N,
} AldLeftOut;

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
        uint64_t fp32_devices; /* the number of these devices */
        uint64_t memory_bandwidth_bytes_per_second; /* ALD_ABSENT_UINT64 if none has it */
        uint64_t tflops_fp16_left_out[ALD_LEFT_OUT_N];
        uint64_t memory_bandwidth_left_out[ALD_LEFT_OUT_N];
} AldComputeSummary;

/* A node adds these to the totals if it counts. They are kept with the node, so that a change of one record
 * does not need the others; state/compute/totals.h maintains them. */
typedef struct AldNodeSums {
        uint8_t known; /* the parts that were computed from the present records; none of a new node */
        bool counts;
        AldComputeSummary compute;
        uint64_t memory_total_bytes, memory_available_bytes;
        uint64_t device_memory_total_bytes, device_memory_available_bytes;
        uint64_t device_memory_unread;
        uint64_t power_micro_watts; /* ALD_ABSENT_UINT64 if it reports none */
        bool power_is_of_parts;     /* not of the whole machine */
} AldNodeSums;
