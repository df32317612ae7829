/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"
#include "placement/plan/explain.h"
#include "placement/plan/plan.h"
#include "placement/plan/slice-cost.h"
#include "placement/plan/steps.h"

#define FOUND 0.2   /* fraction of the work until the best steps are found */
#define OBSTACLES 5 /* that are tried */

/* Returns whether there would be a plan for this request with any number of devices, which is looked for as
 * closely as the plan itself. *ret_lower_nsec: if none was found, INFINITY where there is none for certain.
 */
static bool is_possible(
        const AldPlanCandidates *candidates, const AldPlanRequest *request, double *ret_lower_nsec)
{
        AldPlanCandidates changed = *candidates;
        AldPlanChoice choice;
        AldPlanSteps steps = { 0 };
        int r;

        changed.request = request;
        choice = ald_plan_choice(&changed);
        ald_plan_choice_lift(&choice, &changed);
        choice.level = true;
        r = ald_plan_find_steps(&changed, &choice, &steps);
        *ret_lower_nsec = r == -ENOSPC ? steps.lower_nsec : 0;
        if (r < 0)
                return false;
        ald_plan_steps_clear(&steps);
        return true;
}

/* The same if the commands for the engine could name any path. */
static bool is_possible_unnamed(const AldPlanCandidates *candidates)
{
        AldPlanRequest request = *candidates->request;
        AldPlanEngine engine = *request.engine;
        g_auto(AldPlanCandidates) all = { 0 };
        AldPlanRefusal refusal;
        double ignored;

        engine.names = ALD_PLAN_NAMES_NOTHING;
        request.engine = &engine;
        if (ald_plan_candidates_init(&all, candidates->cluster, &request, candidates->preference, &refusal) <
                0)
                return false;
        all.progress = candidates->progress;
        return is_possible(&all, &request, &ignored);
}

/* Returns the kind for layers that do not fit: the bound of the last of these tries, to which all is allowed,
 * says if that is proven. */
static AldPlanRefusalKind memory_kind(const AldPlanCandidates *candidates, double lower_nsec)
{
        const AldPlanTopology topology = candidates->request->engine->topology;

        return lower_nsec < INFINITY && (topology == ALD_PLAN_STAR || topology == ALD_PLAN_RING)
                       ? ALD_PLAN_NO_SPLIT_FOUND
                       : ALD_PLAN_TOO_LITTLE_MEMORY;
}

/* Returns the limit without which there would be a plan, or ALD_PLAN_TIME_UP if it was not found in time. */
static AldPlanRefusalKind find_obstacle(const AldPlanCandidates *candidates)
{
        const AldPlanProgress *progress = candidates->progress;
        AldPlanEngine engine = *candidates->request->engine;
        AldPlanRequest request = *candidates->request;
        double lower_nsec;

        if (is_possible(candidates, &request, &lower_nsec))
                return ALD_PLAN_DEVICES_LIMITED;
        request.engine = &engine;
        engine.nodes_even = false;
        if (candidates->request->engine->nodes_even && is_possible(candidates, &request, &lower_nsec))
                return ALD_PLAN_NODES_UNEVEN;
        if (is_possible_unnamed(candidates))
                return ALD_PLAN_NOT_NAMED;
        if (progress->stopped)
                return ALD_PLAN_TIME_UP;
        if (isnan(request.assumed_rtt_nsec))
                request.assumed_rtt_nsec = 0;
        if (isnan(request.assumed_bits_per_second))
                request.assumed_bits_per_second = INFINITY;
        if (is_possible(candidates, &request, &lower_nsec))
                return ALD_PLAN_NOT_JOINED;
        if (progress->stopped)
                return ALD_PLAN_TIME_UP;
        /* It needs no memory; a ring of one vendor, or one with all devices, is always possible but for
         * these. */
        if (engine.topology == ALD_PLAN_ALL_REDUCE)
                return ALD_PLAN_VENDORS_DIFFER;
        engine.one_vendor = false;
        if (is_possible(candidates, &request, &lower_nsec))
                return ALD_PLAN_VENDORS_DIFFER;
        return progress->stopped ? ALD_PLAN_TIME_UP : memory_kind(candidates, lower_nsec);
}

/* Makes it a refusal of the pinned device that lacks the least for what it would hold besides, if fewer than
 * this number have room for that. */
static bool describe_pinned(
        const AldPlanCandidates *candidates, uint64_t beside, uint32_t enough, AldPlanRefusal *ret)
{
        const AldPlanRequest *request = candidates->request;
        AldPlanRefusal refusal = { .kind = ALD_PLAN_PINNED_TOO_MANY, .n_devices = candidates->n };
        uint64_t least = UINT64_MAX;
        uint32_t n_roomy = 0;

        for (uint32_t i = 0; i < candidates->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, i);
                uint64_t needs = ald_plan_least_bytes(request, device, candidates->pinned[i]) + beside;

                n_roomy += needs <= device->free_bytes;
                if (needs <= device->free_bytes || needs - device->free_bytes >= least)
                        continue;
                least = needs - device->free_bytes;
                refusal.text = ald_plan_pin_of(candidates, i)->device;
                refusal.needs_bytes = needs;
                refusal.free_bytes = device->free_bytes;
        }
        if (n_roomy >= enough)
                return false;
        *ret = refusal;
        return true;
}

/* Of one that has room for the head or for the embedding, or for either if another one is the other end. */
static void describe_pins(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        const AldPlanEngine *engine = candidates->request->engine;
        uint64_t head = workload->head_bytes, embedding = workload->embedding_bytes;

        if (describe_pinned(candidates, head, 1, ret) || describe_pinned(candidates, embedding, 1, ret))
                return;
        if (engine->topology == ALD_PLAN_RING && candidates->n > 1)
                describe_pinned(candidates, MIN(head, embedding), 2, ret);
        else
                describe_pinned(candidates, ald_plan_ends_bytes(workload, engine), 1, ret);
}

/* Makes it a refusal for the host with the most free memory known, if no host has room for the client with so
 * many copies of the inputs. */
static void describe_client(const AldPlanCandidates *candidates, uint32_t copies, AldPlanRefusal *ret)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanChoice choice = ald_plan_choice(candidates);
        uint64_t needs = ald_plan_client_host_bytes(candidates->request, copies), most = ALD_PLAN_ABSENT;
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
        ret->kind = ALD_PLAN_CLIENT_TOO_SMALL;
        ret->text = best;
        ret->needs_bytes = needs;
        ret->free_bytes = most;
}

/* What the root of slices needs, which holds the embedding beside its slice, which is the smallest. */
static uint64_t root_bytes(const AldPlanCandidates *candidates, const AldPlanDevice *device)
{
        const AldPlanRequest *request = candidates->request;

        return ald_slices_bytes(request, device, ald_slices_max(request->workload, candidates->n),
                request->workload->embedding_bytes);
}

/* Makes it a refusal for the node that lacks the least, if none has room for the root. */
static void describe_root(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanCluster *cluster = candidates->cluster;
        const AldPlanChoice choice = ald_plan_choice(candidates);
        const AldPlanDevice *best = NULL;
        uint64_t least = UINT64_MAX;

        for (uint32_t i = 0; i < candidates->n; i++) {
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
        ret->kind = ALD_PLAN_CLIENT_TOO_SMALL;
        ret->text = cluster->nodes[best->node].id;
        ret->needs_bytes = root_bytes(candidates, best);
        ret->free_bytes = best->free_bytes;
}

/* If more devices must be used than can be, whatever memory they have. */
static bool describe_required(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        AldPlanTopology topology = candidates->request->engine->topology;
        uint32_t n = candidates->n_must_nodes, most = UINT32_MAX;

        for (uint32_t i = 0; i < candidates->n; i++)
                n += candidates->required[i];
        if (topology == ALD_PLAN_SLICES)
                most = ald_slices_max(workload, candidates->n);
        else if (topology != ALD_PLAN_ALL_REDUCE)
                most = (uint32_t) workload->layers;
        if (n <= most)
                return false;
        *ret = (AldPlanRefusal){ .kind = ALD_PLAN_REQUIRED_UNUSABLE, .n_devices = n, .n_together = most };
        return true;
}

/* Names what memory is too small for if that is not the model as a whole. is_proven: no stages fit. */
static void describe_memory(const AldPlanCandidates *candidates, bool is_proven, AldPlanRefusal *ret)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanTopology topology = request->engine->topology;

        if (topology == ALD_PLAN_SLICES)
                describe_root(candidates, ret);
        if (topology == ALD_PLAN_STAR)
                describe_client(candidates, 1, ret);
        if (ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY && request->n_pins > 0)
                describe_pins(candidates, ret);
        /* The devices have enough, but several servers without layers on the client need more there. */
        if (ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY && topology == ALD_PLAN_STAR && is_proven &&
                ret->needs_bytes <= ret->free_bytes)
                describe_client(candidates, ALD_PLAN_COPIES_MAX, ret);
}

/* Marks the places that a node with candidates leads to, or with `back`, that lead to it; their number. */
static uint32_t count_joined(const AldPlanCandidates *candidates, bool back)
{
        const uint32_t n = candidates->n_places;
        g_autofree bool *seen = g_new0(bool, n);
        g_autofree uint32_t *queue = g_new(uint32_t, n);
        uint32_t n_seen = 1;

        seen[0] = true;
        queue[0] = 0;
        for (uint32_t i = 0; i < n_seen; i++)
                for (uint32_t j = 0; j < n; j++) {
                        size_t at = back ? (size_t) j * n + queue[i] : (size_t) queue[i] * n + j;

                        if (seen[j] || candidates->first_path[at] == ALD_PLAN_NONE)
                                continue;
                        seen[j] = true;
                        queue[n_seen++] = j;
                }
        return n_seen;
}

/* Whether paths lead from each node to each other one, so that a ring of all is not ruled out. */
static bool are_all_joined(const AldPlanCandidates *candidates)
{
        return count_joined(candidates, false) == candidates->n_places &&
               count_joined(candidates, true) == candidates->n_places;
}

/* Returns whether the usable devices together have too little. The embedding is on the client of a star,
 * whose host may have no other device. */
static bool lacks_memory(const AldPlanCandidates *candidates, const AldPlanRefusal *refusal)
{
        const AldPlanRequest *request = candidates->request;
        uint64_t elsewhere = request->engine->topology == ALD_PLAN_STAR ? request->workload->embedding_bytes
                                                                        : 0;

        return refusal->needs_bytes > refusal->free_bytes + elsewhere;
}

/* lower_nsec: of the steps that were not found, INFINITY if there are none for certain. */
static void describe_shortfall(const AldPlanCandidates *candidates, double lower_nsec, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        const AldPlanTopology topology = candidates->request->engine->topology;
        uint64_t ends = ald_plan_ends_bytes(workload, candidates->request->engine);
        bool is_proven;

        if (describe_required(candidates, ret))
                return;
        *ret = (AldPlanRefusal){ .kind = find_obstacle(candidates), .n_devices = candidates->n };
        /* A star needs paths from its client to each of its nodes. */
        if (ret->kind == ALD_PLAN_NOT_JOINED && topology != ALD_PLAN_STAR && topology != ALD_PLAN_SLICES &&
                lower_nsec < INFINITY && are_all_joined(candidates))
                ret->kind = ALD_PLAN_NO_RING_FOUND;
        if (topology == ALD_PLAN_ALL_REDUCE)
                return;
        *ret = (AldPlanRefusal){
                .kind = ret->kind,
                .needs_bytes = ald_plan_layers_bytes(
                                       candidates->request, ALD_PLAN_RUN_FIRST, (uint32_t) workload->layers) +
                               ends,
                .n_devices = candidates->n,
        };
        for (uint32_t i = 0; i < candidates->n; i++)
                ret->free_bytes += ald_plan_room_bytes(
                        candidates->request, ald_plan_candidate_device(candidates, i));
        if (ret->kind != ALD_PLAN_TOO_LITTLE_MEMORY && ret->kind != ALD_PLAN_NO_SPLIT_FOUND)
                return;
        is_proven = ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY || lacks_memory(candidates, ret);
        ret->kind = ALD_PLAN_TOO_LITTLE_MEMORY;
        describe_memory(candidates, is_proven, ret);
        if (ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY && !is_proven)
                ret->kind = ALD_PLAN_NO_SPLIT_FOUND;
}

static bool share_memory(const AldPlanCandidates *candidates)
{
        for (uint32_t i = 0; i < candidates->cluster->n_devices; i++)
                if (candidates->verdicts[i].reason == ALD_PLAN_SHARES_MEMORY)
                        return true;
        return false;
}

static int find_best(const AldPlanCandidates *candidates, double until, AldPlanSteps *ret)
{
        AldPlanChoice choice = ald_plan_choice(candidates);

        choice.level = true;
        ald_plan_progress_divide(candidates->progress, until, 1);
        return ald_plan_find_steps(candidates, &choice, ret);
}

/* Whether both have the same devices. */
static bool are_alike(const AldPlanCandidates *a, const AldPlanCandidates *b)
{
        return a->n == b->n && memcmp(a->devices, b->devices, a->n * sizeof *a->devices) == 0;
}

/* What no plan takes less than, whichever it uses of the devices that compute in the same memory: as if all
 * layers were on the fastest of all. */
static double least_nsec(const AldPlanCandidates *candidates)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanConstants *constants = &request->constants;
        AldPlanWorkload workload = *request->workload;
        double layer = INFINITY, head = INFINITY;

        /* Each step under way may have one request only. */
        if (request->goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT)
                workload.parallel = 1;
        for (uint32_t i = 0; i < candidates->cluster->n_devices; i++) {
                const AldPlanDevice *device = &candidates->cluster->devices[i];
                AldPlanReason reason = candidates->verdicts[i].reason;

                if (reason != ALD_PLAN_TAKEN && reason != ALD_PLAN_SHARES_MEMORY)
                        continue;
                layer = fmin(layer, ald_plan_layer_nsec(constants, device, &workload));
                head = fmin(head, ald_plan_head_nsec(constants, device, &workload));
                if (!device->is_processor)
                        continue;
                layer = fmin(layer, ald_plan_client_layer_nsec(constants, device, &workload));
                head = fmin(head, ald_plan_client_head_nsec(constants, device, &workload));
        }
        return (double) workload.layers * layer + head;
}

static int init_candidates(AldPlanCandidates *candidates, AldPlanProgress *progress,
        const AldPlanCluster *cluster, AldPlanPreference preference, AldPlanRefusal *ret_refusal)
{
        int r = ald_plan_candidates_init(candidates, cluster, progress->request, preference, ret_refusal);

        candidates->progress = progress;
        return r;
}

/* Where of devices that compute in the same memory the fastest may use less of it than another one, those
 * with the most room are tried, too, for the whole cluster. Mixtures are not, so that neither is proven. */
static int find_candidates(AldPlanCandidates *candidates, AldPlanProgress *progress,
        const AldPlanCluster *cluster, AldPlanSteps *ret, AldPlanRefusal *ret_refusal)
{
        const AldPlanOptionsGoal goal = progress->request->goal;
        g_auto(AldPlanCandidates) roomy = { 0 };
        AldPlanSteps steps = { 0 };
        int other, r = init_candidates(candidates, progress, cluster, ALD_PLAN_PREFER_SPEED, ret_refusal);

        if (r >= 0)
                r = find_best(candidates, FOUND / 2, ret);
        progress->may_stop |= r >= 0;
        if ((r < 0 && r != -ENOSPC) || !share_memory(candidates))
                return r;
        other = init_candidates(&roomy, progress, cluster, ALD_PLAN_PREFER_ROOM, ret_refusal);
        if (other >= 0 && are_alike(candidates, &roomy))
                return r;
        if (other >= 0)
                other = find_best(&roomy, FOUND, &steps);
        if (other == -ECANCELED && !progress->stopped)
                return other;
        if (r < 0 || (other >= 0 && ald_plan_goal_nsec(&steps, goal) < ald_plan_goal_nsec(ret, goal))) {
                double lower_nsec = fmin(ret->lower_nsec, steps.lower_nsec);
                AldPlanCandidates fast = *candidates;

                *candidates = roomy;
                roomy = fast;
                ald_plan_steps_clear(ret);
                r = other;
                *ret = r < 0 ? (AldPlanSteps){ .lower_nsec = lower_nsec } : steps;
        } else if (other >= 0) {
                ald_plan_steps_clear(&steps);
        }
        if (r >= 0)
                ret->lower_nsec = fmin(least_nsec(candidates), ald_plan_goal_nsec(ret, goal));
        return r;
}

int ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal)
{
        g_auto(AldPlanCandidates) candidates;
        g_autoptr(AldPlan) plan = g_new0(AldPlan, 1);
        AldPlanProgress progress = { .request = request };
        int r = find_candidates(&candidates, &progress, cluster, &plan->best, ret_refusal);

        if (r == -ENOSPC) {
                ald_plan_progress_divide(&progress, 1, OBSTACLES);
                progress.may_stop = true;
                describe_shortfall(&candidates, plan->best.lower_nsec, ret_refusal);
                if (ret_refusal->kind == ALD_PLAN_NOT_NAMED)
                        ald_plan_judge_unnamed(&candidates);
                r = -EINVAL;
        } else if (r == -E2BIG) {
                *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_TOO_MANY_DEVICES,
                        .n_devices = candidates.n };
                r = -EINVAL;
        } else if (r >= 0) {
                ald_plan_explain(&candidates, plan);
        }
        if (progress.given_up)
                return -ECANCELED;
        plan->is_stopped = progress.stopped;
        if (r == -EINVAL)
                ret_refusal->verdicts = g_steal_pointer(&candidates.verdicts);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&plan);
        return 0;
}
