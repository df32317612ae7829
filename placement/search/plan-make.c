/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/search/improve.h"
#include "placement/search/plan-make.h"
#include "placement/search/refusal.h"

#define BEST_UNTIL 0.2     /* fraction of the work until the best steps are found */
#define REFUSAL_SEARCHES 5 /* searches without a limit, to find the one that is why there is no plan */

static bool do_devices_share_memory(const AldPlanCandidates *candidates)
{
        for (uint32_t i = 0; i < candidates->cluster->n_devices; i++)
                if (candidates->verdicts[i].reason == ALD_PLAN_SHARES_MEMORY)
                        return true;
        return false;
}

static int find_best_steps(const AldPlanCandidates *candidates, double until, AldPlanSteps *ret)
{
        AldPlanChoice choice = ald_plan_choice(candidates);

        choice.level = true;
        ald_plan_progress_divide(candidates->progress, until, 1);
        return ald_plan_find_steps(candidates, &choice, ret);
}

/* Returns a lower bound on all plans, whichever they use of the devices that compute in the same memory: the
 * time if all layers were on the fastest device. */
static double least_nsec(const AldPlanCandidates *candidates)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanConstants *constants = &request->constants;
        AldPlanWorkload workload = *request->workload;
        double layer = INFINITY, head = INFINITY;

        /* Each of several steps under way may have a single request. */
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

/* Finds the best steps and their candidates. If the fastest of devices that compute in the same memory may
 * use less of it than another one, those with the most room are tried, too, for the whole cluster. Mixtures
 * are not tried, so neither result is proven to be the best. */
static int find_best_plan(AldPlanCandidates *candidates, AldPlanProgress *progress,
        const AldPlanCluster *cluster, AldPlanSteps *ret, AldPlanRefusal *ret_refusal)
{
        const AldPlanOptionsGoal goal = progress->request->goal;
        g_auto(AldPlanCandidates) roomy = { 0 };
        AldPlanSteps steps = { 0 };
        int r_roomy, r = init_candidates(candidates, progress, cluster, ALD_PLAN_PREFER_SPEED, ret_refusal);

        if (r >= 0)
                r = find_best_steps(candidates, BEST_UNTIL / 2, ret);
        progress->may_stop |= r >= 0;
        if ((r < 0 && r != -ENOSPC) || !do_devices_share_memory(candidates))
                return r;
        r_roomy = init_candidates(&roomy, progress, cluster, ALD_PLAN_PREFER_ROOM, ret_refusal);
        /* The same devices need not be searched twice. */
        if (r_roomy >= 0 && candidates->n == roomy.n &&
                memcmp(candidates->devices, roomy.devices, roomy.n * sizeof *roomy.devices) == 0)
                return r;
        if (r_roomy >= 0)
                r_roomy = find_best_steps(&roomy, BEST_UNTIL, &steps);
        if (r_roomy == -ECANCELED && !progress->stopped)
                return r_roomy;
        if (r < 0 || (r_roomy >= 0 && ald_plan_goal_nsec(&steps, goal) < ald_plan_goal_nsec(ret, goal))) {
                double lower_nsec = fmin(ret->lower_nsec, steps.lower_nsec);
                AldPlanCandidates fast = *candidates;

                *candidates = roomy;
                roomy = fast;
                ald_plan_steps_clear(ret);
                r = r_roomy;
                *ret = r < 0 ? (AldPlanSteps){ .lower_nsec = lower_nsec } : steps;
        } else if (r_roomy >= 0) {
                ald_plan_steps_clear(&steps);
        }
        if (r >= 0)
                ret->lower_nsec = fmin(least_nsec(candidates), ald_plan_goal_nsec(ret, goal));
        return r;
}

int ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal)
{
        g_auto(AldPlanCandidates) candidates = { 0 };
        g_autoptr(AldPlan) plan = g_new0(AldPlan, 1);
        AldPlanProgress progress = { .request = request };
        int r = find_best_plan(&candidates, &progress, cluster, &plan->best, ret_refusal);

        if (r == -ENOSPC) {
                ald_plan_progress_divide(&progress, 1, REFUSAL_SEARCHES);
                progress.may_stop = true;
                ald_plan_find_refusal(&candidates, plan->best.lower_nsec, ret_refusal);
                if (ret_refusal->kind == ALD_PLAN_NOT_NAMED)
                        ald_plan_judge_unnamed(&candidates);
                r = -EINVAL;
        } else if (r == -E2BIG) {
                *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_TOO_MANY_DEVICES,
                        .n_devices = candidates.n };
                r = -EINVAL;
        } else if (r >= 0) {
                ald_plan_improve(&candidates, plan);
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
