/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/bounded.h"
#include "placement/gather.h"
#include "placement/ring-search.h"
#include "placement/split.h"

#define PRICES_ROUNDS 150u
#define PRICES_PATIENCE 6u /* rounds without a better bound after which the step is halved */
/* Paths of each length that the first search keeps. Later searches keep more, when prices are good and much
 * is ruled out. */
#define WIDTH 240u
#define WIDER 4.0     /* most by which a search is wider than the one before */
#define CELLS_MAX 2e6 /* most that a search keeps */

typedef struct Bounded {
        AldPlacementCore core;
        AldPlacementTable table;
        AldPlacementTour best; /* devices by their numbers in the problem */
        double lower;          /* bound on the solutions of several stages that are better than the best */
        double priced;         /* the highest bound that any shares gave */
        double *best_out;      /* those shares, by the numbers in the problem */
        uint32_t n_required;
        uint64_t search_work; /* work that raise_bound() leaves for the search */
} Bounded;

static void bounded_clear(Bounded *bounded)
{
        ald_placement_core_clear(&bounded->core);
        ald_placement_table_clear(&bounded->table);
        g_free(bounded->best_out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bounded, bounded_clear)

static void try_single_stages(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;

        for (uint32_t i = 0; i < core->n; i++) {
                AldPlacementTour tour = { .stages = { i }, .n = 1 };

                if (bounded->n_required > ald_placement_core_device(core, i)->required)
                        continue;
                ald_placement_tour_measure(core, &tour, INFINITY);
                ald_placement_tour_keep(core, &tour, &bounded->best);
        }
}

static bool is_settled(const Bounded *bounded)
{
        return bounded->core.n < 2 || !(bounded->lower < bounded->best.nsec);
}

/* Computes the bound again after the core or its shares have changed. */
static void find_bound(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;
        double bound;

        ald_placement_table_fill(&bounded->table, core, true);
        bound = ald_placement_table_bound(&bounded->table, core);
        bounded->lower = MAX(bounded->lower, bound);
        if (bound > bounded->priced) {
                bounded->priced = bound;
                for (uint32_t i = 0; i < core->n; i++)
                        bounded->best_out[core->devices[i]] = core->out_nsec[i];
        }
        ald_placement_table_bound_each(&bounded->table, core);
}

static void rule_out_devices(Bounded *bounded)
{
        if (!ald_placement_core_rule_out(&bounded->core, bounded->best.nsec) || bounded->core.n < 2)
                return;
        ald_placement_core_share(&bounded->core);
        find_bound(bounded);
}

static void try_bound_devices(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;
        g_autofree uint32_t *chosen = g_new(uint32_t, core->most);
        uint32_t n = ald_placement_table_chosen(&bounded->table, core, chosen);
        AldPlacementTour tour;

        ald_placement_tour_insert(core, chosen, n, &tour);
        ald_placement_tour_improve(core, &tour);
        ald_placement_tour_keep(core, &tour, &bounded->best);
}

static void search_rings(Bounded *bounded, uint32_t width, uint64_t work)
{
        AldPlacementCore *core = &bounded->core;
        AldPlacementTour found = { .nsec = bounded->best.nsec };
        double left;

        if (bounded->n_required > 0)
                ald_placement_table_fill(&bounded->table, core, false);
        left = ald_placement_search(core, &bounded->table, width, work, &found);
        ald_placement_tour_keep(core, &found, &bounded->best);
        bounded->lower = MAX(bounded->lower, MIN(left, bounded->best.nsec));
        if (bounded->n_required > 0)
                find_bound(bounded);
}

/* Returns the device whose hop to this one costs least beyond its share. */
static uint32_t cheapest_predecessor(const AldPlacementCore *core, uint32_t to)
{
        double least = INFINITY;
        uint32_t best = to;

        for (uint32_t i = 0; i < core->n; i++) {
                double nsec = ald_placement_core_hop(core, i, to);

                if (nsec < INFINITY && nsec - core->out_nsec[i] < least) {
                        least = nsec - core->out_nsec[i];
                        best = i;
                }
        }
        return best;
}

/* Takes one subgradient step: raises the shares of devices that the bound enters but does not leave, and
 * lowers those that it leaves more often than it enters. Returns false if the bound enters and leaves each
 * device equally often. */
static bool step_shares(Bounded *bounded, double step)
{
        AldPlacementCore *core = &bounded->core;
        g_autofree uint32_t *chosen = g_new(uint32_t, core->most);
        g_autofree int *slope = g_new0(int, core->n);
        uint32_t n = ald_placement_table_chosen(&bounded->table, core, chosen);
        double bound = ald_placement_table_bound(&bounded->table, core), squares = 0;

        for (uint32_t i = 0; i < n; i++) {
                slope[chosen[i]]++;
                slope[cheapest_predecessor(core, chosen[i])]--;
        }
        for (uint32_t i = 0; i < core->n; i++)
                squares += slope[i] * slope[i];
        if (!(squares > 0))
                return false;
        for (uint32_t i = 0; i < core->n; i++)
                if (core->out_nsec[i] < INFINITY)
                        core->out_nsec[i] += step * (bounded->best.nsec - bound) / squares * slope[i];
        ald_placement_core_share(core);
        (void) ald_placement_core_spend(core, (uint64_t) core->n * core->n / 4);
        return true;
}

static void raise_bound(Bounded *bounded)
{
        double step = 1;

        for (uint32_t round = 0, stalled = 0; round < PRICES_ROUNDS; round++) {
                double before = bounded->priced;

                if (is_settled(bounded) || bounded->core.work < bounded->search_work)
                        return;
                if (!step_shares(bounded, step))
                        return;
                find_bound(bounded);
                if (bounded->priced > before * (1 + 1e-6)) {
                        stalled = 0;
                } else if (++stalled == PRICES_PATIENCE) {
                        step /= 2;
                        stalled = 0;
                }
                rule_out_devices(bounded);
        }
}

static void restore_best_shares(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;

        for (uint32_t i = 0; i < core->n; i++)
                core->out_nsec[i] = bounded->best_out[core->devices[i]];
        ald_placement_core_share(core);
        find_bound(bounded);
        rule_out_devices(bounded);
}

/* Tightens the bounds, which allow for the most that closing a ring may save. It suffices to allow for the
 * second largest saving among the hops of the best ring, since the core then lowers the hops that save
 * more. */
static void limit_saved(Bounded *bounded)
{
        const AldPlacementProblem *problem = bounded->core.problem;
        const AldPlacementTour *tour = &bounded->best;
        double most = 0, second = 0;

        if (!ald_placement_has_closing_cost(problem) || tour->n < 2 || bounded->core.n < 2)
                return;
        for (uint32_t i = 0; i < tour->n; i++) {
                uint32_t from = tour->stages[i], to = tour->stages[(i + 1) % tour->n];
                double saved = problem->hop_nsec[(size_t) from * problem->n_devices + to] -
                               ald_placement_closing(problem, from, to);

                second = fmax(second, fmin(saved, most));
                most = fmax(most, saved);
        }
        ald_placement_core_limit_saved(&bounded->core, second);
        find_bound(bounded);
}

/* Searches ever more narrowly, which takes less work, until a first ring is found. */
static void find_ring(Bounded *bounded)
{
        uint32_t width = WIDTH;

        do {
                search_rings(bounded, width, bounded->core.work / 4);
                rule_out_devices(bounded);
                width /= 4;
        } while (width > 0 && !is_settled(bounded) && !(bounded->best.nsec < INFINITY));
}

/* Searches ever more widely while the remaining work allows it. */
static void widen_search(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;
        double width = WIDTH, widest = CELLS_MAX / (4 * core->most + core->layers);

        while (!is_settled(bounded) && core->work > 0 && width <= widest) {
                uint64_t before = core->work, spent;

                search_rings(bounded, (uint32_t) width, before);
                rule_out_devices(bounded);
                spent = before - core->work;
                if (core->work < spent)
                        return;
                width *= fmin(WIDER, (double) core->work / (double) MAX(spent, 1));
        }
}

static void find_solution(Bounded *bounded)
{
        AldPlacementCore *core = &bounded->core;

        try_single_stages(bounded);
        if (core->most < 2 || core->n < 2) {
                bounded->lower = INFINITY;
                return;
        }
        find_bound(bounded);
        if (is_settled(bounded))
                return;
        try_bound_devices(bounded);
        rule_out_devices(bounded);
        if (is_settled(bounded))
                return;
        find_ring(bounded);
        if (is_settled(bounded) || !(bounded->best.nsec < INFINITY))
                return;
        limit_saved(bounded);
        rule_out_devices(bounded);
        raise_bound(bounded);
        if (is_settled(bounded))
                return;
        restore_best_shares(bounded);
        widen_search(bounded);
}

/* Returns the time of all hops if the ring begins at this stage; 0 if all rotations take the same time. */
static double hops_nsec(const AldPlacementProblem *problem, const AldPlacementTour *tour, uint32_t begin)
{
        const uint32_t *stages = tour->stages;
        double nsec = 0;

        if (!ald_placement_has_closing_cost(problem) || tour->n == 1)
                return 0;
        for (uint32_t i = 0; i + 1 < tour->n; i++)
                nsec += problem->hop_nsec[(size_t) stages[(begin + i) % tour->n] * problem->n_devices +
                                          stages[(begin + i + 1) % tour->n]];
        return nsec + ald_placement_closing(problem, stages[(begin + tour->n - 1) % tour->n], stages[begin]);
}

/* Chooses the first stage: with ends the one with which the ring takes the least time, else the device with
 * the lowest number. */
static uint32_t find_begin(
        const AldPlacementProblem *problem, const AldPlacementTour *tour, const uint32_t *sorted)
{
        double least = INFINITY;
        uint32_t best = 0;

        for (uint32_t i = 0; i < tour->n; i++) {
                uint32_t first = tour->stages[i], last = tour->stages[(i + tour->n - 1) % tour->n];
                double nsec = first;

                if (problem->ends)
                        nsec = hops_nsec(problem, tour, i) + ald_placement_ends_nsec(problem, first, last) +
                               ald_placement_split(problem, sorted, tour->n, first, last, NULL);
                if (nsec < least) {
                        least = nsec;
                        best = i;
                }
        }
        return best;
}

static void build_solution(
        const AldPlacementProblem *problem, const AldPlacementTour *tour, AldPlacementSolution *ret)
{
        uint32_t sorted[ALD_PLACEMENT_STAGES_LIMIT], n = tour->n, begin;

        memcpy(sorted, tour->stages, n * sizeof sorted[0]);
        ald_placement_sort_by_speed(problem, sorted, n);
        begin = find_begin(problem, tour, sorted);
        *ret = (AldPlacementSolution){
                .stages = g_new(AldPlacementStage, n), .n_stages = n, .nsec = tour->nsec
        };
        for (uint32_t i = 0; i < n; i++)
                ret->stages[i].device = tour->stages[(begin + i) % n];
        ald_placement_set_layers(problem, ret->stages, n);
}

int ald_placement_solve_bounded(
        const AldPlacementProblem *problem, uint64_t work, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_auto(Bounded)
                bounded = { .best = { .nsec = INFINITY }, .priced = -INFINITY, .search_work = work / 2 };

        if (ald_placement_stages_max(problem) > ALD_PLACEMENT_STAGES_LIMIT)
                return -E2BIG;
        if (!ald_placement_fits(problem))
                return -ENOSPC;
        if (!ald_placement_proceeds(problem))
                return -ECANCELED;
        ald_placement_core_init(&bounded.core, problem, work);
        ald_placement_table_init(&bounded.table, &bounded.core);
        bounded.best_out = g_new0(double, problem->n_devices);
        for (uint32_t i = 0; i < problem->n_devices; i++)
                bounded.n_required += problem->devices[i].required;
        find_solution(&bounded);
        if (bounded.core.given_up)
                return -ECANCELED;
        if (!(bounded.best.nsec < INFINITY))
                return -EHOSTUNREACH;
        build_solution(problem, &bounded.best, ret);
        *ret_lower_nsec = bounded.core.n < 2 ? ret->nsec : MIN(bounded.lower, ret->nsec);
        if (!problem->nodes_together || ald_placement_gather(problem, ret))
                return 0;
        ald_placement_solution_clear(ret);
        return -EHOSTUNREACH;
}
