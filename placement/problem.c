/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "placement/problem.h"

uint32_t ald_placement_count_nodes(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n)
{
        uint32_t count = 0;

        for (uint32_t i = 0; i < n; i++) {
                bool known = false;

                for (uint32_t j = 0; j < i && !known; j++)
                        known = problem->nodes[devices[j]] == problem->nodes[devices[i]];
                count += !known;
        }
        return count;
}

bool ald_placement_is_even(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n)
{
        uint32_t each = 0;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t count = 0;

                for (uint32_t j = 0; j < n; j++)
                        count += problem->nodes[devices[j]] == problem->nodes[devices[i]];
                if (i > 0 && count != each)
                        return false;
                each = count;
        }
        return true;
}

bool ald_placement_proceeds(const AldPlacementProblem *problem)
{
        return !problem->proceed || problem->proceed(problem->userdata);
}

int ald_placement_compare_nsec(const void *a, const void *b)
{
        double one = *(const double *) a, other = *(const double *) b;

        return (one > other) - (one < other);
}

void ald_placement_solution_clear(AldPlacementSolution *solution)
{
        g_free(solution->stages);
        *solution = (AldPlacementSolution){ 0 };
}

void ald_placement_solution_keep(AldPlacementSolution *solution, AldPlacementSolution *best)
{
        if (best->stages && best->nsec <= solution->nsec) {
                ald_placement_solution_clear(solution);
                return;
        }
        ald_placement_solution_clear(best);
        *best = *solution;
}
