/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "placement/method/front.h"
#include "placement/method/group.h"
#include "placement/method/ring-cost.h"
#include "placement/method/ring-plan.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"

/* Limits on the busiest part that are tried between the two ends of the front. */
#define LIMITS 6u
#define POINTS (LIMITS + 1u)
#define ROUNDING 1e-9

static double stage_nsec(const AldPlanCandidates *candidates, const AldPlanStage *stage)
{
        uint32_t i = ald_plan_candidate_of(candidates, stage->device);

        return stage->layers * candidates->layer_nsec[i] + (stage->has_head ? candidates->head_nsec[i] : 0);
}

/* Measures the stages of `steps` if each step has the requests of these candidates. */
static void measure_stages(const AldPlanCandidates *candidates, const AldPlanSteps *steps, double *ret_nsec,
        double *ret_busiest_nsec)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        const AldPlanDevice *devices = candidates->cluster->devices;
        double nsec = 0, busiest = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                uint32_t source = devices[steps->stages[i].device].node;
                uint32_t sink = devices[steps->stages[(i + 1) % steps->n_stages].device].node;
                double stage = stage_nsec(candidates, &steps->stages[i]);
                AldRingHop hop;

                nsec += stage;
                busiest = fmax(busiest, stage);
                if (steps->n_stages == 1)
                        break;
                hop = ald_ring_hop_on(candidates, &choice, source, sink, i + 1 == steps->n_stages,
                        steps->stages[i].path_to);
                nsec += hop.nsec;
                busiest = fmax(busiest, hop.occupy_nsec);
        }
        *ret_nsec = nsec;
        *ret_busiest_nsec = busiest;
}

/* Sets the times and bytes of hops and stages, which may have been found for fewer requests per step. */
static void set_hops(const AldPlanCandidates *candidates, AldPlanSteps *steps)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        const AldPlanDevice *devices = candidates->cluster->devices;

        steps->hops_nsec = 0;
        for (uint32_t i = 0; i < steps->n_stages; i++) {
                AldPlanStage *stage = &steps->stages[i];
                uint32_t sink = devices[steps->stages[(i + 1) % steps->n_stages].device].node;
                bool closes = i + 1 == steps->n_stages;
                AldRingHop hop;

                stage->nsec = stage_nsec(candidates, stage);
                stage->is_computing = ald_plan_is_computing_longer(&candidates->request->constants,
                        &devices[stage->device], candidates->request->workload);
                if (steps->n_stages == 1)
                        break;
                hop = ald_ring_hop_on(
                        candidates, &choice, devices[stage->device].node, sink, closes, stage->path_to);
                stage->hop_nsec = stage->nsec_to = hop.nsec;
                stage->bytes_to = ald_ring_hop_bytes(candidates, closes);
                steps->hops_nsec += stage->hop_nsec;
        }
}

/* Sets nsec to the time of a step with all requests, and in_flight, busiest_nsec and interval_nsec to those
 * with the most tokens per second. */
static void set_best_overlap(const AldPlanCandidates *candidates, AldPlanSteps *steps)
{
        uint64_t most = MIN(steps->n_stages, candidates->request->workload->parallel);

        set_hops(candidates, steps);
        measure_stages(candidates, steps, &steps->nsec, &steps->busiest_nsec);
        steps->in_flight = 1;
        steps->interval_nsec = steps->nsec;
        for (uint32_t n = 2; n <= most; n++) {
                g_auto(AldPlanGroup) group = { 0 };
                double nsec, busiest;

                ald_plan_group_init(&group, candidates, n);
                measure_stages(&group.candidates, steps, &nsec, &busiest);
                if (fmax(nsec, n * busiest) >= steps->interval_nsec)
                        continue;
                steps->in_flight = n;
                steps->busiest_nsec = busiest;
                steps->interval_nsec = fmax(nsec, n * busiest);
        }
}

static double busiest_of(const AldPlanCandidates *candidates, const AldPlanSteps *steps)
{
        double nsec, busiest;

        measure_stages(candidates, steps, &nsec, &busiest);
        return busiest;
}

/* Finds the end of the front with the most tokens per second. */
static int find_throughput_end(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        AldPlanRequest request = *candidates->request;
        AldPlanCandidates changed = *candidates;

        request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        changed.request = &request;
        return ald_plan_find_with_required_nodes(&changed, choice, ald_ring_plan, ret);
}

/* Finds points between the plan and the other end of the front; that end is the last one. Returns their
 * number. */
static uint32_t find_points(const AldPlanCandidates *candidates, const AldPlan *plan, AldPlanSteps *points)
{
        AldPlanChoice choice = ald_plan_choice(candidates);
        double from = busiest_of(candidates, &plan->best), ratio;
        uint32_t n = 0;
        AldPlanSteps end;

        choice.level = true;
        if (find_throughput_end(candidates, &choice, &end) < 0)
                return 0;
        ratio = busiest_of(candidates, &end) / from;
        for (uint32_t i = 1; ratio < 1 && i <= LIMITS; i++) {
                double limit = from * pow(ratio, (double) i / (LIMITS + 1));

                if (!ald_plan_progress_may_continue(candidates->progress))
                        break;
                if (ald_ring_plan_within(candidates, &choice, limit, &points[n]) < 0)
                        continue;
                if (ald_plan_required_nodes_are_used(candidates, &points[n]))
                        n++;
                else
                        ald_plan_steps_clear(&points[n]);
        }
        points[n++] = end;
        for (uint32_t i = 0; i < n; i++)
                set_best_overlap(candidates, &points[i]);
        return n;
}

static int compare_steps(const void *a, const void *b)
{
        const AldPlanSteps *one = a, *other = b;

        if (one->nsec != other->nsec)
                return one->nsec < other->nsec ? -1 : 1;
        return (one->interval_nsec > other->interval_nsec) - (one->interval_nsec < other->interval_nsec);
}

/* Returns whether the steps have the same latency as the best ones, except for rounding, but yield more
 * tokens. */
static bool is_better_start(const AldPlanSteps *steps, const AldPlanSteps *best)
{
        return steps->nsec <= best->nsec * (1 + ROUNDING) && steps->interval_nsec < best->interval_nsec;
}

/* Sorts the points and drops those that yield no more tokens than an earlier one. Returns their number. */
static uint32_t keep_front(AldPlan *plan, AldPlanSteps *points, uint32_t n)
{
        double least = plan->best.interval_nsec;
        uint32_t kept = 0;

        qsort(points, n, sizeof *points, compare_steps);
        for (uint32_t i = 0; i < n; i++) {
                if (points[i].interval_nsec >= least) {
                        ald_plan_steps_clear(&points[i]);
                        continue;
                }
                least = points[i].interval_nsec;
                if (kept == 0 && is_better_start(&points[i], &plan->best)) {
                        points[i].lower_nsec = plan->best.lower_nsec;
                        ald_plan_steps_clear(&plan->best);
                        plan->best = points[i];
                } else {
                        points[kept++] = points[i];
                }
        }
        return kept;
}

void ald_plan_find_front(const AldPlanCandidates *candidates, AldPlan *plan)
{
        AldPlanSteps points[POINTS];
        uint32_t n = find_points(candidates, plan, points), taken = 0;

        set_best_overlap(candidates, &plan->best);
        n = keep_front(plan, points, n);
        plan->is_front = true;
        plan->n_alternatives = MIN(n, ALD_PLAN_ALTERNATIVES_MAX);
        for (uint32_t i = 0; i < n; i++)
                /* Take evenly spaced points, including the last one. */
                if (i + 1 == (taken + 1) * n / plan->n_alternatives)
                        plan->alternatives[taken++] = points[i];
                else
                        ald_plan_steps_clear(&points[i]);
}
