/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/method/method.h"
#include "placement/method/needless.h"
#include "placement/method/slice-cost.h"
#include "placement/method/slice-plan.h"

/* All nodes compute at once, each with an equal slice of each layer, and exchange their parts of the
 * activations. One of them, the root, has the embedding, too. */

#define JUDGE_WORK 1e5

static double tables_bytes(const AldPlanCandidates *candidates)
{
        return 2.0 * sizeof(double) * candidates->n * candidates->n;
}

static uint64_t least_bytes(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanDevice *device)
{
        return ald_slices_least_bytes(request, device, cluster->n_nodes);
}

static uint32_t stages_max(const AldPlanCandidates *candidates)
{
        return ald_slices_max(candidates->request->workload, candidates->n);
}

static int check_client(const AldPlanCandidates *candidates, uint32_t node, AldPlanRefusal *ret_refusal)
{
        if (ald_plan_has_candidate(candidates, node))
                return 0;
        *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_REQUIRED_UNUSABLE,
                .text = candidates->request->client };
        return -EINVAL;
}

/* With the smallest slice. */
static uint64_t root_bytes(const AldPlanCandidates *candidates, const AldPlanDevice *device)
{
        const AldPlanRequest *request = candidates->request;

        return ald_slices_bytes(request, device, stages_max(candidates), request->workload->embedding_bytes);
}

/* Names the node that lacks the least. A root has a slice in any case. */
static void describe_client(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        const AldPlanDevice *best = NULL;
        uint64_t least = UINT64_MAX;

        for (uint32_t i = 0; !alone && i < candidates->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, i);
                uint64_t needs = root_bytes(candidates, device);

                if (choice.client != ALD_PLAN_NONE && choice.client != device->node)
                        continue;
                if (needs <= device->free_bytes)
                        return;
                if (needs - device->free_bytes >= least)
                        continue;
                least = needs - device->free_bytes;
                best = device;
        }
        if (!best)
                return;
        ret_refusal->kind = ALD_PLAN_CLIENT_TOO_SMALL;
        ret_refusal->text = candidates->cluster->nodes[best->node].id;
        ret_refusal->needs_bytes = root_bytes(candidates, best);
        ret_refusal->free_bytes = best->free_bytes;
}

static const char *payload(const AldPlanSteps *steps, uint32_t stage, bool back)
{
        (void) steps, (void) stage, (void) back;
        return NULL;
}

static char *say_needless(const AldPlanVerdict *verdict)
{
        return isnan(verdict->saves_nsec)
                       ? g_strdup("Whether it would save time was not tried, as the plan is large.")
                       : ald_plan_say_needless(verdict);
}

const AldPlanMethod ald_slice_method = {
        .has_layers = true,
        .keeps_count = true,
        .joins_all = true,
        .judge_work_max = JUDGE_WORK,
        .step = "a token",
        .client = "root",
        .client_holds = "its slice",
        .least_part = "The smallest slice",
        .none_fits = "The smallest slice fits on none",
        .find = ald_slice_plan,
        .tables_bytes = tables_bytes,
        .least_bytes = least_bytes,
        .stages_max = stages_max,
        .check_client = check_client,
        .describe_client = describe_client,
        .payload = payload,
        .say_needless = say_needless,
};
