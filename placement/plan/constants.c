/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/constants.h"

#define MIB (1024.0 * 1024)

const AldPlanConstantInfo ald_plan_constants[ALD_PLAN_N_CONSTANTS] = {
        [ALD_PLAN_GPU_MEMORY_EFFICIENCY] = { "GpuMemoryEfficiency", "tests/bench/run decode-gpu on an H100",
                0.9 },
        [ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = { "ProcessorMemoryEfficiency",
                "published figures of llama.cpp: 0.39 to 0.68 of the theoretical rate", 0.6 },
        [ALD_PLAN_COMPUTE_EFFICIENCY] = { "ComputeEfficiency",
                "in prefill: tests/bench/run decode-gpu on an H100", 0.83 },
        [ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY] = { "ProcessorComputeEfficiency",
                "tests/bench/run placement: 0.33 to 0.43 in decoding, one thread", 0.4 },
        [ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY] = { "ClientComputeEfficiency",
                "tests/bench/run placement: 0.46 for Q4_0 in decoding, one thread", 0.46 },
        [ALD_PLAN_LAYER_NSEC] = { "LayerNSec", "tests/bench/run decode-gpu on an H100", 44e3 },
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

static double stated(const AldPlanOptions *options, AldPlanConstant constant)
{
        const AldField *field = ald_struct_find(&ald_plan_options_struct, ald_plan_constants[constant].name);

        return *(const double *) ald_field_of(field, options);
}

bool ald_plan_constant_is_given(const AldPlanOptions *options, AldPlanConstant constant)
{
        return options && !isnan(stated(options, constant));
}

void ald_plan_constants_init(AldPlanConstants *constants, const AldPlanOptions *options)
{
        for (AldPlanConstant i = 0; i < ALD_PLAN_N_CONSTANTS; i++) {
                constants->is_given[i] = ald_plan_constant_is_given(options, i);
                constants->values[i] = constants->is_given[i] ? stated(options, i)
                                                              : ald_plan_constants[i].value;
        }
}
