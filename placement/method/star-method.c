/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/layers/buffers.h"
#include "placement/layers/stage.h"
#include "placement/method/connection.h"
#include "placement/method/method.h"
#include "placement/method/needless.h"
#include "placement/method/star-plan.h"

/* A client sends the activations to the devices of each node in turn and receives them back. */

static int check_client(const AldPlanCandidates *candidates, uint32_t node, AldPlanRefusal *ret_refusal)
{
        const AldPlanCluster *cluster = candidates->cluster;
        uint64_t needs = ald_plan_client_host_bytes(candidates->request, 1);

        if (ald_plan_has_host_room(cluster, node, needs))
                return 0;
        *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_CLIENT_TOO_SMALL,
                .text = candidates->request->client,
                .needs_bytes = needs,
                .free_bytes = ald_plan_host_free_bytes(cluster, node) };
        return -EINVAL;
}

/* Names the host with the most free memory known. Alone: several servers without layers on the client need
 * copies of the inputs. */
static void describe_client(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanChoice choice = ald_plan_choice(candidates);
        uint64_t needs = ald_plan_client_host_bytes(candidates->request, alone ? ALD_PLAN_COPIES_MAX : 1);
        uint64_t most = ALD_PLAN_ABSENT;
        const char *best = NULL;

        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                uint64_t free_bytes = ald_plan_host_free_bytes(cluster, i);

                if (choice.client == ALD_PLAN_NONE ? !ald_plan_has_candidate(candidates, i)
                                                   : choice.client != i)
                        continue;
                if (ald_plan_has_host_room(cluster, i, needs))
                        return;
                if (best &&
                        (free_bytes == ALD_PLAN_ABSENT || (most != ALD_PLAN_ABSENT && free_bytes <= most)))
                        continue;
                best = cluster->nodes[i].id;
                most = free_bytes;
        }
        if (!best)
                return;
        ret_refusal->kind = ALD_PLAN_CLIENT_TOO_SMALL;
        ret_refusal->text = best;
        ret_refusal->needs_bytes = needs;
        ret_refusal->free_bytes = most;
}

static bool is_joined(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t client, uint32_t node)
{
        AldPlanConnection connection = ald_plan_connection_find(candidates, choice, client, node, 0, 0, 0);

        return isfinite(ald_plan_connection_nsec(&connection));
}

static const char *payload(const AldPlanSteps *steps, uint32_t stage, bool back)
{
        return back && steps->stages[stage].has_head ? "logits" : "activations";
}

const AldPlanMethod ald_star_method = {
        .has_layers = true,
        .spreads_layers = true,
        .judge_work_max = INFINITY,
        .step = "a token",
        .client = "client",
        .client_holds = "buffers",
        .least_part = "One layer",
        .none_fits = "Not one layer fits on any",
        .find = ald_star_plan,
        .least_bytes = ald_plan_layer_least_bytes,
        .stages_max = ald_plan_layers_stages_max,
        .check_client = check_client,
        .describe_client = describe_client,
        .is_joined = is_joined,
        .payload = payload,
        .say_needless = ald_plan_say_needless,
};
