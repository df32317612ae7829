/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/layers/cuts.h"
#include "placement/method/front.h"
#include "placement/method/plan-connection.h"
#include "placement/plan/cost.h"
#include "placement/plan/method.h"
#include "placement/plan/must.h"
#include "placement/search/explain.h"

#define BETTER_RATE 10
#define BETTER_RTT 0.1
#define JUDGE_WORK 2e9
/* On more nodes, other clients are not tried for each stage. Where there is no client, the problem is solved
 * anew for each stage of more devices only if devices times stages are few. */
#define ALL_CLIENTS 128u
#define ALL_STAGES 16u
#define ALL_WORK 256u
#define FEW_STAGES 6u    /* for which it is solved otherwise */
#define ALTERED 0.4      /* fraction of the work until alternatives are found */
#define JUDGED 0.7       /* and until all candidates are judged */
#define ROUNDS 4u        /* of alternatives to a better one */
#define JUDGE_ROUNDS 16u /* of devices that make the plan better */

/* Whether it takes long to solve the problem anew for each stage. */
static bool is_large(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        if (plan->best.client != ALD_PLAN_NONE)
                return candidates->cluster->n_nodes > ALL_CLIENTS;
        return candidates->n > ALL_STAGES && (size_t) candidates->n * plan->best.n_stages > ALL_WORK;
}

/* Then the stages of a plan are exchanged, one at a time, and there are no more and no fewer. */
static bool is_count_kept(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        return ald_plan_method_of(candidates)->keeps_count && is_large(candidates, plan);
}

static double goal_nsec(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        return ald_plan_goal_nsec(steps, candidates->request->goal);
}

/* Of the steps that are under way in the time that the goal is about. */
static uint32_t goal_in_flight(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        return ald_plan_goal_in_flight(steps, candidates->request->goal);
}

/* Any choice with as many steps under way: to try other numbers each time would take too long. */
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

/* Whether each candidate is part of it; to be freed. */
static bool *find_members(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        bool *are = g_new(bool, candidates->n);

        for (uint32_t i = 0; i < candidates->n; i++)
                are[i] = uses_device(steps, candidates->devices[i]);
        return are;
}

/* To as many stages as there are, on these candidates. */
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

/* Whether the same is only so because the commands for the engine could not name a path. */
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

/* Both ways between its node and that of the client, or of any stage. */
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

/* Allows the candidate, and where it can only be used beside others of its node, these; how many that are. */
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

/* The stages and these more devices are solved exactly for each candidate if that takes about a second in
 * all. */
static bool is_judged_exactly(const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t more)
{
        double n = plan->best.n_stages + more, others = candidates->n - plan->best.n_stages;
        uint32_t most = ald_plan_method_of(candidates)->exact_max;

        return most == 0 || (n <= most && others * n * n * n * exp2(n) < JUDGE_WORK);
}

/* Whether it takes seconds to find the best plan with each of them. */
static bool are_too_many(const AldPlanCandidates *candidates, const AldPlan *plan)
{
        double n = plan->best.n_stages, others = candidates->n - n;

        return is_large(candidates, plan) && others * n * n > ald_plan_method_of(candidates)->judge_work_max;
}

/* Without a plan that it would be a part of. */
static AldPlanVerdict judge_by_paths(
        const AldPlanCandidates *candidates, const AldPlan *plan, uint32_t candidate)
{
        bool joined = is_joined(candidates, plan, ald_plan_candidate_device(candidates, candidate)->node);

        return (AldPlanVerdict){ .reason = joined ? ALD_PLAN_SAVES_TOO_LITTLE : ALD_PLAN_NO_PATH,
                .costs_nsec = NAN,
                .saves_nsec = NAN };
}

/* Returns the choice by which the candidate has to be added to the plan. allowed: the devices of the plan, to
 * which it is added. */
static AldPlanChoice choose_with(
        const AldPlanCandidates *candidates, const AldPlan *plan, bool *allowed, uint32_t candidate)
{
        uint32_t more = allow_candidate(candidates, candidate, allowed);
        AldPlanChoice choice = choice_as_in(candidates, plan);

        /* A slice more makes no plan, and a ring of ranks has a certain number. */
        if (ald_plan_method_of(candidates)->spreads_layers)
                choice.allowed = allowed;
        if (is_count_kept(candidates, plan))
                keep_stage_count(plan, allowed, &choice);
        choice.required = candidate;
        choice.around = is_judged_exactly(candidates, plan, more) ? NULL : &plan->best;
        choice.client = plan->best.client;
        return choice;
}

/* A candidate with which the goal takes less than with the plan, which a search that is not exact may miss.
 */
typedef struct BetterCandidate {
        uint32_t candidate; /* ALD_PLAN_NONE: there is none */
        double nsec;        /* that it takes, or the plan */
} BetterCandidate;

/* are: those of the plan. */
static AldPlanVerdict judge_needless(const AldPlanCandidates *candidates, const AldPlan *plan,
        const bool *are, uint32_t candidate, BetterCandidate *better)
{
        g_autofree bool *allowed = g_memdup2(are, candidates->n * sizeof *are);
        AldPlanChoice choice;
        AldPlanSteps with;
        AldPlanVerdict verdict = { .reason = ALD_PLAN_SAVES_TOO_LITTLE };

        if (is_of_other_vendor(candidates, plan, candidate)) {
                verdict.reason = ALD_PLAN_OTHER_VENDOR;
                return verdict;
        }
        if (candidates->progress->stopped) {
                verdict.reason = ALD_PLAN_NOT_TRIED;
                return verdict;
        }
        if (are_too_many(candidates, plan))
                return judge_by_paths(candidates, plan, candidate);
        choice = choose_with(candidates, plan, allowed, candidate);
        if (ald_plan_find_steps(candidates, &choice, &with) >= 0) {
                if (goal_nsec(candidates, &with) < better->nsec * (1 - ALD_PLAN_TIE))
                        *better = (BetterCandidate){ candidate, goal_nsec(candidates, &with) };
                verdict.costs_nsec = verdict.saves_nsec = NAN;
                /* The time for several steps is not the sum of transfers and layers. */
                if (goal_in_flight(candidates, &plan->best) == 1 && goal_in_flight(candidates, &with) == 1) {
                        verdict.costs_nsec = with.hops_nsec - plan->best.hops_nsec;
                        verdict.saves_nsec = plan->best.nsec - with.nsec + verdict.costs_nsec;
                }
                ald_plan_steps_clear(&with);
                return verdict;
        }
        if (choice.nodes_even) {
                choice.nodes_even = false;
                verdict.reason = ALD_PLAN_UNEVEN;
                if (ald_plan_find_steps(candidates, &choice, &with) >= 0) {
                        ald_plan_steps_clear(&with);
                        return verdict;
                }
        }
        ald_plan_choice_lift(&choice, candidates);
        verdict.reason = is_reachable(candidates, plan, candidate) ? ALD_PLAN_NO_ROOM : ALD_PLAN_NO_PATH;
        if (ald_plan_find_steps(candidates, &choice, &with) < 0) {
                if (verdict.reason == ALD_PLAN_NO_PATH &&
                        lacks_named_path(candidates, plan, candidate, &verdict))
                        verdict.reason = ALD_PLAN_NO_NAMED_PATH;
                return verdict;
        }
        verdict.reason = ALD_PLAN_BEYOND_DEVICES_MAX;
        ald_plan_steps_clear(&with);
        return verdict;
}

static bool are_alike(const AldPlanSteps *a, const AldPlanSteps *b)
{
        if (a->client != b->client || a->n_stages != b->n_stages)
                return false;
        for (uint32_t i = 0; i < a->n_stages; i++)
                if (a->stages[i].device != b->stages[i].device || a->stages[i].layers != b->stages[i].layers)
                        return false;
        return true;
}

/* Takes the steps. Those that take less come first; of equal ones, the one that was there before. */
static void add_alternative(AldPlan *plan, AldPlanSteps *steps)
{
        uint32_t at = plan->n_alternatives;
        bool known = are_alike(steps, &plan->best);

        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                known |= are_alike(steps, &plan->alternatives[i]);
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

/* The best without each stage of the plan. If that takes long: with the client as it is or, where there is
 * none or the number of stages is kept, only without those that have the fewest layers. */
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
                n = MIN(n, FEW_STAGES);
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

/* Without a device of the plan, with another client, and on one device. */
static void find_alternatives(const AldPlanCandidates *candidates, AldPlan *plan)
{
        g_autofree bool *are = NULL;
        AldPlanChoice choice = choice_as_in(candidates, plan);

        /* A ring of fewer ranks is not what was asked for. */
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
                keep_stage_count(plan, are = find_members(candidates, &plan->best), &choice);
        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                choice.client = candidates->cluster->devices[plan->best.stages[i].device].node;
                if (choice.client != plan->best.client)
                        try_alternative(candidates, &choice, plan);
        }
}

/* Takes the steps as the plan, which becomes an alternative. */
static void take_better(const AldPlanCandidates *candidates, AldPlan *plan, const AldPlanSteps *steps)
{
        AldPlanSteps before = plan->best;

        plan->best = *steps;
        plan->best.lower_nsec = fmin(before.lower_nsec, goal_nsec(candidates, steps));
        add_alternative(plan, &before);
}

/* A search that is not exact may find a better plan once it may choose from less: that is the plan then. */
static void find_best_alternatives(const AldPlanCandidates *candidates, AldPlan *plan)
{
        for (unsigned round = 0; round < ROUNDS; round++) {
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

/* Returns the candidate with which the goal takes the least, if that is less than with the plan. */
static uint32_t judge_all_candidates(const AldPlanCandidates *candidates, AldPlan *plan)
{
        g_autofree bool *are = find_members(candidates, &plan->best);
        BetterCandidate better = { ALD_PLAN_NONE, goal_nsec(candidates, &plan->best) };

        g_free(plan->verdicts);
        plan->verdicts = g_memdup2(
                candidates->verdicts, candidates->cluster->n_devices * sizeof *candidates->verdicts);
        for (uint32_t i = 0; i < candidates->n; i++) {
                if (are[i])
                        continue;
                plan->verdicts[candidates->devices[i]] = judge_needless(candidates, plan, are, i, &better);
                if (candidates->progress->stopped && !is_of_other_vendor(candidates, plan, i))
                        plan->verdicts[candidates->devices[i]].reason = ALD_PLAN_NOT_TRIED;
        }
        return better.candidate;
}

/* Adds the candidate to the plan. False: that takes no less. */
static bool add_to_plan(const AldPlanCandidates *candidates, AldPlan *plan, uint32_t candidate)
{
        g_autofree bool *allowed = find_members(candidates, &plan->best);
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

/* A front has the best steps of each number under way already. */
static void judge_and_improve(const AldPlanCandidates *candidates, AldPlan *plan)
{
        for (unsigned round = 0; round < JUDGE_ROUNDS; round++) {
                uint32_t candidate = judge_all_candidates(candidates, plan);

                if (candidate == ALD_PLAN_NONE || plan->is_front || round + 1 == JUDGE_ROUNDS ||
                        !add_to_plan(candidates, plan, candidate))
                        return;
        }
}

static double goal_with_better_paths(const AldPlanCandidates *candidates, const AldPlan *plan,
        uint32_t device, double rate_factor, double rtt_factor)
{
        const AldPlanMethod *method = ald_plan_method_of(candidates);
        g_autofree bool *are = NULL;
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
                keep_stage_count(plan, are = find_members(candidates, &plan->best), &choice);
        if (ald_plan_find_steps(candidates, &choice, &steps) < 0)
                return candidates->progress->stopped ? NAN : goal_nsec(candidates, &plan->best);
        nsec = goal_nsec(candidates, &steps);
        ald_plan_steps_clear(&steps);
        /* A search that is not exact may miss the stages of the plan. */
        if (method->exact_max > 0 && candidates->n > method->exact_max)
                nsec = fmin(nsec, method->same_nsec(candidates, plan, &choice));
        return nsec;
}

/* Better paths of a stage make no difference where a step waits for another hop. */
static bool have_paths_effect(const AldPlanCandidates *candidates, const AldPlanSteps *steps, uint32_t stage)
{
        uint32_t before = (stage + steps->n_stages - 1) % steps->n_stages;
        double hop = steps->stages[stage].hop_nsec;

        if (!ald_plan_method_of(candidates)->has_layers)
                hop = fmax(hop, steps->stages[before].hop_nsec) < steps->nsec ? 0 : hop;
        return hop > 0;
}

/* The stages of a node have the same paths. */
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

                if (!have_paths_effect(candidates, &plan->best, i) ||
                        has_sensitivity(candidates, plan, device))
                        continue;
                found.rate_nsec = goal_with_better_paths(candidates, plan, device, BETTER_RATE, 1);
                found.rtt_nsec = goal_with_better_paths(candidates, plan, device, 1, BETTER_RTT);
                if (!isnan(found.rate_nsec) && !isnan(found.rtt_nsec))
                        plan->sensitivities[plan->n_sensitivities++] = found;
        }
}

void ald_plan_explain(const AldPlanCandidates *candidates, AldPlan *plan)
{
        if (candidates->request->goal == ALD_PLAN_OPTIONS_GOAL_BOTH &&
                ald_plan_method_of(candidates)->has_front)
                ald_plan_find_front(candidates, plan);
        /* Without each stage, and with each as the client. */
        ald_plan_progress_divide(candidates->progress, ALTERED, 1 + 2 * plan->best.n_stages);
        if (!plan->is_front)
                find_best_alternatives(candidates, plan);
        ald_plan_progress_divide(candidates->progress, JUDGED, candidates->n);
        judge_and_improve(candidates, plan);
        /* Each stage is planned with paths of a higher rate, and with those of a shorter round trip. */
        ald_plan_progress_divide(candidates->progress, 1, 2 * plan->best.n_stages);
        find_sensitivities(candidates, plan);
}
