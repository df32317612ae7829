/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "tests/bench/placement-exhaustive.h"

#define SETS (1u << PLACEMENT_EXHAUSTIVE_DEVICES_MAX) /* bit i: device i */

/* The least time of each number of layers on exactly the devices of a set, one layer at least on each. */
typedef double ExhaustiveRow[PLACEMENT_EXHAUSTIVE_LAYERS_MAX + 1];

typedef struct ExhaustiveSearch {
        const AldPlacementProblem *problem;
        ExhaustiveRow inner[SETS];                                 /* none of them an end */
        ExhaustiveRow led[PLACEMENT_EXHAUSTIVE_DEVICES_MAX][SETS]; /* beside this first stage */
        uint32_t order[PLACEMENT_EXHAUSTIVE_DEVICES_MAX];
        PlacementExhaustive found;
} ExhaustiveSearch;

static const ExhaustiveRow nothing = { 0, [1 ... PLACEMENT_EXHAUSTIVE_LAYERS_MAX] = INFINITY };

static double layers_on(const AldPlacementProblem *problem, const ExhaustiveRow before, uint32_t device,
        uint32_t most, uint32_t layers)
{
        double least = INFINITY;

        for (uint32_t n = 1; n <= MIN(most, layers); n++) {
                double nsec = before[layers - n] + n * problem->devices[device].layer_nsec;

                least = MIN(least, nsec);
        }
        return least;
}

static void add_device(const AldPlacementProblem *problem, const ExhaustiveRow before, uint32_t device,
        uint32_t most, ExhaustiveRow after)
{
        for (uint32_t layers = 0; layers <= problem->layers; layers++)
                after[layers] = layers_on(problem, before, device, most, layers);
}

/* rows[0] is set; each other set is the one without its last device, and that device. */
static void add_sets(const AldPlacementProblem *problem, ExhaustiveRow *rows)
{
        for (uint32_t set = 1; set < 1u << problem->n_devices; set++) {
                uint32_t device = g_bit_nth_msf(set, -1);

                add_device(problem, rows[set & ~(1u << device)], device, problem->devices[device].layers_max,
                        rows[set]);
        }
}

static ExhaustiveSearch *search_new(const AldPlacementProblem *problem)
{
        ExhaustiveSearch *search = g_new(ExhaustiveSearch, 1);

        g_assert(problem->n_devices <= PLACEMENT_EXHAUSTIVE_DEVICES_MAX);
        g_assert(problem->layers <= PLACEMENT_EXHAUSTIVE_LAYERS_MAX);
        search->problem = problem;
        search->found = (PlacementExhaustive){ .nsec = INFINITY };
        for (uint32_t i = 0; i <= problem->layers; i++)
                search->inner[0][i] = nothing[i];
        add_sets(problem, search->inner);
        return search;
}

/* Of all layers on the set, as its first and last stages do their part. */
static double split_nsec(const ExhaustiveSearch *search, uint32_t set, uint32_t first, uint32_t last)
{
        const AldPlacementProblem *problem = search->problem;
        uint32_t middle = set & ~(1u << first) & ~(1u << last), most = problem->devices[last].layers_max;
        const AldPlacementEnds *ends = problem->ends;

        if (!ends)
                return search->inner[set][problem->layers];
        most = MIN(most, first == last ? ends[last].layers_max_both : ends[last].layers_max_last);
        return ends[first].first_nsec + ends[last].last_nsec +
               layers_on(problem, first == last ? nothing : search->led[first][middle], last, most,
                       problem->layers);
}

static bool is_even(const AldPlacementProblem *problem, uint32_t set)
{
        uint32_t counts[PLACEMENT_EXHAUSTIVE_DEVICES_MAX] = { 0 }, most = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++)
                for (uint32_t j = 0; j < problem->n_devices; j++)
                        counts[i] += set >> i & set >> j & 1 && problem->nodes[i] == problem->nodes[j];
        for (uint32_t i = 0; i < problem->n_devices; i++)
                most = MAX(most, counts[i]);
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (counts[i] > 0 && counts[i] < most)
                        return false;
        return true;
}

static bool is_allowed(const AldPlacementProblem *problem, uint32_t set)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                n += set >> i & 1;
                if (problem->devices[i].required && !(set >> i & 1))
                        return false;
        }
        return (problem->devices_max == 0 || n <= problem->devices_max) &&
               (!problem->nodes_even || is_even(problem, set));
}

/* Whether the devices of each node follow each other in this order. */
static bool are_together(const AldPlacementProblem *problem, const uint32_t *order, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = i + 2; j < n; j++)
                        if (problem->nodes[order[i]] == problem->nodes[order[j]] &&
                                problem->nodes[order[i]] != problem->nodes[order[j - 1]])
                                return false;
        return true;
}

static void try_solution(ExhaustiveSearch *search, double split, double others)
{
        if (split < INFINITY)
                search->found.fits = true;
        search->found.nsec = MIN(search->found.nsec, split + others);
}

/* All orders that begin with the n devices of the set, as they are in `order`. */
static void try_orders(ExhaustiveSearch *search, uint32_t set, uint32_t n, double hops)
{
        const AldPlacementProblem *problem = search->problem;
        const uint32_t first = search->order[0], last = n > 0 ? search->order[n - 1] : 0;

        if (n > 0 && is_allowed(problem, set))
                try_solution(search, split_nsec(search, set, first, last),
                        problem->nodes_together && !are_together(problem, search->order, n) ? INFINITY
                        : n > 1 ? hops + (problem->ends && problem->closing_nsec
                                                         ? problem->closing_nsec
                                                         : problem->hop_nsec)[last * problem->n_devices +
                                                                              first]
                                : 0);
        for (uint32_t next = 0; next < problem->n_devices; next++) {
                if (set >> next & 1)
                        continue;
                search->order[n] = next;
                try_orders(search, set | 1u << next, n + 1,
                        n > 0 ? hops + problem->hop_nsec[last * problem->n_devices + next] : 0);
        }
}

PlacementExhaustive placement_exhaust_rings(const AldPlacementProblem *problem)
{
        g_autofree ExhaustiveSearch *search = search_new(problem);

        for (uint32_t i = 0; problem->ends && i < problem->n_devices; i++) {
                uint32_t most = MIN(problem->devices[i].layers_max, problem->ends[i].layers_max_first);

                add_device(problem, nothing, i, most, search->led[i][0]);
                add_sets(problem, search->led[i]);
        }
        try_orders(search, 0, 0, 0);
        return search->found;
}

PlacementExhaustive placement_exhaust_stars(const AldPlacementProblem *problem, const PlacementStar *star)
{
        g_autofree ExhaustiveSearch *search = search_new(problem);

        for (uint32_t set = 1; set < 1u << problem->n_devices; set++) {
                double use = 0;

                for (uint32_t i = 0; i < problem->n_devices; i++)
                        use += set >> i & 1 ? star->use_nsec[i] : 0;
                if (!is_allowed(problem, set))
                        continue;
                if (!star->last_nsec)
                        try_solution(search, search->inner[set][problem->layers], use);
                for (uint32_t i = 0; star->last_nsec && i < problem->n_devices; i++)
                        if (set >> i & 1)
                                try_solution(search,
                                        layers_on(problem, search->inner[set & ~(1u << i)], i,
                                                star->last_layers_max[i], problem->layers),
                                        use + star->last_nsec[i]);
        }
        return search->found;
}
