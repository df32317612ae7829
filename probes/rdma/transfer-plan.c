/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/rdma/transfer-plan.h"

#define UNDER_WAY_BYTES (64u << 20)
#define BUFFER_BYTES (4u << 20)
#define DEPTH_MIN 16u
#define DEPTH_MAX 128u
#define GROUP_MAX 16u
#define SIZE_MIN 1024u

static uint64_t within(uint64_t value, uint64_t limit)
{
        return limit > 0 ? MIN(value, limit) : value;
}

size_t ald_rdma_plan_total(const AldRdmaPlan *plan)
{
        return plan->bytes + (size_t) plan->n_receives * plan->receive_bytes;
}

unsigned ald_rdma_plan_group(uint64_t depth)
{
        return (unsigned) CLAMP(depth / 4, 1, GROUP_MAX);
}

static void plan_memory(AldRdmaPlan *plan, size_t bytes)
{
        unsigned requests = plan->depth * plan->queues, whole = (unsigned) (bytes / plan->size);

        plan->bytes = MAX(whole, 1) * plan->size;
        plan->receive_bytes = plan->operation == ALD_RDMA_USE_OPERATION_SEND ? plan->size
                                                                             : ALD_RDMA_PLAN_PING;
        plan->n_receives = plan->operation == ALD_RDMA_USE_OPERATION_SEND ? CLAMP(whole, 1, requests)
                                                                          : requests;
}

/* Half of the memory that may be locked is left to the queues of the driver. */
static bool fits(const AldRdmaPlanLimits *limits, const AldRdmaPlan *plan)
{
        return ald_rdma_plan_total(plan) <= within(within(SIZE_MAX, limits->region), limits->locked / 2);
}

bool ald_rdma_plan_make(const AldRdmaPlanLimits *limits, AldRdmaUseOperation operation, size_t size,
        unsigned queues, AldRdmaPlan *ret)
{
        AldRdmaPlan plan = {
                .operation = operation, .queues = queues, .size = (size_t) within(size, limits->message)
        };
        size_t bytes = BUFFER_BYTES;

        if (plan.size < SIZE_MIN)
                return false;
        plan.depth = CLAMP(UNDER_WAY_BYTES / (unsigned) plan.size / queues, DEPTH_MIN, DEPTH_MAX);
        plan.depth = (unsigned) within(within(plan.depth, limits->requests), limits->completions);
        plan.queues = (unsigned) within(queues, limits->completions / plan.depth);
        for (plan_memory(&plan, bytes); bytes > plan.size && !fits(limits, &plan); bytes /= 2)
                plan_memory(&plan, bytes / 2);
        if (limits->region > 0 && ald_rdma_plan_total(&plan) > limits->region)
                return false;
        *ret = plan;
        return true;
}
