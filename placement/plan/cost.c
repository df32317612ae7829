/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/plan/cost.h"

#define NSEC_PER_SEC 1e9
#define BITS_PER_BYTE 8
#define OPERATIONS 2 /* a product and a sum */
#define MASK_BYTES 2
#define RESULT_BYTES 4
#define TOKEN_BYTES 8     /* an int64 of torch, which is more than vLLM needs for one */
#define MESSAGE_BYTES 314 /* the head of a tensor that llama.cpp's RPC sends */

/* The work of a device for a layer, or for the head, in one step. */
typedef struct Work {
        double bytes, operations;
        bool is_client; /* on the client's processor */
} Work;

static double reading_nsec(const AldPlanConstants *constants, const AldPlanDevice *device, Work work)
{
        double efficiency = constants->values[device->is_processor ? ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY
                                                                   : ALD_PLAN_GPU_MEMORY_EFFICIENCY];

        return work.bytes / (device->bytes_per_second * efficiency) * NSEC_PER_SEC;
}

static double computing_nsec(const AldPlanConstants *constants, const AldPlanDevice *device, Work work)
{
        AldPlanConstant efficiency = work.is_client         ? ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY
                                     : device->is_processor ? ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY
                                                            : ALD_PLAN_COMPUTE_EFFICIENCY;

        return work.operations / (device->flops * constants->values[efficiency]) * NSEC_PER_SEC;
}

static double work_nsec(const AldPlanConstants *constants, const AldPlanDevice *device, Work work)
{
        double reading = reading_nsec(constants, device, work);
        double computing = computing_nsec(constants, device, work);

        return isnan(reading) || isnan(computing) ? NAN : fmax(reading, computing);
}

/*
 * Returns the bytes of a layer's weights that a step reads for all requests. Weights that all tokens use are
 * read once. In a mixture of E experts, each further token also reads those of its k experts that no earlier
 * token used. If all experts are equally likely and tokens are independent, an expert is still unread after p
 * tokens with a probability of (1 - k / E) ^ p.
 */
static double read_bytes(const AldPlanWorkload *workload)
{
        double rest = workload->mean_layer_bytes - workload->token_bytes, further;

        if (workload->experts == ALD_ABSENT_UINT64)
                return fmin(workload->token_bytes * (double) workload->parallel, workload->mean_layer_bytes);
        further = (double) workload->parallel - 1;
        return workload->token_bytes +
               rest * (1 - pow(1 - (double) workload->used_experts / (double) workload->experts, further));
}

static Work layer_work(const AldPlanWorkload *workload)
{
        return (Work){ .bytes = read_bytes(workload) + workload->token_kv_bytes * workload->parallel,
                .operations = OPERATIONS * workload->token_parameters * workload->parallel };
}

bool ald_plan_is_of_vendor(const AldPlanDevice *device, const char *vendor)
{
        return device->vendor && g_ascii_strncasecmp(device->vendor, vendor, strlen(vendor)) == 0;
}

/* Returns the constant of the library with which engines are usually built for such a device. */
static double fixed_layer_nsec(const AldPlanConstants *constants, const AldPlanDevice *device)
{
        const double *values = constants->values;

        if (!isnan(values[ALD_PLAN_LAYER_NSEC]))
                return values[ALD_PLAN_LAYER_NSEC];
        if (device->is_processor)
                return values[ALD_PLAN_PROCESSOR_LAYER_NSEC];
        if (ald_plan_is_of_vendor(device, "NVIDIA"))
                return values[ALD_PLAN_CUDA_LAYER_NSEC];
        if (ald_plan_is_of_vendor(device, "AMD"))
                return values[ALD_PLAN_ROCM_LAYER_NSEC];
        if (ald_plan_is_of_vendor(device, "Apple"))
                return values[ALD_PLAN_METAL_LAYER_NSEC];
        return values[ALD_PLAN_VULKAN_LAYER_NSEC];
}

double ald_plan_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        return work_nsec(constants, device, layer_work(workload)) + fixed_layer_nsec(constants, device);
}

double ald_plan_client_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        Work work = layer_work(workload);

        work.is_client = true;
        return work_nsec(constants, device, work) + fixed_layer_nsec(constants, device);
}

static bool is_computing_longer(const AldPlanConstants *constants, const AldPlanDevice *device, Work work)
{
        return computing_nsec(constants, device, work) > reading_nsec(constants, device, work);
}

bool ald_plan_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        return is_computing_longer(constants, device, layer_work(workload));
}

bool ald_plan_client_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        Work work = layer_work(workload);

        work.is_client = true;
        return is_computing_longer(constants, device, work);
}

static Work head_work(const AldPlanWorkload *workload)
{
        return (Work){ .bytes = (double) workload->head_bytes,
                .operations = OPERATIONS * workload->head_parameters * workload->parallel };
}

double ald_plan_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        return work_nsec(constants, device, head_work(workload));
}

double ald_plan_client_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload)
{
        Work work = head_work(workload);

        work.is_client = true;
        return work_nsec(constants, device, work);
}

uint64_t ald_plan_layers_bytes(const AldPlanRequest *request, AldPlanLayerRun run, uint32_t layers)
{
        const AldPlanWorkload *workload = request->workload;
        const AldPlanLayerSizes *sizes = request->sizes;

        if (!sizes)
                return layers * (workload->layer_bytes + workload->layer_kv_bytes);
        /* A request may give a device more layers than there are, which is refused later. */
        layers = MIN(layers, sizes->n);
        switch (run) {
        case ALD_PLAN_RUN_SMALLEST:
                return sizes->least[layers];
        case ALD_PLAN_RUN_LARGEST:
                return sizes->most[layers];
        case ALD_PLAN_RUN_FIRST:
                return sizes->sums[layers];
        case ALD_PLAN_RUN_LAST:
                break;
        }
        return sizes->sums[sizes->n] - sizes->sums[sizes->n - layers];
}

double ald_plan_reserved_bytes(const AldPlanConstants *constants, const AldPlanDevice *device)
{
        return constants
                ->values[device->uses_host_memory ? ALD_PLAN_HOST_RESERVE_BYTES : ALD_PLAN_GPU_RESERVE_BYTES];
}

uint64_t ald_plan_stage_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers,
        uint64_t beside, double buffers)
{
        return (uint64_t) (ald_plan_reserved_bytes(&request->constants, device) + buffers + (double) beside +
                           (double) ald_plan_layers_bytes(request, ALD_PLAN_RUN_SMALLEST, layers));
}

double ald_plan_layers_room(
        const AldPlanRequest *request, const AldPlanDevice *device, uint64_t beside, double buffers)
{
        return device->free_bytes == ALD_PLAN_ABSENT
                       ? 0
                       : (double) device->free_bytes - ald_plan_reserved_bytes(&request->constants, device) -
                                 buffers - (double) beside;
}

uint32_t ald_plan_layers_max(const AldPlanRequest *request, AldPlanLayerRun run, double room)
{
        uint32_t fits = 0, above = (uint32_t) request->workload->layers + 1;

        if (room <= 0)
                return 0;
        while (above - fits > 1) {
                uint32_t middle = fits + (above - fits) / 2;

                if ((double) ald_plan_layers_bytes(request, run, middle) <= room)
                        fits = middle;
                else
                        above = middle;
        }
        return fits;
}

double ald_plan_cells(const AldPlanWorkload *workload)
{
        return ceil((double) workload->context / ALD_LLM_CELLS_STEP) * ALD_LLM_CELLS_STEP;
}

double ald_plan_activation_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload)
{
        return constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] * constants->values[ALD_PLAN_ACTIVATION_BYTES] *
               workload->activation_elements * workload->parallel;
}

double ald_plan_token_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload)
{
        return constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] * TOKEN_BYTES * workload->parallel;
}

double ald_plan_star_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload, bool is_first)
{
        const double *values = constants->values;
        double cells = ald_plan_cells(workload);
        double more = is_first ? fmax(values[ALD_PLAN_STAR_FIRST_COPIES] - 1, 0) : 0;

        return ald_plan_activation_bytes(constants, workload) * (1 + more) +
               values[ALD_PLAN_TRANSPORT_OVERHEAD] *
                       (MASK_BYTES * cells * workload->parallel + values[ALD_PLAN_STAR_STEP_BYTES] +
                               MESSAGE_BYTES * more);
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
