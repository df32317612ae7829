/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/constants.h"

#define MIB (1024.0 * 1024)

/*
 * Each efficiency is a share of the rate that a probe measured, since the planner multiplies it by that rate.
 *
 * Reading on processors: a Raspberry Pi 5 reads 11.6 GB/s with four threads, and llama.cpp decodes at 0.84 to
 * 0.91 of that in five quantizations (its issue 26484), which is 0.6 of the theoretical rate. Equal shares,
 * 0.85 to 0.95, are reported of servers (its issue 25976).
 *
 * LayerNSec and the five per library are what llama.cpp took in all, minus the time of reading at 0.9 of a
 * measured rate, divided by the layers.
 *
 * For CUDA, which starts all kernels of a step at once, as a graph, the figure is that of decode-gpu on an
 * H100.
 *
 * For ROCm and Vulkan, the figures are the medians of 81 and 34 µs for 7B Q4_0 on an RX 7900 XTX (its issue
 * 20934); 114 and 70 µs for gemma 3 4B Q3_K_S, and 138 and 86 µs for gpt-oss 20B, on a Ryzen AI Max+ 395 that
 * reads 232 GB/s (kyuz0/amd-strix-halo-toolboxes, docs/benchmarks.md of August 2025; lhl/strix-halo-testing).
 *
 * For Metal, which OpenCL on such GPUs resembles, the times of Llama 2 7B in F16 and Q4_0 are extrapolated to
 * weights of size 0: 169 µs on an M2 Ultra and 190 µs on an M3 Max
 * (XiongjieDai/GPU-Benchmarks-on-LLM-Inference).
 */
const AldPlanConstantInfo ald_plan_constants[ALD_PLAN_N_CONSTANTS] = {
        [ALD_PLAN_GPU_MEMORY_EFFICIENCY] = { "GpuMemoryEfficiency", "tests/bench/run decode-gpu on an H100",
                0.9 },
        [ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = { "ProcessorMemoryEfficiency",
                "llama.cpp on a Raspberry Pi 5: 0.84 to 0.91 of the rate at which it reads", 0.88 },
        [ALD_PLAN_COMPUTE_EFFICIENCY] = { "ComputeEfficiency",
                "in prefill: tests/bench/run decode-gpu on an H100", 0.83 },
        [ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY] = { "ProcessorComputeEfficiency",
                "tests/bench/run placement: 0.33 to 0.43 in decoding, one thread", 0.4 },
        [ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY] = { "ClientComputeEfficiency",
                "tests/bench/run placement: 0.46 for Q4_0 in decoding, one thread", 0.46 },
        [ALD_PLAN_LAYER_NSEC] = { "LayerNSec", NULL, NAN },
        [ALD_PLAN_CUDA_LAYER_NSEC] = { "CudaLayerNSec", "tests/bench/run decode-gpu on an H100", 44e3 },
        [ALD_PLAN_ROCM_LAYER_NSEC] = { "RocmLayerNSec",
                "published figures of llama.cpp on an RX 7900 XTX and a Ryzen AI Max+ 395: 81 to 138 µs",
                114e3 },
        [ALD_PLAN_VULKAN_LAYER_NSEC] = { "VulkanLayerNSec",
                "published figures of llama.cpp on an RX 7900 XTX and a Ryzen AI Max+ 395: 34 to 86 µs",
                70e3 },
        [ALD_PLAN_METAL_LAYER_NSEC] = { "MetalLayerNSec",
                "published figures of llama.cpp on an M2 Ultra and an M3 Max: 169 and 190 µs", 180e3 },
        [ALD_PLAN_PROCESSOR_LAYER_NSEC] = { "ProcessorLayerNSec",
                "tests/bench/run placement: 74 µs, one thread", 74e3 },
        [ALD_PLAN_GPU_RESERVE_BYTES] = { "GpuReserveBytes", "assumed", 600 * MIB },
        [ALD_PLAN_HOST_RESERVE_BYTES] = { "HostReserveBytes", "assumed", 1024 * MIB },
        [ALD_PLAN_BUFFER_BYTES] = { "BufferBytes", "assumed", 512 * MIB },
        [ALD_PLAN_ACTIVATION_BYTES] = { "ActivationBytes",
                "fp32 in llama.cpp; a hidden state and a residual in fp16 in vLLM", 4 },
        [ALD_PLAN_STAR_ROUND_TRIPS] = { "StarRoundTrips",
                "of the messages of llama.cpp's RPC only GET_TENSOR is answered", 1 },
        [ALD_PLAN_STAR_STEP_BYTES] = { "StarStepBytes",
                "heads of messages of llama.cpp's RPC, 314 each, and indices", 1900 },
        [ALD_PLAN_STAR_SERVER_NSEC] = { "StarServerNSec",
                "tests/bench/run placement: 1.2 to 1.6 ms for each server and step, on one core each",
                1.2e6 },
        [ALD_PLAN_STAR_FIRST_COPIES] = { "StarFirstCopies", "observed of llama.cpp 0.7; older ones send 1",
                3 },
        [ALD_PLAN_TRANSPORT_OVERHEAD] = { "TransportOverhead",
                "on paths over TCP whose rate is that of long transfers", 1.07 },
        [ALD_PLAN_INNER_HOP_NSEC] = { "InnerHopNSec", "assumed", 10e3 },
};

static double stated_value(const AldPlanOptions *options, AldPlanConstant constant)
{
        const AldField *field = ald_struct_find(&ald_plan_options_struct, ald_plan_constants[constant].name);

        return *(const double *) ald_field_of(field, options);
}

bool ald_plan_constant_is_given(const AldPlanOptions *options, AldPlanConstant constant)
{
        return options && !isnan(stated_value(options, constant));
}

void ald_plan_constants_init(AldPlanConstants *constants, const AldPlanOptions *options)
{
        for (AldPlanConstant i = 0; i < ALD_PLAN_N_CONSTANTS; i++) {
                constants->is_given[i] = ald_plan_constant_is_given(options, i);
                constants->values[i] = constants->is_given[i] ? stated_value(options, i)
                                                              : ald_plan_constants[i].value;
        }
}
