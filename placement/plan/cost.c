/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/cost.h"

#define NSEC_PER_SEC 1e9
#define BITS_PER_BYTE 8
#define OPERATIONS 2 /* a product and a sum */
#define MASK_BYTES 2
#define RESULT_BYTES 4

static double device_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, double bytes, double operations)
{
        double efficiency = constants->values[device->is_processor ? ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY
                                                                   : ALD_PLAN_GPU_MEMORY_EFFICIENCY];
        double reading = bytes / (device->bytes_per_second * efficiency);
        double computing = operations / (device->flops * constants->values[ALD_PLAN_COMPUTE_EFFICIENCY]);

        if (isnan(reading) || isnan(computing))
                return NAN;
        return fmax(reading, computing) * NSEC_PER_SEC;
}

double ald_plan_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        /* Of a mixture of experts, several tokens read the experts of each, but none twice. */
        double weights = fmin(workload->token_bytes * workload->parallel, workload->mean_layer_bytes);

        return device_nsec(constants, device, weights + workload->token_kv_bytes * workload->parallel,
                       OPERATIONS * workload->token_parameters * workload->parallel) +
               constants->values[ALD_PLAN_LAYER_NSEC];
}

double ald_plan_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        return device_nsec(constants, device, (double) workload->head_bytes,
                OPERATIONS * workload->head_parameters * workload->parallel);
}

static double layer_bytes(const AldPlanWorkload *workload)
{
        return (double) workload->layer_bytes + (double) workload->layer_kv_bytes;
}

static double fixed_bytes(const AldPlanConstants *constants, const AldPlanDevice *device, uint64_t beside)
{
        return constants->values[device->uses_host_memory ? ALD_PLAN_HOST_RESERVE_BYTES
                                                          : ALD_PLAN_GPU_RESERVE_BYTES] +
               constants->values[ALD_PLAN_BUFFER_BYTES] + (double) beside;
}

uint64_t ald_plan_stage_bytes(const AldPlanConstants *constants, const AldPlanDevice *device,
        const AldPlanWorkload *workload, uint32_t layers, uint64_t beside)
{
        return (uint64_t) (fixed_bytes(constants, device, beside) + layers * layer_bytes(workload));
}

uint32_t ald_plan_layers_max(const AldPlanConstants *constants, const AldPlanDevice *device,
        const AldPlanWorkload *workload, uint64_t beside)
{
        double room = device->free_bytes == ALD_PLAN_ABSENT
                              ? 0
                              : (double) device->free_bytes - fixed_bytes(constants, device, beside);

        return room <= 0 ? 0 : (uint32_t) fmin(floor(room / layer_bytes(workload)), workload->layers);
}

double ald_plan_activation_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload)
{
        return constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] * constants->values[ALD_PLAN_ACTIVATION_BYTES] *
               workload->activation_elements * workload->parallel;
}

double ald_plan_star_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload)
{
        double cells = ceil((double) workload->context / ALD_LLM_CELLS_STEP) * ALD_LLM_CELLS_STEP;

        return ald_plan_activation_bytes(constants, workload) +
               constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] *
                       (MASK_BYTES * cells * workload->parallel +
                               constants->values[ALD_PLAN_STAR_STEP_BYTES]);
}

double ald_plan_result_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload)
{
        return constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] * RESULT_BYTES * workload->vocabulary *
               workload->parallel;
}

double ald_plan_path_nsec(const AldPlanPath *path, double bytes)
{
        double nsec = path->rtt_nsec / 2 + bytes * BITS_PER_BYTE / path->bits_per_second * NSEC_PER_SEC;

        return isnan(nsec) ? INFINITY : nsec;
}
