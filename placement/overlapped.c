/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/bounded.h"
#include "placement/even.h"
#include "placement/limited.h"
#include "placement/nodes-limit.h"
#include "placement/overlapped.h"
#include "placement/ring-front.h"
#include "placement/ring.h"
#include "placement/solve.h"
#include "placement/split.h"

#define EXACT_MAX 12u /* most devices for which each limit is solved exactly */
/* With more devices, each search has this work, and limits that are closer to each other than this ratio
 * count as equal. */
#define WORK (ALD_PLACEMENT_WORK / 32)
#define CLOSE 1.01
#define NODES_EXACT_MAX 8u /* most nodes, of several devices each, whose ring is solved exactly */

/* A search over limits on the busiest part. The tighter the limit, the longer a step takes; the best limit is
 * where the two times cross. */
typedef struct Overlapped {
        AldPlacementLimited limited;
        uint32_t steps;
        double least_nsec;  /* of a step, whatever the limit */
        double tight_nsec;  /* of a step, with limits that are known to be too tight */
        double enough_nsec; /* solutions that take this or more are not wanted; lowered to the best one's time
                             */
        AldPlacementSolution best;
} Overlapped;

static void overlapped_clear(Overlapped *self)
{
        ald_placement_limited_clear(&self->limited);
        ald_placement_solution_clear(&self->best);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Overlapped, overlapped_clear)

double ald_placement_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec, uint32_t steps,
        const AldPlacementSolution *solution)
{
        return fmax(solution->nsec, steps * ald_placement_busiest(problem, occupy_nsec, solution));
}

static int solve_bounded(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        return ald_placement_solve_bounded(problem, WORK, ret, ret_lower_nsec);
}

static int solve_nodes_as_stages(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        int r;

        if (problem->n_devices > NODES_EXACT_MAX)
                return solve_bounded(problem, ret, ret_lower_nsec);
        r = ald_placement_solve_ring(problem, ret);
        *ret_lower_nsec = r == 0 ? ret->nsec : INFINITY;
        return r;
}

static int solve_step(const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;

        if (!ald_placement_proceeds(problem))
                return -ECANCELED;
        /* The solvers would find this out, too, but more slowly. */
        if (!ald_placement_fits(problem))
                return -ENOSPC;
        if (problem->n_devices <= EXACT_MAX)
                return ald_placement_solve(problem, ret, ret_lower_nsec);
        ald_placement_drop_nodes_limit(&changed);
        ald_placement_drop_even(&changed);
        if (changed.nodes_even)
                return ald_placement_solve_even(&changed, solve_nodes_as_stages, ret, ret_lower_nsec);
        return changed.nodes_max == 0
                       ? solve_bounded(&changed, ret, ret_lower_nsec)
                       : ald_placement_solve_nodes(&changed, solve_bounded, ret, ret_lower_nsec);
}

/* Takes the solution: keeps it if it is better than the best, else frees it. */
static void keep_better(Overlapped *self, AldPlacementSolution *solution)
{
        double nsec = ald_placement_overlapped(
                self->limited.all, self->limited.occupy_nsec, self->steps, solution);

        if (solution->n_stages < self->steps || nsec >= self->enough_nsec) {
                ald_placement_solution_clear(solution);
                return;
        }
        ald_placement_solution_clear(&self->best);
        self->best = *solution;
        self->enough_nsec = nsec;
}

/* Solves the problem within the limit. Returns whether the best limit is higher. */
static bool is_too_tight(Overlapped *self, double limit_nsec)
{
        bool is_exact = self->limited.all->n_devices <= EXACT_MAX;
        AldPlacementSolution found;
        double lower, nsec;
        uint32_t n_stages;
        int r;

        ald_placement_limited_set(&self->limited, limit_nsec);
        r = solve_step(&self->limited.problem, &found, &lower);
        if (r < 0) {
                self->tight_nsec = r == -ENOSPC || is_exact ? INFINITY : self->least_nsec;
                return true;
        }
        nsec = found.nsec;
        n_stages = found.n_stages;
        keep_better(self, &found);
        if (n_stages < self->steps || nsec <= self->steps * limit_nsec)
                return false;
        self->tight_nsec = lower;
        return true;
}

static double search_limits(Overlapped *self)
{
        g_autoptr(GArray) limits = ald_placement_list_limits(self->limited.all, self->limited.occupy_nsec);
        bool is_exact = self->limited.all->n_devices <= EXACT_MAX;
        guint below = 0, above = limits->len;
        double least;

        while (below < above) {
                guint middle = (below + above) / 2;
                double limit = g_array_index(limits, double, middle);

                if (!is_exact && above < limits->len &&
                        g_array_index(limits, double, above) <= g_array_index(limits, double, below) * CLOSE)
                        break;
                if (self->steps * limit < self->enough_nsec && is_too_tight(self, limit))
                        below = middle + 1;
                else
                        above = middle;
        }
        least = below < limits->len ? self->steps * g_array_index(limits, double, below) : INFINITY;
        return fmin(self->tight_nsec, fmax(self->least_nsec, least));
}

int ald_placement_solve_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec,
        uint32_t steps, double enough_nsec, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_auto(Overlapped) self = { .steps = steps, .enough_nsec = enough_nsec, .tight_nsec = INFINITY };
        AldPlacementSolution any;
        int r = solve_step(problem, &any, &self.least_nsec);

        if (r < 0) {
                *ret_lower_nsec = r == -ENOSPC || problem->n_devices <= EXACT_MAX ? INFINITY : 0;
                return r;
        }
        ald_placement_limited_init(&self.limited, problem, occupy_nsec);
        keep_better(&self, &any);
        *ret_lower_nsec = self.least_nsec < self.enough_nsec ? search_limits(&self) : self.least_nsec;
        if (!self.best.stages)
                return -ENOSPC;
        *ret = self.best;
        self.best = (AldPlacementSolution){ 0 };
        return 0;
}
