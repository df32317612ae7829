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
static AldPlanRefusalKind find_refusal_kind(const AldPlanCandidates *candidates)
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
        /* Ranks need no memory, so vendors are the last possible reason, except for names that assumed
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
static bool refuse_pinned(
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

/* Sets a refusal if no pinned device has room for the head, or none for the embedding, which may be the same
 * device. Returns whether it did. */
static bool refuse_pins(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanWorkload *workload = candidates->request->workload;
        const AldPlanEngine *engine = candidates->request->engine;
        uint64_t head = workload->head_bytes, embedding = workload->embedding_bytes;

        if (refuse_pinned(candidates, head, 1, ret) || refuse_pinned(candidates, embedding, 1, ret))
                return true;
        return engine->method->has_ends && candidates->n > 1
                       ? refuse_pinned(candidates, MIN(head, embedding), 2, ret)
                       : refuse_pinned(candidates, ald_plan_ends_bytes(workload, engine), 1, ret);
}

/* Sets a refusal if more devices are required than can be used, whatever their memory. Returns whether it
 * did. */
static bool refuse_required(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
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

/* Returns what the layers, the embedding and the head need at least. */
static uint64_t model_bytes(const AldPlanRequest *request)
{
        const AldPlanWorkload *workload = request->workload;

        return ald_plan_layers_bytes(request, ALD_PLAN_RUN_FIRST, (uint32_t) workload->layers) +
               ald_plan_ends_bytes(workload, request->engine);
}

/* Returns the memory for layers of all usable devices. */
static uint64_t sum_of_room(const AldPlanCandidates *candidates)
{
        uint64_t sum = 0;

        for (uint32_t i = 0; i < candidates->n; i++)
                sum += ald_plan_device_room_bytes(
                        candidates->request, ald_plan_candidate_device(candidates, i));
        return sum;
}

/* Returns whether all usable devices together have too little memory. The embedding of a client that is apart
 * does not count, since its host may have no usable device. */
static bool lacks_memory(const AldPlanRequest *request, uint64_t needs_bytes, uint64_t free_bytes)
{
        uint64_t elsewhere = request->engine->method->is_client_apart ? request->workload->embedding_bytes
                                                                      : 0;

        return needs_bytes > free_bytes + elsewhere;
}

/* Sets a refusal if the memory is too small for what a client or a pinned device holds, rather than for the
 * model as a whole. Returns whether it did. */
static bool refuse_part(const AldPlanCandidates *candidates, AldPlanRefusal *ret)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);

        return (method->client && method->refuse_client(candidates, false, ret)) ||
               (candidates->request->n_pins > 0 && refuse_pins(candidates, ret));
}

void ald_plan_find_refusal(const AldPlanCandidates *candidates, double lower_nsec, AldPlanRefusal *ret)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        uint64_t needs_bytes = method->has_layers ? model_bytes(candidates->request) : 0;
        uint64_t free_bytes = method->has_layers ? sum_of_room(candidates) : 0;
        AldPlanRefusalKind kind;

        if (refuse_required(candidates, ret))
                return;
        kind = find_refusal_kind(candidates);
        /* A client needs paths to each node that it uses. */
        if (kind == ALD_PLAN_NOT_JOINED && !method->client && lower_nsec < INFINITY &&
                are_all_joined(candidates))
                kind = ALD_PLAN_NO_RING_FOUND;
        if (kind == ALD_PLAN_NO_SPLIT_FOUND && lacks_memory(candidates->request, needs_bytes, free_bytes))
                kind = ALD_PLAN_TOO_LITTLE_MEMORY;
        if ((kind == ALD_PLAN_TOO_LITTLE_MEMORY || kind == ALD_PLAN_NO_SPLIT_FOUND) &&
                refuse_part(candidates, ret))
                return;
        /* The devices have enough memory, but a client without layers may need more. */
        if (kind == ALD_PLAN_TOO_LITTLE_MEMORY && needs_bytes <= free_bytes && method->is_client_apart &&
                method->refuse_client(candidates, true, ret))
                return;
        *ret = (AldPlanRefusal){
                .kind = kind, .needs_bytes = needs_bytes, .free_bytes = free_bytes, .n_devices = candidates->n
        };
}
