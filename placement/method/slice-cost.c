/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/method/slice-cost.h"
#include "placement/plan/cost.h"

/* Most slices. Each is connected to all others, and searching for more would take minutes. */
#define SLICES_MAX 64u
#define EXCHANGES 2 /* per layer: after attention, and after the products that follow it */
#define BLOCK_BYTES 34
#define BLOCK_ELEMENTS 32
#define ELEMENT_BYTES 4

/* Returns whether layers can be cut into this number of equal slices, as in distributed-llama (its git
 * 8d624a7b): the number of nodes is a power of two, at most the number of key heads (app.cpp), and divides
 * the vocabulary, the queries, the keys and the inner dimension (llm.cpp), of which a workload only states
 * the first. */
static bool are_slices_possible(const AldPlanWorkload *workload, uint32_t slices)
{
        if ((slices & (slices - 1)) != 0 || workload->vocabulary % slices != 0)
                return false;
        return workload->kv_heads == ALD_ABSENT_UINT64 || slices <= workload->kv_heads;
}

uint32_t ald_slices_max(const AldPlanWorkload *workload, uint32_t n)
{
        uint32_t most = 1;

        while (most <= MIN(n, SLICES_MAX) / 2 && are_slices_possible(workload, most * 2))
                most *= 2;
        return most;
}

static uint64_t part_of(uint64_t bytes, uint32_t slices)
{
        return (bytes + slices - 1) / slices;
}

/* Returns the part of a workload that one node computes. */
static AldPlanWorkload slice_of(const AldPlanWorkload *workload, uint32_t slices)
{
        AldPlanWorkload slice = *workload;

        slice.mean_layer_bytes /= slices;
        slice.token_bytes /= slices;
        slice.token_kv_bytes /= slices;
        slice.token_parameters /= slices;
        slice.head_bytes = part_of(workload->head_bytes, slices);
        slice.head_parameters /= slices;
        return slice;
}

/* Returns the bytes of one slice of all layers, whose weights, and keys and values, are cut into equal
 * parts. */
static uint64_t parts_of_layers(const AldPlanRequest *request, uint32_t slices)
{
        const AldPlanWorkload *workload = request->workload;
        const AldPlanLayerSizes *sizes = request->sizes;
        uint64_t bytes = 0;

        if (!sizes)
                return workload->layers *
                       (part_of(workload->layer_bytes, slices) + part_of(workload->layer_kv_bytes, slices));
        for (uint32_t i = 0; i < sizes->n; i++)
                bytes += part_of(sizes->weights[i + 1] - sizes->weights[i], slices) +
                         part_of(sizes->kv[i + 1] - sizes->kv[i], slices);
        return bytes;
}

uint64_t ald_slices_bytes(
        const AldPlanRequest *request, const AldPlanDevice *device, uint32_t slices, uint64_t beside)
{
        uint64_t held = beside + part_of(request->workload->head_bytes, slices) +
                        parts_of_layers(request, slices);

        return ald_plan_stage_bytes(
                request, device, 0, held, request->constants.values[ALD_PLAN_BUFFER_BYTES]);
}

uint64_t ald_slices_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n)
{
        return ald_slices_bytes(request, device, ald_slices_max(request->workload, n), 0);
}

double ald_slices_nsec(const AldPlanConstants *constants, const AldPlanDevice *device,
        const AldPlanWorkload *workload, uint32_t slices)
{
        const AldPlanWorkload slice = slice_of(workload, slices);

        return (double) workload->layers * ald_plan_layer_nsec(constants, device, &slice) +
               ald_plan_head_nsec(constants, device, &slice);
}

AldSliceTransfers ald_slices_transfers(
        const AldPlanConstants *constants, const AldPlanWorkload *workload, uint32_t slices)
{
        double overhead = constants->values[ALD_PLAN_TRANSPORT_OVERHEAD];
        double elements = (double) workload->activation_elements;

        return (AldSliceTransfers){ .exchanges = EXCHANGES * (double) workload->layers *
                                                 (double) workload->parallel,
                .exchange_bytes = overhead * elements * BLOCK_BYTES / BLOCK_ELEMENTS,
                .turns = (double) workload->parallel,
                .start_bytes = overhead * elements * ELEMENT_BYTES,
                .end_bytes = overhead * (double) workload->vocabulary / slices * ELEMENT_BYTES };
}
