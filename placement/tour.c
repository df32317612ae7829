/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/split.h"
#include "placement/tour.h"

#define BETTER (1 - 1e-12) /* factor below the best time so far; smaller differences are rounding errors */

void ald_placement_tour_copy(AldPlacementTour *to, const AldPlacementTour *from)
{
        to->n = from->n;
        to->nsec = from->nsec;
        memcpy(to->stages, from->stages, from->n * sizeof from->stages[0]);
}

static double hops_nsec(const AldPlacementCore *core, const AldPlacementTour *tour)
{
        double nsec = 0;

        for (uint32_t i = 0; i < tour->n && tour->n > 1; i++) {
                double hop = ald_placement_core_hop(
                        core, tour->stages[i], tour->stages[i + 1 < tour->n ? i + 1 : 0]);

                nsec += MIN(hop, core->penalty_nsec);
        }
        return nsec;
}

/* Returns the time of the layers on devices sorted by speed, which is the order of their numbers, with
 * penalties for missing room. */
static double layers_nsec(
        const AldPlacementCore *core, const uint32_t *sorted, uint32_t n, uint32_t first, uint32_t last)
{
        uint32_t least = ald_placement_layers_min(core->problem), left = core->layers - n * least;
        double nsec = 0;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t most = ald_placement_layers_max(
                        core->problem, core->devices[sorted[i]], first, last);
                uint32_t more = MIN(left, MAX(most, least) - least);

                left -= more;
                nsec += (least + more) * ald_placement_core_device(core, sorted[i])->layer_nsec +
                        (most < least ? core->penalty_nsec : 0);
        }
        return nsec + left * core->penalty_nsec;
}

static uint32_t stage_before(const AldPlacementTour *tour, uint32_t i)
{
        return tour->stages[i > 0 ? i - 1 : tour->n - 1];
}

/* Returns the cost of a hop that does not close the ring, which may be less in the core. */
static double onward_nsec(const AldPlacementCore *core, uint32_t from, uint32_t to)
{
        const AldPlacementProblem *problem = core->problem;
        size_t at = (size_t) core->devices[from] * problem->n_devices + core->devices[to];
        bool is_ruled_out = isinf(ald_placement_core_hop(core, from, to));

        return is_ruled_out ? core->penalty_nsec : fmin(problem->hop_nsec[at], core->penalty_nsec);
}

static double measure_with_ends(
        const AldPlacementCore *core, const AldPlacementTour *tour, const uint32_t *sorted)
{
        bool otherwise = tour->n > 1 && ald_placement_has_closing_cost(core->problem);
        double least = INFINITY, hops = otherwise ? 0 : hops_nsec(core, tour);

        for (uint32_t i = 0; otherwise && i < tour->n; i++)
                hops += onward_nsec(core, stage_before(tour, i), tour->stages[i]);
        for (uint32_t i = 0; i < tour->n; i++) {
                uint32_t first = core->devices[tour->stages[i]], last = core->devices[stage_before(tour, i)];
                double nsec = hops + ald_placement_ends_nsec(core->problem, first, last) +
                              layers_nsec(core, sorted, tour->n, first, last);

                if (otherwise)
                        nsec += fmin(ald_placement_closing(core->problem, last, first), core->penalty_nsec) -
                                onward_nsec(core, stage_before(tour, i), tour->stages[i]);
                least = MIN(least, nsec);
        }
        return least;
}

void ald_placement_tour_measure(const AldPlacementCore *core, AldPlacementTour *tour, double enough)
{
        uint32_t sorted[ALD_PLACEMENT_STAGES_LIMIT];
        /* ends_nsec allows for what closing saves, so it may be negative. */
        tour->nsec = hops_nsec(core, tour) + fmin(core->ends_nsec, 0);
        if (tour->nsec >= enough)
                return;
        for (uint32_t i = 0; i < tour->n; i++) {
                uint32_t at = i;

                for (; at > 0 && sorted[at - 1] > tour->stages[i]; at--)
                        sorted[at] = sorted[at - 1];
                sorted[at] = tour->stages[i];
        }
        tour->nsec = hops_nsec(core, tour) + core->ends_nsec +
                     layers_nsec(core, sorted, tour->n, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END);
        /* Measure again with the ends, which leave less room and take more time. */
        if (core->problem->ends && tour->nsec < enough)
                tour->nsec = measure_with_ends(core, tour, sorted);
}

static bool contains_device(const AldPlacementTour *tour, uint32_t device)
{
        for (uint32_t i = 0; i < tour->n; i++)
                if (tour->stages[i] == device)
                        return true;
        return false;
}

static void insert_stage(AldPlacementTour *tour, uint32_t at, uint32_t device)
{
        memmove(tour->stages + at + 1, tour->stages + at, (tour->n - at) * sizeof tour->stages[0]);
        tour->stages[at] = device;
        tour->n++;
}

static void try_tour(AldPlacementCore *core, AldPlacementTour *tried, AldPlacementTour *best)
{
        if (!ald_placement_core_spend(core, 8 + 2 * tried->n))
                return;
        ald_placement_tour_measure(core, tried, best->nsec * BETTER);
        if (tried->nsec < best->nsec * BETTER)
                ald_placement_tour_copy(best, tried);
}

void ald_placement_tour_insert(
        AldPlacementCore *core, const uint32_t *devices, uint32_t n, AldPlacementTour *ret)
{
        AldPlacementTour tried;

        ret->n = 0;
        for (uint32_t i = 0; i < n; i++) {
                AldPlacementTour best = { .nsec = INFINITY };

                if (!ald_placement_core_proceeds(core, (uint64_t) ret->n * ret->n * ret->n))
                        return;
                for (uint32_t at = 0; at <= ret->n; at++) {
                        ald_placement_tour_copy(&tried, ret);
                        insert_stage(&tried, at, devices[i]);
                        ald_placement_tour_measure(core, &tried, INFINITY);
                        if (tried.nsec < best.nsec)
                                ald_placement_tour_copy(&best, &tried);
                }
                ald_placement_tour_copy(ret, &best);
        }
}

static bool is_required(const AldPlacementCore *core, uint32_t device)
{
        return ald_placement_core_device(core, device)->required;
}

/* Tries the device in addition, and in place of each other one. */
static void try_device(
        AldPlacementCore *core, const AldPlacementTour *tour, uint32_t device, AldPlacementTour *best)
{
        AldPlacementTour tried;

        for (uint32_t at = 0; at <= tour->n && tour->n < core->most; at++) {
                ald_placement_tour_copy(&tried, tour);
                insert_stage(&tried, at, device);
                try_tour(core, &tried, best);
        }
        for (uint32_t at = 0; at < tour->n; at++) {
                if (is_required(core, tour->stages[at]))
                        continue;
                ald_placement_tour_copy(&tried, tour);
                tried.stages[at] = device;
                try_tour(core, &tried, best);
        }
}

static void try_fewer(AldPlacementCore *core, const AldPlacementTour *tour, AldPlacementTour *best)
{
        AldPlacementTour tried;

        for (uint32_t at = 0; at < tour->n && tour->n > 1; at++) {
                if (is_required(core, tour->stages[at]))
                        continue;
                ald_placement_tour_copy(&tried, tour);
                tried.n--;
                memmove(tried.stages + at, tried.stages + at + 1, (tried.n - at) * sizeof tried.stages[0]);
                try_tour(core, &tried, best);
        }
}

void ald_placement_tour_improve(AldPlacementCore *core, AldPlacementTour *tour)
{
        AldPlacementTour best;

        ald_placement_tour_copy(&best, tour);
        do {
                ald_placement_tour_copy(tour, &best);
                for (uint32_t i = 0; i < core->n; i++)
                        if (!contains_device(tour, i))
                                try_device(core, tour, i, &best);
                try_fewer(core, tour, &best);
        } while (best.nsec < tour->nsec);
}

void ald_placement_tour_keep(
        const AldPlacementCore *core, const AldPlacementTour *tour, AldPlacementTour *best)
{
        if (!(tour->nsec < core->penalty_nsec && tour->nsec < best->nsec))
                return;
        ald_placement_tour_copy(best, tour);
        for (uint32_t i = 0; i < best->n; i++)
                best->stages[i] = core->devices[tour->stages[i]];
}
