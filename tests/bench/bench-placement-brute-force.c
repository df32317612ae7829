/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the placement solvers with an exhaustive search on clusters of a few devices. */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>

#include "placement/bounded.h"
#include "placement/even.h"
#include "placement/groups.h"
#include "placement/ring.h"
#include "placement/solve.h"
#include "tests/bench/placement-cases.h"
#include "tests/bench/placement-exhaustive.h"
#include "tests/unit/placement/solution-cost.h"

#define EPSILON 1e-9 /* of sums in another order, of the whole */

static bool is_near(double left, double right)
{
        return fabs(left - right) <= EPSILON * right;
}

/* What a solver says, with what its solution measures. */
typedef struct SolverClaim {
        int r;
        double nsec, measured, lower;
} SolverClaim;

static SolverClaim claim_ring(
        const AldPlacementProblem *problem, int r, AldPlacementSolution *solution, double lower)
{
        SolverClaim claim = { .r = r };

        if (r == 0) {
                claim = (SolverClaim){ 0, solution->nsec, placement_measure_ring(problem, solution), lower };
                ald_placement_solution_clear(solution);
        }
        return claim;
}

/* So few devices are always solved to the end, so that the bound is the solution. */
static bool is_right(const SolverClaim *claim, const PlacementExhaustive *best, int none)
{
        if (!(best->nsec < INFINITY))
                return claim->r == none;
        return claim->r == 0 && is_near(claim->nsec, best->nsec) && is_near(claim->measured, best->nsec) &&
               is_near(claim->lower, best->nsec);
}

/* Of the solver for few devices, and of those for more. */
static bool are_rings_right(const AldPlacementProblem *problem, double *ret_hops_percent)
{
        const PlacementExhaustive best = placement_exhaust_rings(problem);
        int r, none = best.fits ? -EHOSTUNREACH : -ENOSPC;
        AldPlacementSolution solution = { 0 };
        SolverClaim chosen, bounded, groups;
        double lower = 0;

        r = ald_placement_solve(problem, &solution, &lower);
        *ret_hops_percent = r == 0 ? placement_hops_percent(problem, &solution) : 0;
        chosen = claim_ring(problem, r, &solution, lower);
        r = ald_placement_solve_bounded(problem, ALD_PLACEMENT_WORK, &solution, &lower);
        bounded = claim_ring(problem, r, &solution, lower);
        r = ald_placement_solve_groups(problem, &solution);
        groups = claim_ring(problem, r, &solution, solution.nsec);
        return is_right(&chosen, &best, none) && is_right(&bounded, &best, none) &&
               (groups.r == -E2BIG || is_right(&groups, &best, none));
}

static int solve_stages(const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        int r = ald_placement_solve_ring(problem, ret);

        *ret_lower_nsec = r < 0 ? INFINITY : ret->nsec;
        return r;
}

/* On three nodes, with as many devices of each that is used. With ends, the way for more devices finds one of
 * these rings, and a bound on them. */
static bool are_even_rings_right(const AldPlacementProblem *problem, uint32_t seed)
{
        uint32_t nodes[PLACEMENT_EXHAUSTIVE_DEVICES_MAX];
        AldPlacementProblem even = *problem;
        AldPlacementSolution solution = { 0 };
        PlacementExhaustive best;
        SolverClaim exact, close;
        double lower = 0;
        int r, none;

        for (uint32_t i = 0; i < problem->n_devices; i++)
                nodes[i] = (i + seed / (i + 1)) % 3;
        even.nodes = nodes;
        even.nodes_even = true;
        even.nodes_together = problem->ends != NULL;
        best = placement_exhaust_rings(&even);
        none = best.fits ? -EHOSTUNREACH : -ENOSPC;
        r = ald_placement_solve(&even, &solution, &lower);
        exact = claim_ring(&even, r, &solution, lower);
        if (!even.nodes_together)
                return is_right(&exact, &best, none);
        lower = 0;
        r = ald_placement_solve_even(&even, solve_stages, &solution, &lower);
        close = claim_ring(&even, r, &solution, lower);
        return is_right(&exact, &best, none) &&
               (close.r < 0 || (best.nsec < INFINITY && is_near(close.measured, close.nsec) &&
                                       close.nsec >= best.nsec * (1 - EPSILON) &&
                                       close.lower <= best.nsec * (1 + EPSILON)));
}

static bool is_star_right(const AldPlacementProblem *problem, const PlacementStar *star)
{
        const PlacementExhaustive best = placement_exhaust_stars(problem, star);
        AldPlacementSolution solution;
        SolverClaim claim = { .r = placement_solve_star(problem, star, &solution) };

        if (claim.r == 0) {
                claim = (SolverClaim){ 0, solution.nsec, placement_measure_star(problem, star, &solution),
                        solution.nsec };
                ald_placement_solution_clear(&solution);
        }
        return is_right(&claim, &best, -ENOSPC);
}

int main(int argc, char *argv[])
{
        uint32_t n_cases = argc == 2 ? (uint32_t) atoi(argv[1]) : 0;
        uint32_t wrong = 0, with_hops = 0;

        if (n_cases == 0)
                g_error("Needs a number of cases");
        for (uint32_t i = 0; i < n_cases; i++) {
                bool right_ring, right_star;
                double hops_percent;
                PlacementCase made;

                /* Most of them of the most devices. */
                placement_case_make(&made, MIN(1 + i % 17, PLACEMENT_EXHAUSTIVE_DEVICES_MAX), i);
                right_ring = are_rings_right(&made.problem, &hops_percent) &&
                             are_even_rings_right(&made.problem, i);
                right_star = is_star_right(&made.problem, &made.star);
                if (!right_ring || !right_star)
                        fprintf(stderr, "Case %u: wrong%s%s\n", i, right_ring ? "" : " ring",
                                right_star ? "" : " star");
                wrong += !right_ring || !right_star;
                with_hops += hops_percent >= 20;
        }
        printf("{\"brute_force_cases\": %u, \"brute_force_mismatches\": %u, "
               "\"brute_force_hops_take_a_fifth\": %u}\n",
                n_cases, wrong, with_hops);
        return 0;
}
