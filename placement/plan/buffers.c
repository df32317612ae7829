/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"

#define ELEMENT_BYTES 4
#define MASK_ELEMENT_BYTES 2
#define CLIENT_TENSORS 4 /* as long as an embedding, of the client */
#define CLIENT_TENSORS_OF_COPIES 10

bool ald_plan_buffers_are_known(const AldPlanRequest *request)
{
        return request->engine->topology == ALD_PLAN_STAR &&
               request->workload->feed_forward_elements != ALD_ABSENT_UINT64 &&
               !request->constants.is_given[ALD_PLAN_BUFFER_BYTES];
}

/* Tokens that are computed at once, no more than the contexts of all requests have. */
static double batch_tokens(const AldPlanWorkload *workload)
{
        double most = (double) workload->context * (double) workload->parallel;

        return most > 0 ? fmin((double) workload->batch_tokens, most) : (double) workload->batch_tokens;
}

/* A row of fp32 for each of these. */
static double row_bytes(const AldPlanWorkload *workload)
{
        return batch_tokens(workload) * ELEMENT_BYTES;
}

/* Which tokens of the context each of these attends to. */
static double mask_bytes(const AldPlanWorkload *workload)
{
        return ald_plan_cells(workload) * batch_tokens(workload) * MASK_ELEMENT_BYTES;
}

double ald_plan_device_buffer_bytes(
        const AldPlanRequest *request, bool is_first, bool has_head, uint32_t copies)
{
        const AldPlanWorkload *workload = request->workload;
        double row = row_bytes(workload), embedding = (double) workload->activation_elements * row;
        double attention = 5 * embedding;
        double feed_forward = 3 * (double) workload->feed_forward_elements * row + 4 * embedding;
        double head = has_head ? (double) workload->vocabulary * row + 3 * embedding : 0;

        if (!ald_plan_buffers_are_known(request))
                return request->constants.values[ALD_PLAN_BUFFER_BYTES];
        return copies * ((is_first ? 3 : 1) * embedding + mask_bytes(workload)) +
               fmax(attention, fmax(feed_forward, head));
}

double ald_plan_results_bytes(const AldPlanRequest *request)
{
        const AldPlanWorkload *workload = request->workload;

        return ald_plan_buffers_are_known(request)
                       ? (double) workload->vocabulary * (double) workload->parallel * ELEMENT_BYTES
                       : 0;
}

double ald_plan_client_buffer_bytes(const AldPlanRequest *request, uint32_t copies)
{
        const AldPlanWorkload *workload = request->workload;
        uint32_t tensors = copies > 1 ? CLIENT_TENSORS_OF_COPIES : CLIENT_TENSORS;

        if (!ald_plan_buffers_are_known(request))
                return 0;
        return copies * mask_bytes(workload) +
               tensors * (double) workload->activation_elements * row_bytes(workload) +
               ald_plan_results_bytes(request);
}

uint64_t ald_plan_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers)
{
        return ald_plan_stage_bytes(&request->constants, device, request->workload, layers, 0,
                ald_plan_device_buffer_bytes(request, false, false, 1));
}

uint32_t ald_plan_most_layers(const AldPlanRequest *request, const AldPlanDevice *device)
{
        return ald_plan_layers_max(&request->constants, device, request->workload, 0,
                ald_plan_device_buffer_bytes(request, false, false, 1));
}
