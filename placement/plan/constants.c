/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "placement/plan/constants.h"

#define MIB (1024.0 * 1024)

const AldPlanConstantInfo ald_plan_constants[ALD_PLAN_N_CONSTANTS] = {
        [ALD_PLAN_GPU_MEMORY_EFFICIENCY] = { "GpuMemoryEfficiency", "",
                "of the measured read rate, in decoding: tests/bench/run decode-gpu on an H100", 0.9, 0.01,
                1 },
        [ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = { "ProcessorMemoryEfficiency", "",
                "of the measured read rate, in decoding; published figures of llama.cpp: 0.39 to 0.68 of the "
                "theoretical one",
                0.6, 0.01, 1 },
        [ALD_PLAN_COMPUTE_EFFICIENCY] = { "ComputeEfficiency", "",
                "of the measured rate of matrix products, in prefill: tests/bench/run decode-gpu on an H100",
                0.83, 0.01, 1 },
        [ALD_PLAN_LAYER_NSEC] = { "LayerNSec", "ns",
                "that a layer takes however small it is: tests/bench/run decode-gpu on an H100", 44e3, 0,
                1e9 },
        [ALD_PLAN_GPU_RESERVE_BYTES] = { "GpuReserveBytes", "bytes",
                "of the free memory of a GPU, for the context of the engine", 600 * MIB, 0, 1e15 },
        [ALD_PLAN_HOST_RESERVE_BYTES] = { "HostReserveBytes", "bytes",
                "of the available memory of a host, so that the rest of the system can go on", 1024 * MIB, 0,
                1e15 },
        [ALD_PLAN_BUFFER_BYTES] = { "BufferBytes", "bytes",
                "for what is computed on a device, beside weights and keys", 512 * MIB, 0, 1e15 },
        [ALD_PLAN_ACTIVATION_BYTES] = { "ActivationBytes", "bytes",
                "of an element that passes from layer to layer: fp32 in llama.cpp; a hidden state and a "
                "residual in "
                "fp16 in vLLM",
                4, 1, 8 },
        [ALD_PLAN_STAR_ROUND_TRIPS] = { "StarRoundTrips", "",
                "of a client to each device that it uses, in each step: of the messages of llama.cpp's RPC "
                "only "
                "GET_TENSOR is answered",
                1, 0, 1000 },
        [ALD_PLAN_STAR_STEP_BYTES] = { "StarStepBytes", "bytes",
                "to each device in each step beside activations and mask: heads of messages of llama.cpp's "
                "RPC, 314 "
                "each, and indices",
                1900, 0, 1e9 },
        [ALD_PLAN_TRANSPORT_OVERHEAD] = { "TransportOverhead", "",
                "times the bytes of a message, on paths over TCP whose rate is that of long transfers", 1.07,
                1, 10 },
        [ALD_PLAN_INNER_HOP_NSEC] = { "InnerHopNSec", "ns", "from one device to another one of the same node",
                10e3, 0, 1e9 },
};

void ald_plan_constants_init(AldPlanConstants *constants)
{
        for (size_t i = 0; i < ALD_PLAN_N_CONSTANTS; i++)
                constants->values[i] = ald_plan_constants[i].value;
}

int ald_plan_constants_set(AldPlanConstants *constants, const char *name, double value)
{
        for (size_t i = 0; i < ALD_PLAN_N_CONSTANTS; i++) {
                const AldPlanConstantInfo *info = &ald_plan_constants[i];

                if (strcmp(info->name, name) != 0)
                        continue;
                if (!(value >= info->min && value <= info->max))
                        return -ERANGE;
                constants->values[i] = value;
                return 0;
        }
        return -ENOENT;
}
