/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/bounded-front.h"
#include "placement/bounded.h"
#include "placement/limited.h"
#include "placement/ring-front.h"
#include "placement/split.h"

#define WORK (ALD_PLACEMENT_WORK / 8)
#define FIRST_STEP 0.01 /* share above the lower bound; each further step is twice as long */
#define CLOSE 1.01      /* ratio to the highest limit without a solution at which the search ends */

/* Returns whether the layers may fit within the limit. Rules out devices that no path leads to or none
 * leaves, unless one of them holds all layers as the only stage. */
static bool may_fit(AldPlacementLimited *limited)
{
        uint32_t n = limited->problem.n_devices;

        for (uint32_t i = 0; i < n; i++) {
                bool leads_out = false, leads_in = false;

                if (ald_placement_layers_max(&limited->problem, i, i, i) >= limited->problem.layers)
                        return true;
                for (uint32_t j = 0; j < n && !(leads_out && leads_in); j++) {
                        leads_out |= j != i &&
                                     (limited->hop_nsec[(size_t) i * n + j] < INFINITY ||
                                             ald_placement_closing(&limited->problem, i, j) < INFINITY);
                        leads_in |= j != i &&
                                    (limited->hop_nsec[(size_t) j * n + i] < INFINITY ||
                                            ald_placement_closing(&limited->problem, j, i) < INFINITY);
                }
                if (!leads_out || !leads_in)
                        limited->devices[i].layers_max = 0;
        }
        return ald_placement_fits(&limited->problem);
}

/* Returns the least limit within which the layers may fit, or INFINITY if there is none. */
static double find_least_limit(AldPlacementLimited *limited)
{
        g_autoptr(GArray) limits = ald_placement_list_limits(limited->all, limited->occupy_nsec);
        guint below = 0, above = limits->len;

        while (below < above) {
                guint middle = (below + above) / 2;

                ald_placement_limited_set(limited, g_array_index(limits, double, middle));
                if (may_fit(limited))
                        above = middle;
                else
                        below = middle + 1;
        }
        return below < limits->len ? g_array_index(limits, double, below) : INFINITY;
}

/* Replaces the best solution by one within the limit. Returns what its busiest part takes, or INFINITY if
 * none is found. */
static double try_limit(AldPlacementLimited *limited, double limit_nsec, AldPlacementSolution *best)
{
        AldPlacementSolution found;
        double lower;

        ald_placement_limited_set(limited, limit_nsec);
        if (ald_placement_solve_bounded(&limited->problem, WORK, &found, &lower) < 0)
                return INFINITY;
        ald_placement_solution_clear(best);
        *best = found;
        return ald_placement_busiest(limited->all, limited->occupy_nsec, best);
}

int ald_placement_solve_bounded_busiest(const AldPlacementProblem *problem, const double *occupy_nsec,
        AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_auto(AldPlacementLimited) limited = { 0 };
        AldPlacementSolution best = { 0 };
        double lower, above, below, any;
        int r = ald_placement_solve_bounded(problem, WORK, &best, &any);

        if (r < 0)
                return r;
        ald_placement_limited_init(&limited, problem, occupy_nsec);
        lower = find_least_limit(&limited);
        any = ald_placement_busiest(problem, occupy_nsec, &best);
        below = lower;
        above = try_limit(&limited, lower, &best);
        for (double step = FIRST_STEP; !(above < INFINITY); step *= 2) {
                double limit = lower * (1 + step);

                if (limit >= any) {
                        above = any;
                        break;
                }
                above = try_limit(&limited, limit, &best);
                below = above < INFINITY ? below : limit;
        }
        while (above > below * CLOSE) {
                double middle = (below + above) / 2, found = try_limit(&limited, middle, &best);

                if (found < INFINITY)
                        above = found;
                else
                        below = middle;
        }
        *ret = best;
        *ret_lower_nsec = lower;
        return 0;
}
