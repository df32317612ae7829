/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "placement/problem.h"

void ald_placement_solution_clear(AldPlacementSolution *solution)
{
        g_free(solution->stages);
        *solution = (AldPlacementSolution){ 0 };
}
