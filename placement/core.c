/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/core.h"
#include "placement/split.h"

#define ASK_AFTER UINT64_C(1000000) /* work that takes some ms */

static double cheapest_from(const AldPlacementCore *core, uint32_t i, const double *into_nsec)
{
        const double *hops = &core->hop_nsec[(size_t) i * core->n];
        double least = INFINITY;

        for (uint32_t j = 0; j < core->n; j++)
                if (hops[j] < INFINITY)
                        least = MIN(least, hops[j] - (into_nsec ? into_nsec[j] : 0));
        return least;
}

void ald_placement_core_share(AldPlacementCore *core)
{
        for (uint32_t i = 0; i < core->n; i++)
                core->into_nsec[i] = INFINITY;
        for (uint32_t i = 0; i < core->n; i++) {
                const double *hops = &core->hop_nsec[(size_t) i * core->n];
                double out = core->out_nsec[i];

                for (uint32_t j = 0; out < INFINITY && j < core->n; j++)
                        core->into_nsec[j] = MIN(core->into_nsec[j], hops[j] - out);
        }
}

/* Sets ends_nsec to a lower bound: the best first device, the best last device and the best closing hop,
 * which need not belong to one ring. */
static void find_ends(AldPlacementCore *core)
{
        const AldPlacementProblem *problem = core->problem;
        double first = INFINITY, last = INFINITY, saved = 0;

        core->ends_nsec = 0;
        if (!core->problem->ends || core->n == 0)
                return;
        for (uint32_t i = 0; i < core->n; i++) {
                first = fmin(first, core->problem->ends[core->devices[i]].first_nsec);
                last = fmin(last, core->problem->ends[core->devices[i]].last_nsec);
        }
        for (uint32_t i = 0; ald_placement_has_closing_cost(problem) && i < core->n; i++)
                for (uint32_t j = 0; j < core->n; j++) {
                        double hop = ald_placement_core_hop(core, i, j);

                        if (hop < INFINITY)
                                saved = fmax(saved, hop - ald_placement_closing(problem, core->devices[i],
                                                                  core->devices[j]));
                }
        core->ends_nsec = first + last - saved;
}

static double find_penalty(const AldPlacementCore *core)
{
        const AldPlacementProblem *problem = core->problem;
        double slowest = 0, hop = 0, ends = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                slowest = fmax(slowest, problem->devices[i].layer_nsec);
                if (problem->ends)
                        ends = fmax(ends, problem->ends[i].first_nsec + problem->ends[i].last_nsec);
        }
        for (size_t i = 0; i < (size_t) problem->n_devices * problem->n_devices; i++) {
                if (problem->hop_nsec[i] < INFINITY)
                        hop = fmax(hop, problem->hop_nsec[i]);
                if (ald_placement_has_closing_cost(problem) && problem->closing_nsec[i] < INFINITY)
                        hop = fmax(hop, problem->closing_nsec[i]);
        }
        return 1 + 2 * (core->layers * slowest + core->most * hop + 2 * ends);
}

/* Fills hop_nsec for the devices in the order of their speed. There is no hop from a device to itself; one
 * that can only close a ring costs what it costs then. */
static void copy_hops(AldPlacementCore *core)
{
        const AldPlacementProblem *problem = core->problem;

        for (uint32_t i = 0; i < core->n; i++)
                for (uint32_t j = 0; j < core->n; j++) {
                        uint32_t from = core->devices[i], to = core->devices[j];
                        double hop = i == j ? INFINITY
                                            : problem->hop_nsec[(size_t) from * problem->n_devices + to];

                        core->hop_nsec[(size_t) i * core->n + j] = i == j || hop < INFINITY
                                                                           ? hop
                                                                           : ald_placement_closing(
                                                                                     problem, from, to);
                }
}

static void reset_shares(AldPlacementCore *core)
{
        for (uint32_t i = 0; i < core->n; i++)
                core->out_nsec[i] = cheapest_from(core, i, NULL) / 2;
        ald_placement_core_share(core);
        for (uint32_t i = 0; i < core->n; i++)
                core->out_nsec[i] = cheapest_from(core, i, core->into_nsec);
}

void ald_placement_core_init(AldPlacementCore *core, const AldPlacementProblem *problem, uint64_t work)
{
        uint32_t n = problem->n_devices;

        *core = (AldPlacementCore){ .problem = problem,
                .layers = problem->layers,
                .most = ald_placement_stages_max(problem),
                .devices = g_new(uint32_t, n),
                .hop_nsec = g_new(double, (size_t) n *n),
                .out_nsec = g_new(double, n),
                .into_nsec = g_new(double, n),
                .with_nsec = g_new0(double, n),
                .work = work };
        for (uint32_t i = 0; i < n; i++)
                if (problem->devices[i].layers_max >= ald_placement_layers_min(problem))
                        core->devices[core->n++] = i;
        ald_placement_sort_by_speed(problem, core->devices, core->n);
        copy_hops(core);
        find_ends(core);
        core->penalty_nsec = find_penalty(core);
        reset_shares(core);
}

void ald_placement_core_limit_saved(AldPlacementCore *core, double saved_nsec)
{
        for (uint32_t i = 0; i < core->n; i++)
                for (uint32_t j = 0; j < core->n; j++) {
                        double *hop = &core->hop_nsec[(size_t) i * core->n + j];
                        double closing = ald_placement_closing(
                                core->problem, core->devices[i], core->devices[j]);

                        if (*hop < INFINITY)
                                *hop = fmin(*hop, closing + saved_nsec);
                }
        find_ends(core);
        reset_shares(core);
}

void ald_placement_core_clear(AldPlacementCore *core)
{
        g_free(core->devices);
        g_free(core->hop_nsec);
        g_free(core->out_nsec);
        g_free(core->into_nsec);
        g_free(core->with_nsec);
}

bool ald_placement_core_proceeds(AldPlacementCore *core, uint64_t work)
{
        core->unasked += work;
        if (!core->given_up && core->unasked >= ASK_AFTER) {
                core->unasked = 0;
                core->given_up = !ald_placement_proceeds(core->problem);
        }
        return !core->given_up;
}

bool ald_placement_core_spend(AldPlacementCore *core, uint64_t work)
{
        bool enough = ald_placement_core_proceeds(core, work) && core->work >= work;

        core->work -= core->given_up ? core->work : MIN(core->work, work);
        return enough;
}

bool ald_placement_core_rule_out(AldPlacementCore *core, double nsec)
{
        g_autofree uint32_t *kept = g_new(uint32_t, core->n);
        uint32_t n = core->n, left = 0;

        for (uint32_t i = 0; i < n; i++)
                if (core->with_nsec[i] < nsec || ald_placement_core_device(core, i)->required)
                        kept[left++] = i;
        /* The matrix shrinks in place, since rows and columns only move towards its beginning. */
        for (uint32_t i = 0; i < left; i++)
                for (uint32_t j = 0; j < left; j++) {
                        uint32_t from = kept[i], to = kept[j];
                        double least = fmax(core->with_nsec[from], core->with_nsec[to]) +
                                       ald_placement_core_rest(core, from, to);

                        core->hop_nsec[(size_t) i * left + j] = least < nsec ? ald_placement_core_hop(
                                                                                       core, from, to)
                                                                             : INFINITY;
                }
        for (uint32_t i = 0; i < left; i++) {
                core->devices[i] = core->devices[kept[i]];
                core->out_nsec[i] = core->out_nsec[kept[i]];
                core->into_nsec[i] = core->into_nsec[kept[i]];
                core->with_nsec[i] = core->with_nsec[kept[i]];
        }
        core->n = left;
        find_ends(core);
        return left < n;
}
