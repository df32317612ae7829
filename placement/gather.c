/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "placement/gather.h"
#include "placement/split.h"

typedef struct Gathering {
        const AldPlacementProblem *problem;
        uint32_t n;
        uint32_t *order;    /* devices grouped by node */
        uint32_t *by_speed; /* the same devices */
        uint32_t *tried, *best;
        double best_nsec;
} Gathering;

static void gathering_clear(Gathering *self)
{
        g_free(self->order);
        g_free(self->by_speed);
        g_free(self->tried);
        g_free(self->best);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Gathering, gathering_clear)

static bool is_gathered(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        for (uint32_t i = 1; i < solution->n_stages; i++) {
                uint32_t node = problem->nodes[solution->stages[i].device];

                if (problem->nodes[solution->stages[i - 1].device] == node)
                        continue;
                for (uint32_t j = 0; j < i; j++)
                        if (problem->nodes[solution->stages[j].device] == node)
                                return false;
        }
        return true;
}

/* Groups the stages by node. Nodes are in the order of their first stages; the order within a node is
 * kept. */
static void gathering_init(
        Gathering *self, const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        uint32_t n = solution->n_stages;
        g_autofree bool *taken = g_new0(bool, n);

        *self = (Gathering){ .problem = problem,
                .order = g_new(uint32_t, n),
                .tried = g_new(uint32_t, n),
                .best = g_new(uint32_t, n),
                .best_nsec = INFINITY };
        for (uint32_t i = 0; i < n; i++) {
                uint32_t node = problem->nodes[solution->stages[i].device];

                for (uint32_t j = taken[i] ? n : i; j < n; j++) {
                        if (problem->nodes[solution->stages[j].device] != node)
                                continue;
                        self->order[self->n++] = solution->stages[j].device;
                        taken[j] = true;
                }
        }
        self->by_speed = g_memdup2(self->order, n * sizeof self->order[0]);
        ald_placement_sort_by_speed(problem, self->by_speed, n);
}

static uint32_t node_at(const Gathering *self, uint32_t i)
{
        return self->problem->nodes[self->order[i % self->n]];
}

static double hops_nsec(const Gathering *self, const uint32_t *order)
{
        double nsec = ald_placement_closing(self->problem, order[self->n - 1], order[0]);

        for (uint32_t i = 0; i + 1 < self->n; i++)
                nsec += self->problem->hop_nsec[(size_t) order[i] * self->problem->n_devices + order[i + 1]];
        return nsec;
}

static void swap_stages(uint32_t *order, uint32_t i, uint32_t j)
{
        uint32_t moved = order[i];

        order[i] = order[j];
        order[j] = moved;
}

/* Tries the order rotated to begin at stage `begin`, with the stages `first` and `last` of that rotation
 * moved to its ends. */
static void try_ends(Gathering *self, uint32_t begin, uint32_t first, uint32_t last)
{
        uint32_t *order = self->tried, n = self->n;
        double nsec;

        for (uint32_t i = 0; i < n; i++)
                order[i] = self->order[(begin + i) % n];
        swap_stages(order, 0, first);
        swap_stages(order, n - 1, last);
        nsec = ald_placement_split(self->problem, self->by_speed, n, order[0], order[n - 1], NULL) +
               ald_placement_ends_nsec(self->problem, order[0], order[n - 1]) + hops_nsec(self, order);
        if (!(nsec < self->best_nsec))
                return;
        self->best_nsec = nsec;
        memcpy(self->best, order, n * sizeof order[0]);
}

bool ald_placement_order_by_node(const AldPlacementProblem *problem, AldPlacementSolution *solution)
{
        g_auto(Gathering) self = { 0 };

        gathering_init(&self, problem, solution);
        for (uint32_t begin = 0; begin < self.n; begin++) {
                if (node_at(&self, begin) == node_at(&self, begin + self.n - 1))
                        continue;
                for (uint32_t first = 0; node_at(&self, begin + first) == node_at(&self, begin); first++)
                        for (uint32_t last = self.n - 1;
                                node_at(&self, begin + last) == node_at(&self, begin + self.n - 1); last--)
                                try_ends(&self, begin, first, last);
        }
        if (isinf(self.best_nsec))
                return false;
        for (uint32_t i = 0; i < self.n; i++)
                solution->stages[i].device = self.best[i];
        ald_placement_set_layers(problem, solution->stages, self.n);
        solution->nsec = self.best_nsec;
        return true;
}

bool ald_placement_gather(const AldPlacementProblem *problem, AldPlacementSolution *solution)
{
        return is_gathered(problem, solution) || ald_placement_order_by_node(problem, solution);
}
