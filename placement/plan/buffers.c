/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"

#define ELEMENT_BYTES 4
#define MASK_ELEMENT_BYTES 2
#define LAYERS_DISTINGUISHED 3u
#define CLIENT_TENSORS 4 /* of the size of an embedding, on the client */
#define CLIENT_TENSORS_OF_COPIES 10

bool ald_plan_buffers_are_known(const AldPlanRequest *request)
{
        return request->engine->knows_buffers &&
               request->workload->feed_forward_elements != ALD_ABSENT_UINT64 &&
               !request->constants.is_given[ALD_PLAN_BUFFER_BYTES];
}

/* Returns how many tokens are computed at once: no more than the contexts of all requests hold. */
static double batch_tokens(const AldPlanWorkload *workload)
{
        double most = (double) workload->context * (double) workload->parallel;

        return most > 0 ? fmin((double) workload->batch_tokens, most) : (double) workload->batch_tokens;
}

/* Returns the bytes of one fp32 element for each token of a batch. */
static double row_bytes(const AldPlanWorkload *workload)
{
        return batch_tokens(workload) * ELEMENT_BYTES;
}

/* Returns the size of the mask of the context tokens that each token of a batch attends to. */
static double mask_bytes(const AldPlanWorkload *workload)
{
        return ald_plan_cells(workload) * batch_tokens(workload) * MASK_ELEMENT_BYTES;
}

/* Sizes of tensors, in bytes. */
typedef struct Tensors {
        double embedding, feed_forward, logits, mask;
} Tensors;

/*
 * Returns the size of a compute buffer without its inputs. A feed-forward layer needs two tensors of its size
 * and their product. Beside them, or beside the logits, there are tensors of the size of an embedding: the
 * residual, and holes that are too small for other tensors.
 */
static double work_bytes(const Tensors *tensors, AldPlanBufferUse use)
{
        const double embedding = tensors->embedding, feed_forward = tensors->feed_forward;
        bool is_one = use.layers == 1, has_long_logits = use.has_head && tensors->logits > feed_forward;

        if (use.is_client)
                return has_long_logits ? tensors->logits + 5 * embedding : feed_forward + 4 * embedding;
        if (use.has_head && use.copies > 1)
                return fmax(feed_forward + (use.layers > 2 ? 3 : 2) * embedding,
                        tensors->logits + (is_one ? 2 : 1) * embedding);
        if (has_long_logits)
                return tensors->logits + 3 * embedding;
        if (use.has_head)
                return feed_forward + (use.is_first ? 3 : 2) * embedding;
        if (use.is_first)
                return feed_forward + (is_one ? 3 : 4) * embedding;
        if (use.copies > 1)
                return feed_forward + (is_one ? 2 : 3) * embedding;
        return feed_forward + (use.may_be_last ? 2 : 1) * embedding;
}

/* Returns an upper bound on work_bytes(). The holes were only observed to be filled if a feed-forward layer
 * is much larger than an embedding. */
static double bound_bytes(const Tensors *tensors, AldPlanBufferUse use)
{
        const double embedding = tensors->embedding;

        return fmax(fmax(5 * embedding, tensors->feed_forward + 4 * embedding),
                use.has_head ? tensors->logits + (use.is_client ? 5 : 3) * embedding : 0);
}

static double buffer_bytes(const AldPlanRequest *request, AldPlanBufferUse use)
{
        const AldPlanWorkload *workload = request->workload;
        double row = row_bytes(workload);
        const Tensors tensors = { .embedding = (double) workload->activation_elements * row,
                .feed_forward = 3 * (double) workload->feed_forward_elements * row,
                .logits = (double) workload->vocabulary * row,
                .mask = mask_bytes(workload) };
        bool has_copies_of_first = use.is_first && use.copies > 1;
        double inputs = use.copies * ((has_copies_of_first ? 3 : 1) * tensors.embedding + tensors.mask);

        if (workload->feed_forward_elements < 2 * workload->activation_elements)
                return inputs + bound_bytes(&tensors, use);
        return inputs + work_bytes(&tensors, use);
}

double ald_plan_device_buffer_bytes(const AldPlanRequest *request, AldPlanBufferUse use)
{
        double most = 0;

        if (!ald_plan_buffers_are_known(request))
                return request->constants.values[ALD_PLAN_BUFFER_BYTES];
        if (use.layers > 0)
                return buffer_bytes(request, use);
        for (use.layers = 1; use.layers <= LAYERS_DISTINGUISHED; use.layers++)
                most = fmax(most, buffer_bytes(request, use));
        return most;
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

uint64_t ald_plan_client_host_bytes(const AldPlanRequest *request, uint32_t copies)
{
        return (uint64_t) (request->constants.values[ALD_PLAN_HOST_RESERVE_BYTES] +
                           (double) request->workload->embedding_bytes +
                           ald_plan_client_buffer_bytes(request, copies));
}

static const AldPlanBufferUse least_use = { .layers = 1, .copies = 1 };

uint64_t ald_plan_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers)
{
        return ald_plan_stage_bytes(
                request, device, layers, 0, ald_plan_device_buffer_bytes(request, least_use));
}

uint64_t ald_plan_device_room_bytes(const AldPlanRequest *request, const AldPlanDevice *device)
{
        uint64_t fixed = ald_plan_least_bytes(request, device, 0);

        return device->free_bytes - MIN(fixed, device->free_bytes);
}

uint32_t ald_plan_device_layers_max(const AldPlanRequest *request, const AldPlanDevice *device)
{
        double room = ald_plan_layers_room(
                request, device, 0, ald_plan_device_buffer_bytes(request, least_use));

        return ald_plan_layers_max(request, ALD_PLAN_RUN_SMALLEST, room);
}
