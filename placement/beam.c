/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/beam.h"

#define NEXT 24u /* devices tried after one */

typedef struct Candidate {
        double nsec;
        uint32_t number;
} Candidate;

typedef struct BeamPath {
        uint32_t *stages;
        double *layers_nsec; /* the least of so many layers on its devices, with their prices */
        double hops_nsec;    /* beyond the shares */
        double bound;
        uint32_t number; /* in the order of extension, which decides between equal bounds */
} BeamPath;

typedef struct Beam {
        AldPlacementCore *core;
        AldPlacementTable *table;
        uint32_t width, n_required;
        Candidate *next; /* [device][NEXT] */
        uint32_t *n_next;
        BeamPath *paths; /* those that are extended, then the extended ones */
        uint32_t *stages;
        double *layers_nsec;
} Beam;

static void beam_clear(Beam *beam)
{
        g_free(beam->next);
        g_free(beam->n_next);
        g_free(beam->paths);
        g_free(beam->stages);
        g_free(beam->layers_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Beam, beam_clear)

static int compare_candidates(const void *a, const void *b)
{
        const Candidate *left = a, *right = b;

        if (left->nsec != right->nsec)
                return left->nsec < right->nsec ? -1 : 1;
        return (left->number > right->number) - (left->number < right->number);
}

static int compare_paths(const void *a, const void *b)
{
        const BeamPath *left = a, *right = b;

        if (left->bound != right->bound)
                return left->bound < right->bound ? -1 : 1;
        return (left->number > right->number) - (left->number < right->number);
}

static void list_next(Beam *beam)
{
        AldPlacementCore *core = beam->core;
        g_autofree Candidate *all = g_new(Candidate, core->n);

        for (uint32_t i = 0; i < core->n; i++) {
                uint32_t n = 0;

                for (uint32_t j = 0; j < core->n; j++)
                        if (ald_placement_core_hop(core, i, j) < INFINITY)
                                all[n++] = (Candidate){
                                        ald_placement_core_rest(core, i, j) + core->with_nsec[j], j
                                };
                qsort(all, n, sizeof all[0], compare_candidates);
                beam->n_next[i] = MIN(n, NEXT);
                memcpy(beam->next + (size_t) i * NEXT, all, beam->n_next[i] * sizeof all[0]);
        }
        (void) ald_placement_core_spend(core, (uint64_t) core->n * core->n);
}

static void beam_init(Beam *beam, AldPlacementCore *core, AldPlacementTable *table, uint32_t width)
{
        uint32_t n_paths = width + width * NEXT;

        *beam = (Beam){ .core = core,
                .table = table,
                .width = width,
                .next = g_new(Candidate, (size_t) core->n * NEXT),
                .n_next = g_new(uint32_t, core->n),
                .paths = g_new(BeamPath, n_paths),
                .stages = g_new(uint32_t, (size_t) n_paths * core->most),
                .layers_nsec = g_new(double, (size_t) n_paths *(core->layers + 1)) };
        for (uint32_t i = 0; i < n_paths; i++) {
                beam->paths[i].stages = beam->stages + (size_t) i * core->most;
                beam->paths[i].layers_nsec = beam->layers_nsec + (size_t) i * (core->layers + 1);
        }
        for (uint32_t i = 0; i < core->n; i++)
                beam->n_required += ald_placement_core_device(core, i)->required;
        list_next(beam);
}

static bool is_on(const BeamPath *path, uint32_t n, uint32_t device)
{
        for (uint32_t i = 0; i < n; i++)
                if (path->stages[i] == device)
                        return true;
        return false;
}

/* The path with one more device, which is stage number n. */
static void extend(Beam *beam, const BeamPath *path, uint32_t n, uint32_t device, BeamPath *ret)
{
        AldPlacementCore *core = beam->core;
        const double *others = ald_placement_table_row(beam->table, 0, core->most - n - 1);

        memcpy(ret->stages, path->stages, n * sizeof ret->stages[0]);
        ret->stages[n] = device;
        ret->hops_nsec = path->hops_nsec + ald_placement_core_rest(core, path->stages[n - 1], device);
        for (uint32_t l = 0; l <= core->layers; l++)
                ret->layers_nsec[l] = INFINITY;
        ald_placement_table_add(beam->table, core, device, path->layers_nsec, ret->layers_nsec);
        ret->bound = INFINITY;
        for (uint32_t l = 0; l <= core->layers; l++)
                ret->bound = MIN(ret->bound, ret->layers_nsec[l] + others[core->layers - l]);
        ret->bound += ret->hops_nsec + core->ends_nsec;
        (void) ald_placement_core_spend(core, 2 * core->layers);
}

static void close_path(Beam *beam, const BeamPath *path, uint32_t n, AldPlacementTour *best)
{
        AldPlacementCore *core = beam->core;
        AldPlacementTour tour = { .n = n };
        uint32_t required = 0;

        if (!(ald_placement_core_hop(core, path->stages[n - 1], path->stages[0]) < INFINITY))
                return;
        for (uint32_t i = 0; i < n; i++)
                required += ald_placement_core_device(core, path->stages[i])->required;
        if (required < beam->n_required || !(path->layers_nsec[core->layers] < INFINITY))
                return;
        memcpy(tour.stages, path->stages, n * sizeof tour.stages[0]);
        ald_placement_tour_measure(core, &tour, best->nsec);
        if (tour.nsec < best->nsec)
                ald_placement_tour_copy(best, &tour);
}

/* Of paths of n stages; returns how many of n + 1 stages are kept. */
static uint32_t extend_all(Beam *beam, uint32_t n_paths, uint32_t n, double below, AldPlacementTour *best)
{
        BeamPath *extended = beam->paths + beam->width;
        uint32_t n_extended = 0;

        for (uint32_t i = 0; i < n_paths; i++) {
                uint32_t last = beam->paths[i].stages[n - 1];

                for (uint32_t k = 0; k < beam->n_next[last]; k++) {
                        const Candidate *next = &beam->next[(size_t) last * NEXT + k];
                        BeamPath *path = &extended[n_extended];

                        if (beam->paths[i].hops_nsec + next->nsec >= below)
                                break;
                        if (is_on(&beam->paths[i], n, next->number))
                                continue;
                        extend(beam, &beam->paths[i], n, next->number, path);
                        if (path->bound >= below)
                                continue;
                        close_path(beam, path, n + 1, best);
                        path->number = n_extended++;
                }
        }
        qsort(extended, n_extended, sizeof extended[0], compare_paths);
        for (uint32_t i = 0; i < MIN(n_extended, beam->width); i++) {
                BeamPath swapped = beam->paths[i];

                beam->paths[i] = extended[i];
                extended[i] = swapped;
        }
        return MIN(n_extended, beam->width);
}

static void extend_from(Beam *beam, uint32_t start, double below, AldPlacementTour *best)
{
        AldPlacementCore *core = beam->core;
        BeamPath *path = &beam->paths[0];

        path->stages[0] = start;
        path->hops_nsec = 0;
        for (uint32_t l = 0; l <= core->layers; l++)
                path->layers_nsec[l] = INFINITY;
        ald_placement_table_add(beam->table, core, start, ald_placement_table_row(beam->table, core->n, 0),
                path->layers_nsec);
        for (uint32_t n = 1, n_paths = 1; n < core->most && n_paths > 0 && !core->given_up; n++)
                n_paths = extend_all(beam, n_paths, n, below, best);
}

void ald_placement_beam(AldPlacementCore *core, AldPlacementTable *table, uint32_t width, uint32_t n_starts,
        AldPlacementTour *best)
{
        g_autofree Candidate *starts = g_new(Candidate, core->n);
        g_auto(Beam) beam;

        beam_init(&beam, core, table, width);
        for (uint32_t i = 0; i < core->n; i++)
                starts[i] = (Candidate){ core->with_nsec[i], i };
        qsort(starts, core->n, sizeof starts[0], compare_candidates);
        for (uint32_t i = 0; i < MIN(core->n, n_starts) && starts[i].nsec < best->nsec && core->work > 0;
                i++) {
                AldPlacementTour found = { .nsec = best->nsec };

                extend_from(&beam, starts[i].number, best->nsec, &found);
                if (found.n == 0)
                        continue;
                ald_placement_tour_improve(core, &found);
                ald_placement_tour_copy(best, &found);
        }
}
