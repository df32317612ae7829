/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/layers/cuts.h"
#include "placement/method/front.h"
#include "placement/method/plan-connection.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"
#include "placement/search/improve.h"

#define BETTER_RATE 10
#define BETTER_RTT 0.1
#define JUDGE_WORK 2e9
#define EACH_CLIENT_NODES_MAX 128u /* in clusters with more nodes, alternatives keep the client */
/* Without a client, a problem with more devices than EACH_STAGE_DEVICES_MAX is solved again without each
 * stage only if devices times stages are at most EACH_STAGE_WORK_MAX. */
#define EACH_STAGE_DEVICES_MAX 16u
#define EACH_STAGE_WORK_MAX 256u
#define STAGES_LEFT_OUT_MAX 6u /* otherwise, it is solved again without each of this many stages */
#define ALTERNATIVES_UNTIL 0.4 /* fraction of the work until alternatives are found */
#define VERDICTS_UNTIL 0.7     /* fraction of the work until all candidates are judged */
#define REPLACE_ROUNDS 4u      /* most rounds in which an alternative replaces the plan */
#define JUDGE_ROUNDS 16u       /* most rounds in which candidates are judged, and one is added to the plan */

/* Returns whether solving the problem again for each stage takes long. */
static bool is_large(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        if (plan->best.client != ALD_PLAN_NONE)
                return candidates->cluster->n_nodes > EACH_CLIENT_NODES_MAX;
        return candidates->n > EACH_STAGE_DEVICES_MAX &&
               (size_t) candidates->n * plan->best.n_stages > EACH_STAGE_WORK_MAX;
}

/* Returns whether the number of stages is kept: they are then only exchanged, one at a time. */
static bool is_count_kept(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        return ald_plan_method_of(candidates)->keeps_count && is_large(candidates, plan);
}

static double goal_nsec(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        return ald_plan_goal_nsec(steps, candidates->request->goal);
}

/* Returns the number of steps that are under way in the time that the goal minimizes. */
static uint32_t goal_in_flight(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        return ald_plan_steps_in_flight(steps, candidates->request->goal);
}

/* Returns a choice of anything with as many steps under way as in the plan; trying other numbers each time
 * would take too long. */
static AldPlanChoice choice_as_in(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        AldPlanChoice choice = ald_plan_choice(candidates);

        choice.in_flight = plan->best.in_flight;
        choice.limited = true;
        return choice;
}

static bool uses_device(const AldPlanSteps *steps, uint32_t device)
{
        for (uint32_t i = 0; i < steps->n_stages; i++)
                if (steps->stages[i].device == device)
                        return true;
        return false;
}

/* Returns, for each candidate, whether the steps use it; to be freed. */
static bool *find_used(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        bool *used = g_new(bool, candidates->n);

        for (uint32_t i = 0; i < candidates->n; i++)
                used[i] = uses_device(steps, candidates->devices[i]);
        return used;
}

/* Restricts the choice to these candidates and to as many stages as the plan has. */
static void keep_stage_count(const AldPlan *plan, const bool *allowed, AldPlanChoice *choice)
{
        choice->allowed = allowed;
        choice->stages = plan->best.n_stages;
}

static bool is_of_other_vendor(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t candidate)
{
        const AldPlanDevice *first = &candidates->cluster->devices[plan->best.stages[0].device];

        return !ald_plan_has_vendor(candidates, candidate, first->vendor);
}

/* Returns whether a candidate is unreachable only because the commands for the engine cannot name a path. */
static bool lacks_named_path(
        const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t candidate, AldPlanVerdict *verdict)
{
        uint32_t node = ald_plan_candidate_device(candidates, candidate)->node, client = plan->best.client;

        if (client != ALD_PLAN_NONE)
                return ald_plan_has_unnamed_path(candidates, client, node, verdict);
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                if (ald_plan_has_unnamed_path(candidates,
                            candidates->cluster->devices[plan->best.stages[i].device].node, node, verdict))
                        return true;
        return false;
}

/* Returns whether paths lead both ways between the node and that of the client, or of any stage. */
static bool is_joined(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t node)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        bool to = false, from = false;

        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                uint32_t other = plan->best.client != ALD_PLAN_NONE
                                         ? plan->best.client
                                         : candidates->cluster->devices[plan->best.stages[i].device].node;
                AldPlanPath there = ald_plan_path_of(candidates, &choice, other, node, 0);
                AldPlanPath back = ald_plan_path_of(candidates, &choice, node, other, 0);

                to |= other == node || isfinite(ald_plan_path_nsec(&there, 0));
                from |= other == node || isfinite(ald_plan_path_nsec(&back, 0));
        }
        return to && from;
}

static bool is_reachable(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t candidate)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        uint32_t node = ald_plan_candidate_device(candidates, candidate)->node, client = plan->best.client;
        AldPlanConnection connection;

        if (!ald_plan_method_of(candidates)->is_client_apart)
                return is_joined(candidates, plan, node);
        if (node == client)
                return true;
        connection = ald_plan_connection_find(candidates, &choice, client, node, 0, 0, 0);
        return isfinite(ald_plan_connection_nsec(&connection));
}

/* Allows the candidate, and, if it can only be used together with the others of its node, also these. Returns
 * how many are added. */
static uint32_t allow_candidate(const AldPlanCandidates *candidates, uint32_t candidate, bool *allowed)
{
        uint32_t node = ald_plan_candidate_device(candidates, candidate)->node, n = 1;

        allowed[candidate] = true;
        for (uint32_t i = 0; candidates->request->engine->nodes_even && i < candidates->n; i++)
                if (!allowed[i] && ald_plan_candidate_device(candidates, i)->node == node) {
                        allowed[i] = true;
                        n++;
                }
        return n;
}

/* Returns whether solving the problem with the stages and this many more devices exactly for each candidate
 * takes no more than about a second in all. */
static bool can_judge_exactly(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t more)
{
        double n = plan->best.n_stages + more, others = candidates->n - plan->best.n_stages;
        uint32_t most = ald_plan_method_of(candidates)->exact_max;

        return most == 0 || (n <= most && others * n * n * n * exp2(n) < JUDGE_WORK);
}

/* Returns whether finding the best plan with each candidate would take seconds. */
static bool must_judge_by_paths(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        double n = plan->best.n_stages, others = candidates->n - n;

        return is_large(candidates, plan) && others * n * n > ald_plan_method_of(candidates)->judge_work_max;
}

/* Judges a candidate without finding a plan that contains it. */
static AldPlanVerdict judge_by_paths(
        const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t candidate)
{
        bool joined = is_joined(candidates, plan, ald_plan_candidate_device(candidates, candidate)->node);

        return (AldPlanVerdict){ .reason = joined ? ALD_PLAN_SAVES_TOO_LITTLE : ALD_PLAN_NO_PATH,
                .costs_nsec = NAN,
                .saves_nsec = NAN };
}

/* Returns the choice that requires the candidate beside the plan's devices. `allowed` has these devices set,
 * and the candidate is added to it. */
static AldPlanChoice choose_with(
        const AldPlanCandidates *candidates, const AldPlan *plan, bool *allowed, uint32_t candidate)
{
        uint32_t more = allow_candidate(candidates, candidate, allowed);
        AldPlanChoice choice = choice_as_in(candidates, plan);

        /* Other methods need a fixed number of stages (slices, ranks), so they may exchange devices but not
         * add one. */
        if (ald_plan_method_of(candidates)->spreads_layers)
                choice.allowed = allowed;
        if (is_count_kept(candidates, plan))
                keep_stage_count(plan, allowed, &choice);
        choice.required = candidate;
        choice.around = can_judge_exactly(candidates, plan, more) ? NULL : &plan->best;
        choice.client = plan->best.client;
        return choice;
}

/* A candidate with which the plan would be better; a search that is not exact may have missed it. */
typedef struct BetterCandidate {
        uint32_t candidate; /* ALD_PLAN_NONE if there is none */
        double nsec;        /* goal_nsec() with it, or else of the plan */
} BetterCandidate;

static bool has_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        AldPlanSteps steps;

        if (ald_plan_find_steps(candidates, choice, &steps) < 0)
                return false;
        ald_plan_steps_clear(&steps);
        return true;
}

/* Returns why no plan uses the candidate, by dropping one limit after the other. */
static AldPlanVerdict find_hindrance(
        const AldPlanCandidates *candidates, const AldPlan *plan, AldPlanChoice choice, uint32_t candidate)
{
        AldPlanVerdict not_named = { .reason = ALD_PLAN_NO_NAMED_PATH };

        if (choice.nodes_even) {
                choice.nodes_even = false;
                if (has_steps(candidates, &choice))
                        return (AldPlanVerdict){ .reason = ALD_PLAN_UNEVEN };
        }
        ald_plan_choice_remove_limits(&choice, candidates);
        if (has_steps(candidates, &choice))
                return (AldPlanVerdict){ .reason = ALD_PLAN_BEYOND_DEVICES_MAX };
        if (is_reachable(candidates, plan, candidate))
                return (AldPlanVerdict){ .reason = ALD_PLAN_NO_ROOM };
        if (lacks_named_path(candidates, plan, candidate, &not_named))
                return not_named;
        return (AldPlanVerdict){ .reason = ALD_PLAN_NO_PATH };
}

/* Judges a candidate that the plan does not use; `used` marks those that it uses. Updates *better if a plan
 * with the candidate is better. */
static AldPlanVerdict judge_unused(const AldPlanCandidates *candidates, const AldPlan *plan, const bool *used,
        uint32_t candidate, BetterCandidate *better)
{
        g_autofree bool *allowed = g_memdup2(used, candidates->n * sizeof *used);
        AldPlanChoice choice;
        AldPlanSteps with;
        AldPlanVerdict verdict = {
                .reason = ALD_PLAN_SAVES_TOO_LITTLE, .costs_nsec = NAN, .saves_nsec = NAN
        };

        if (is_of_other_vendor(candidates, plan, candidate))
                return (AldPlanVerdict){ .reason = ALD_PLAN_OTHER_VENDOR };
        if (candidates->progress->stopped)
                return (AldPlanVerdict){ .reason = ALD_PLAN_NOT_TRIED };
        if (must_judge_by_paths(candidates, plan))
                return judge_by_paths(candidates, plan, candidate);
        choice = choose_with(candidates, plan, allowed, candidate);
        if (ald_plan_find_steps(candidates, &choice, &with) < 0)
                return find_hindrance(candidates, plan, choice, candidate);
        if (goal_nsec(candidates, &with) < better->nsec * (1 - ALD_PLAN_TIE))
                *better = (BetterCandidate){ candidate, goal_nsec(candidates, &with) };
        /* While several steps are under way, the time is not the sum of transfers and layers. */
        if (goal_in_flight(candidates, &plan->best) == 1 && goal_in_flight(candidates, &with) == 1) {
                verdict.costs_nsec = with.hops_nsec - plan->best.hops_nsec;
                verdict.saves_nsec = plan->best.nsec - with.nsec + verdict.costs_nsec;
        }
        ald_plan_steps_clear(&with);
        return verdict;
}

static bool steps_are_equal(const AldPlanSteps *a, const AldPlanSteps *b)
{
        if (a->client != b->client || a->n_stages != b->n_stages)
                return false;
        for (uint32_t i = 0; i < a->n_stages; i++)
                if (a->stages[i].device != b->stages[i].device || a->stages[i].layers != b->stages[i].layers)
                        return false;
        return true;
}

/* Takes the steps as an alternative, unless they are known already or there are better ones. Alternatives
 * that take less time come first; of equal ones, the earlier one. */
static void add_alternative(AldPlan *plan, AldPlanSteps *steps)
{
        uint32_t at = plan->n_alternatives;
        bool known = steps_are_equal(steps, &plan->best);

        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                known |= steps_are_equal(steps, &plan->alternatives[i]);
        while (at > 0 && steps->interval_nsec < plan->alternatives[at - 1].interval_nsec)
                at--;
        if (known || at == ALD_PLAN_ALTERNATIVES_MAX) {
                ald_plan_steps_clear(steps);
                return;
        }
        if (plan->n_alternatives == ALD_PLAN_ALTERNATIVES_MAX)
                ald_plan_steps_clear(&plan->alternatives[--plan->n_alternatives]);
        memmove(&plan->alternatives[at + 1], &plan->alternatives[at],
                (plan->n_alternatives - at) * sizeof *plan->alternatives);
        plan->alternatives[at] = *steps;
        plan->n_alternatives++;
}

static void try_alternative(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlan *plan)
{
        AldPlanSteps steps;

        if (ald_plan_find_steps(candidates, choice, &steps) >= 0)
                add_alternative(plan, &steps);
}

static int compare_layers(const void *a, const void *b, void *userdata)
{
        const AldPlanStage *stages = userdata;
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        if (stages[x].layers != stages[y].layers)
                return stages[x].layers < stages[y].layers ? -1 : 1;
        return x < y ? -1 : x > y;
}

/* Tries the best plan without each stage. In large problems, a client that is apart is kept; without such a
 * client, only the stages with the fewest layers are left out. */
static void try_without_each(const AldPlanCandidates *candidates, AldPlan *plan)
{
        g_autofree bool *allowed = g_new(bool, candidates->n);
        g_autofree uint32_t *stages = g_new(uint32_t, plan->best.n_stages);
        uint32_t n = plan->best.n_stages;
        AldPlanChoice choice = choice_as_in(candidates, plan);

        choice.level = true;
        choice.allowed = allowed;
        if (is_large(candidates, plan) && ald_plan_method_of(candidates)->is_client_apart)
                choice.client = plan->best.client;
        else if (is_large(candidates, plan))
                n = MIN(n, STAGES_LEFT_OUT_MAX);
        for (uint32_t i = 0; i < candidates->n; i++)
                allowed[i] = true;
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                stages[i] = i;
        g_qsort_with_data(
                stages, (gint) plan->best.n_stages, sizeof *stages, compare_layers, plan->best.stages);
        for (uint32_t i = 0; i < n; i++) {
                uint32_t candidate = ald_plan_candidate_of(candidates, plan->best.stages[stages[i]].device);

                if (candidates->required[candidate])
                        continue;
                allowed[candidate] = false;
                try_alternative(candidates, &choice, plan);
                allowed[candidate] = true;
        }
}

/* Finds alternatives on a single device, without each stage of the plan, and with another client. */
static void find_alternatives(const AldPlanCandidates *candidates, AldPlan *plan)
{
        g_autofree bool *used = NULL;
        AldPlanChoice choice = choice_as_in(candidates, plan);

        /* A ring of fewer ranks would not meet the request. */
        if (!ald_plan_method_of(candidates)->has_layers)
                return;
        choice.devices_max = 1;
        try_alternative(candidates, &choice, plan);
        try_without_each(candidates, plan);
        choice = choice_as_in(candidates, plan);
        choice.level = true;
        if (candidates->request->client || plan->best.client == ALD_PLAN_NONE)
                return;
        if (is_count_kept(candidates, plan))
                keep_stage_count(plan, used = find_used(candidates, &plan->best), &choice);
        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                choice.client = candidates->cluster->devices[plan->best.stages[i].device].node;
                if (choice.client != plan->best.client)
                        try_alternative(candidates, &choice, plan);
        }
}

/* Takes the steps as the plan; the former one becomes an alternative. */
static void take_better(const AldPlanCandidates *candidates, AldPlan *plan, const AldPlanSteps *steps)
{
        AldPlanSteps before = plan->best;

        plan->best = *steps;
        plan->best.lower_nsec = fmin(before.lower_nsec, goal_nsec(candidates, steps));
        add_alternative(plan, &before);
}

/* Finds alternatives. A search that is not exact may find a better plan once it has fewer choices, which then
 * becomes the plan. */
static void find_best_alternatives(const AldPlanCandidates *candidates, AldPlan *plan)
{
        for (unsigned round = 0; round < REPLACE_ROUNDS; round++) {
                double nsec = plan->best.interval_nsec;
                AldPlanSteps better;

                find_alternatives(candidates, plan);
                if (plan->n_alternatives == 0 || plan->alternatives[0].interval_nsec >= nsec)
                        return;
                better = plan->alternatives[0];
                plan->n_alternatives--;
                memmove(&plan->alternatives[0], &plan->alternatives[1],
                        plan->n_alternatives * sizeof *plan->alternatives);
                take_better(candidates, plan, &better);
        }
}

/* Judges all candidates. Returns the one with which a plan takes the least time, if that is less than without
 * it; else ALD_PLAN_NONE. */
static uint32_t judge_all_candidates(const AldPlanCandidates *candidates, AldPlan *plan)
{
        g_autofree bool *used = find_used(candidates, &plan->best);
        BetterCandidate better = { ALD_PLAN_NONE, goal_nsec(candidates, &plan->best) };

        g_free(plan->verdicts);
        plan->verdicts = g_memdup2(
                candidates->verdicts, candidates->cluster->n_devices * sizeof *candidates->verdicts);
        for (uint32_t i = 0; i < candidates->n; i++) {
                if (used[i])
                        continue;
                plan->verdicts[candidates->devices[i]] = judge_unused(candidates, plan, used, i, &better);
                if (candidates->progress->stopped && !is_of_other_vendor(candidates, plan, i))
                        plan->verdicts[candidates->devices[i]].reason = ALD_PLAN_NOT_TRIED;
        }
        return better.candidate;
}

/* Adds the candidate to the plan. Returns false if that is not better. */
static bool add_to_plan(const AldPlanCandidates *candidates, AldPlan *plan, uint32_t candidate)
{
        g_autofree bool *allowed = find_used(candidates, &plan->best);
        AldPlanChoice choice = choose_with(candidates, plan, allowed, candidate);
        AldPlanSteps with;

        choice.level = true;
        if (ald_plan_find_steps(candidates, &choice, &with) < 0)
                return false;
        if (goal_nsec(candidates, &with) < goal_nsec(candidates, &plan->best) * (1 - ALD_PLAN_TIE)) {
                take_better(candidates, plan, &with);
                return true;
        }
        ald_plan_steps_clear(&with);
        return false;
}

/* Judges all candidates, and adds those that make the plan better. A front already has the best steps for
 * each number under way. */
static void judge_and_improve(const AldPlanCandidates *candidates, AldPlan *plan)
{
        for (unsigned round = 1;; round++) {
                uint32_t candidate = judge_all_candidates(candidates, plan);

                /* The last round only judges, so that all verdicts are about the final plan. */
                if (candidate == ALD_PLAN_NONE || plan->is_front || round == JUDGE_ROUNDS ||
                        !add_to_plan(candidates, plan, candidate))
                        return;
        }
}

static double goal_with_better_paths(const AldPlanCandidates *candidates, const AldPlan *plan,
        uint32_t device, double rate_factor, double rtt_factor)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        g_autofree bool *used = NULL;
        AldPlanChoice choice = choice_as_in(candidates, plan);
        AldPlanSteps steps;
        double nsec;

        choice.client = plan->best.client;
        choice.changed = candidates->cluster->devices[device].node;
        choice.rate_factor = rate_factor;
        choice.rtt_factor = rtt_factor;
        if (method->same_nsec && is_large(candidates, plan))
                return method->same_nsec(candidates, plan, &choice);
        if (is_count_kept(candidates, plan))
                keep_stage_count(plan, used = find_used(candidates, &plan->best), &choice);
        if (ald_plan_find_steps(candidates, &choice, &steps) < 0)
                return candidates->progress->stopped ? NAN : goal_nsec(candidates, &plan->best);
        nsec = goal_nsec(candidates, &steps);
        ald_plan_steps_clear(&steps);
        /* A search that is not exact may miss the stages of the plan. */
        if (method->exact_max > 0 && candidates->n > method->exact_max)
                nsec = fmin(nsec, method->same_nsec(candidates, plan, &choice));
        return nsec;
}

/* Returns whether better paths of a stage would make a difference; they do not if a step waits for another
 * hop. */
static bool better_paths_matter(
        const AldPlanCandidates *candidates, const AldPlanSteps *steps, uint32_t stage)
{
        uint32_t before = (stage + steps->n_stages - 1) % steps->n_stages;
        double hop = steps->stages[stage].hop_nsec;

        if (!ald_plan_method_of(candidates)->has_layers)
                hop = fmax(hop, steps->stages[before].hop_nsec) < steps->nsec ? 0 : hop;
        return hop > 0;
}

/* Returns whether the sensitivity of the device's node is known already; stages of a node have the same
 * paths. */
static bool has_sensitivity(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t device)
{
        const AldPlanDevice *devices = candidates->cluster->devices;

        for (uint32_t i = 0; i < plan->n_sensitivities; i++)
                if (devices[plan->sensitivities[i].device].node == devices[device].node)
                        return true;
        return false;
}

static void find_sensitivities(const AldPlanCandidates *candidates, AldPlan *plan)
{
        plan->sensitivities = g_new(AldPlanSensitivity, plan->best.n_stages);
        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                uint32_t device = plan->best.stages[i].device;
                AldPlanSensitivity found = { .device = device };

                if (!better_paths_matter(candidates, &plan->best, i) ||
                        has_sensitivity(candidates, plan, device))
                        continue;
                found.rate_nsec = goal_with_better_paths(candidates, plan, device, BETTER_RATE, 1);
                found.rtt_nsec = goal_with_better_paths(candidates, plan, device, 1, BETTER_RTT);
                if (!isnan(found.rate_nsec) && !isnan(found.rtt_nsec))
                        plan->sensitivities[plan->n_sensitivities++] = found;
        }
}

void ald_plan_improve(const AldPlanCandidates *candidates, AldPlan *plan)
{
        if (candidates->request->goal == ALD_PLAN_OPTIONS_GOAL_BOTH &&
                ald_plan_method_of(candidates)->has_front)
                ald_plan_find_front(candidates, plan);
        /* One plan on a single device, one without each stage, and one with each stage's node as the
         * client. */
        ald_plan_progress_divide(candidates->progress, ALTERNATIVES_UNTIL, 1 + 2 * plan->best.n_stages);
        if (!plan->is_front)
                find_best_alternatives(candidates, plan);
        ald_plan_progress_divide(candidates->progress, VERDICTS_UNTIL, candidates->n);
        judge_and_improve(candidates, plan);
        /* Each stage is planned with paths of a higher rate, and with those of a shorter round trip. */
        ald_plan_progress_divide(candidates->progress, 1, 2 * plan->best.n_stages);
        find_sensitivities(candidates, plan);
}
