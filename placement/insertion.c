/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "placement/insertion.h"
#include "placement/split.h"

typedef struct Insertion {
        const AldPlacementProblem *problem;
        const uint32_t *order;
        uint32_t n, device;
        uint32_t *by_speed; /* all devices of the order, and the inserted one */
        double best_nsec;
        uint32_t best_at; /* number of devices before the inserted one */
        bool fits;
} Insertion;

static double hop_nsec(const Insertion *self, uint32_t from, uint32_t to)
{
        return self->problem->hop_nsec[(size_t) from * self->problem->n_devices + to];
}

static uint32_t stage_at(const Insertion *self, uint32_t at, uint32_t i)
{
        return i < at ? self->order[i] : i == at ? self->device : self->order[i - 1];
}

static uint32_t node_at(const Insertion *self, uint32_t i)
{
        return self->problem->nodes[self->order[i]];
}

/* Returns whether the device may be inserted at this place if the devices of each node must follow each
 * other. */
static bool keeps_together(const Insertion *self, uint32_t at)
{
        uint32_t node;

        if (!self->problem->nodes_together)
                return true;
        node = self->problem->nodes[self->device];
        if ((at > 0 && node_at(self, at - 1) == node) || (at < self->n && node_at(self, at) == node))
                return true;
        for (uint32_t i = 0; i < self->n; i++)
                if (node_at(self, i) == node)
                        return false;
        return at == 0 || at == self->n || node_at(self, at - 1) != node_at(self, at);
}

/* Returns the least sum of hops with the device at one of these places, and that place. */
static double least_hops(const Insertion *self, uint32_t begin, uint32_t end, uint32_t *ret_at)
{
        double least = INFINITY;

        for (uint32_t at = begin; at <= end; at++) {
                double nsec = ald_placement_closing(
                        self->problem, stage_at(self, at, self->n), stage_at(self, at, 0));

                if (!keeps_together(self, at))
                        continue;
                for (uint32_t i = 0; i < self->n; i++)
                        nsec += hop_nsec(self, stage_at(self, at, i), stage_at(self, at, i + 1));
                if (nsec < least) {
                        least = nsec;
                        *ret_at = at;
                }
        }
        return least;
}

/* Tries the device at the best of these places, with these ends of the ring. */
static void try_places(Insertion *self, uint32_t begin, uint32_t end, uint32_t first, uint32_t last)
{
        uint32_t at = begin;
        double layers_nsec = ald_placement_split(
                self->problem, self->by_speed, self->n + 1, first, last, NULL);
        double nsec;

        if (isinf(layers_nsec))
                return;
        self->fits = true;
        nsec = layers_nsec + ald_placement_ends_nsec(self->problem, first, last) +
               least_hops(self, begin, end, &at);
        if (!(nsec < self->best_nsec))
                return;
        self->best_nsec = nsec;
        self->best_at = at;
}

static void build_solution(const Insertion *self, AldPlacementSolution *ret)
{
        *ret = (AldPlacementSolution){ .stages = g_new0(AldPlacementStage, self->n + 1),
                .n_stages = self->n + 1,
                .nsec = self->best_nsec };
        for (uint32_t i = 0; i <= self->n; i++)
                ret->stages[i].device = stage_at(self, self->best_at, i);
        ald_placement_set_layers(self->problem, ret->stages, ret->n_stages);
}

int ald_placement_insert(const AldPlacementProblem *problem, const uint32_t *order, uint32_t n,
        uint32_t device, AldPlacementSolution *ret)
{
        g_autofree uint32_t *by_speed = g_new(uint32_t, n + 1);
        Insertion self = { problem, order, n, device, by_speed, .best_nsec = INFINITY };
        uint32_t first = order[0], last = order[n - 1];

        if (n + 1 > ald_placement_stages_max(problem))
                return -ENOSPC;
        memcpy(by_speed, order, n * sizeof *order);
        by_speed[n] = device;
        if (problem->nodes_max > 0 &&
                ald_placement_count_nodes(problem, by_speed, n + 1) > problem->nodes_max)
                return -ENOSPC;
        if (problem->nodes_even && !ald_placement_is_even(problem, by_speed, n + 1))
                return -ENOSPC;
        ald_placement_sort_by_speed(problem, by_speed, n + 1);
        if (n > 1)
                try_places(&self, 1, n - 1, first, last);
        try_places(&self, 0, 0, device, last);
        try_places(&self, n, n, first, device);
        if (!(self.best_nsec < INFINITY))
                return self.fits ? -EHOSTUNREACH : -ENOSPC;
        build_solution(&self, ret);
        return 0;
}
