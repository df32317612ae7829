/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"

#define TRIES_MAX 64u

static bool uses_node(const AldPlanCandidates *candidates, const AldPlanSteps *steps, uint32_t node)
{
        for (uint32_t i = 0; i < steps->n_stages; i++)
                if (candidates->cluster->devices[steps->stages[i].device].node == node)
                        return true;
        return false;
}

bool ald_plan_required_nodes_are_used(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        for (uint32_t i = 0; i < candidates->n_required_nodes; i++)
                if (!uses_node(candidates, steps, candidates->required_nodes[i]))
                        return false;
        return true;
}

bool ald_plan_required_nodes_are_ensured(const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        return candidates->n_required_nodes == 0 || choice->also_required;
}

/* Lists the candidates of the node that may be used, the fastest first. Returns their number. */
static uint32_t list_node_candidates(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t node, uint32_t *ret)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < candidates->n; i++) {
                uint32_t at = n;

                if (ald_plan_candidate_device(candidates, i)->node != node || !ald_plan_allows(choice, i))
                        continue;
                for (; at > 0 && candidates->layer_nsec[ret[at - 1]] > candidates->layer_nsec[i]; at--)
                        ret[at] = ret[at - 1];
                ret[at] = i;
                n++;
        }
        return n;
}

/* Returns how many ways there are to choose one device of each such node, but at most TRIES_MAX + 1. */
static uint32_t count_tries(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t *list)
{
        uint32_t tries = 1;

        for (uint32_t i = 0; i < candidates->n_required_nodes; i++)
                tries = MIN(
                        tries * list_node_candidates(candidates, choice, candidates->required_nodes[i], list),
                        TRIES_MAX + 1);
        return tries;
}

/* Requires the devices of the choice with this number. */
static void require_try(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t number,
        uint32_t *list, bool *ret_also_required)
{
        for (uint32_t i = 0; i < candidates->n; i++)
                ret_also_required[i] = false;
        for (uint32_t i = 0; i < candidates->n_required_nodes; i++) {
                uint32_t n = list_node_candidates(candidates, choice, candidates->required_nodes[i], list);

                ret_also_required[list[number % n]] = true;
                number /= n;
        }
}

static int try_each_choice(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        AldPlanFinder *find, AldPlanSteps *ret)
{
        g_autofree uint32_t *list = g_new(uint32_t, candidates->n);
        g_autofree bool *also_required = g_new(bool, candidates->n);
        uint32_t tries = count_tries(candidates, choice, list), n = tries > TRIES_MAX ? 1 : tries;
        AldPlanChoice with = *choice;
        AldPlanSteps best = { .lower_nsec = tries > TRIES_MAX ? 0 : INFINITY };

        with.also_required = also_required;
        for (uint32_t i = 0; i < n && ald_plan_progress_may_continue(candidates->progress); i++) {
                AldPlanSteps steps = { 0 };
                int r;

                require_try(candidates, choice, i, list, also_required);
                r = find(candidates, &with, &steps);
                steps.lower_nsec = fmin(steps.lower_nsec, best.lower_nsec);
                best.lower_nsec = steps.lower_nsec;
                if (r < 0)
                        continue;
                /* interval_nsec is compared for either goal, since the steps may differ in in_flight. */
                if (best.stages && best.interval_nsec <= steps.interval_nsec) {
                        ald_plan_steps_clear(&steps);
                        continue;
                }
                ald_plan_steps_clear(&best);
                best = steps;
        }
        /* The bound on choices that were not tried is that of all steps, which the caller adds. */
        if (candidates->progress->stopped)
                best.lower_nsec = 0;
        *ret = best;
        if (!best.stages)
                return candidates->progress->given_up || candidates->progress->stopped ? -ECANCELED : -ENOSPC;
        return 0;
}

int ald_plan_find_with_required_nodes(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        AldPlanFinder *find, AldPlanSteps *ret)
{
        double lower_nsec;
        int r = find(candidates, choice, ret);

        if (r < 0 || ald_plan_required_nodes_are_used(candidates, ret))
                return r;
        /* Steps with more requirements take no less time, so this bound remains valid. */
        lower_nsec = ret->lower_nsec;
        ald_plan_steps_clear(ret);
        r = try_each_choice(candidates, choice, find, ret);
        if (r >= 0)
                ret->lower_nsec = fmax(ret->lower_nsec, lower_nsec);
        return r;
}

int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        if (!ald_plan_progress_next(candidates->progress))
                return -ECANCELED;
        return ald_plan_find_with_required_nodes(
                candidates, choice, ald_plan_method_of(candidates)->find, ret);
}
