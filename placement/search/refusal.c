/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"
#include "placement/search/refusal.h"

/* Returns whether this request has a plan with any number of devices, searching as thoroughly as for the plan
 * itself. If none is found, *ret_lower_nsec is INFINITY if there provably is none. */
static bool is_possible(
        const AldPlanCandidates *candidates, const AldPlanRequest *request, double *ret_lower_nsec)
{
        AldPlanCandidates changed = *candidates;
        AldPlanChoice choice;
        AldPlanSteps steps = { 0 };
        int r;

        changed.request = request;
        choice = ald_plan_choice(&changed);
        ald_plan_choice_remove_limits(&choice, &changed);
        choice.level = true;
        r = ald_plan_find_steps(&changed, &choice, &steps);
        *ret_lower_nsec = r == -ENOSPC ? steps.lower_nsec : 0;
        if (r < 0)
                return false;
        ald_plan_steps_clear(&steps);
        return true;
}

/* Does the same as if the commands for the engine could name any path. */
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

/* Returns the limit without which there would be a plan, or ALD_PLAN_TIME_UP if it is not found in time. */
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
        /* Ranks need no memory, so vendors are the last possible obstacle, except for names that assumed
         * paths do not have. */
        if (!ald_plan_method_of(candidates)->has_layers)
                return engine.one_vendor ? ALD_PLAN_VENDORS_DIFFER : ALD_PLAN_NOT_JOINED;
        engine.one_vendor = false;
        if (is_possible(candidates, &request, &lower_nsec))
                return ALD_PLAN_VENDORS_DIFFER;
        if (progress->stopped)
                return ALD_PLAN_TIME_UP;
        /* The bound of the last try, which allows everything, shows whether it is proven that the layers do
         * not fit. */
        return lower_nsec < INFINITY && ald_plan_method_of(candidates)->spreads_layers
                       ? ALD_PLAN_NO_SPLIT_FOUND
                       : ALD_PLAN_TOO_LITTLE_MEMORY;
}

/* Sets a refusal of the pinned device that lacks the least memory for `beside` bytes besides its layers, if
 * fewer than `enough` devices have room for them. Returns whether it did. */
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

/* Checks that a pinned device has room for the head and one has room for the embedding, which may be the same
 * device. */
static void describe_pins(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        const AldPlanEngine *engine = candidates->request->engine;
        uint64_t head = workload->head_bytes, embedding = workload->embedding_bytes;

        if (describe_pinned(candidates, head, 1, ret) || describe_pinned(candidates, embedding, 1, ret))
                return;
        if (engine->method->has_ends && candidates->n > 1)
                describe_pinned(candidates, MIN(head, embedding), 2, ret);
        else
                describe_pinned(candidates, ald_plan_ends_bytes(workload, engine), 1, ret);
}

/* Sets a refusal if more devices are required than can be used, whatever their memory. Returns whether it
 * did. */
static bool describe_required(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        uint32_t n = candidates->n_required_nodes, most = candidates->n;

        if (method->stages_max)
                most = method->stages_max(candidates->request->workload, candidates->n);
        for (uint32_t i = 0; i < candidates->n; i++)
                n += candidates->required[i];
        if (n <= most)
                return false;
        *ret = (AldPlanRefusal){ .kind = ALD_PLAN_REQUIRED_UNUSABLE, .n_devices = n, .n_together = most };
        return true;
}

/* Names what the memory is too small for, if that is not the model as a whole. is_proven: no stages fit. */
static void describe_memory(const AldPlanCandidates *candidates, bool is_proven, AldPlanRefusal *ret)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);

        if (method->client)
                method->describe_client(candidates, false, ret);
        if (ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY && candidates->request->n_pins > 0)
                describe_pins(candidates, ret);
        /* The devices have enough memory, but a client without layers may need more. */
        if (ret->kind == ALD_PLAN_TOO_LITTLE_MEMORY && method->is_client_apart && is_proven &&
                ret->needs_bytes <= ret->free_bytes)
                method->describe_client(candidates, true, ret);
}

/* Returns how many places can be reached from the first one by paths or, with `back`, from how many it can be
 * reached. */
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

/* Returns whether paths lead from each node to each other one, so that a ring of all is not ruled out. */
static bool are_all_joined(const AldPlanCandidates *candidates)
{
        return count_joined(candidates, false) == candidates->n_places &&
               count_joined(candidates, true) == candidates->n_places;
}

/* Returns whether all usable devices together have too little memory. The embedding of a client that is apart
 * does not count, since its host may have no usable device. */
static bool lacks_memory(const AldPlanCandidates *candidates, const AldPlanRefusal *refusal)
{
        const AldPlanRequest *request = candidates->request;
        uint64_t elsewhere = request->engine->method->is_client_apart ? request->workload->embedding_bytes
                                                                      : 0;

        return refusal->needs_bytes > refusal->free_bytes + elsewhere;
}

void ald_plan_find_refusal(const AldPlanCandidates *candidates, double lower_nsec, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        uint64_t ends = ald_plan_ends_bytes(workload, candidates->request->engine);
        bool is_proven;

        if (describe_required(candidates, ret))
                return;
        *ret = (AldPlanRefusal){ .kind = find_obstacle(candidates), .n_devices = candidates->n };
        /* A client needs paths to each node that it uses. */
        if (ret->kind == ALD_PLAN_NOT_JOINED && !method->client && lower_nsec < INFINITY &&
                are_all_joined(candidates))
                ret->kind = ALD_PLAN_NO_RING_FOUND;
        if (!method->has_layers)
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
