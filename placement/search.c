/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "placement/classes.h"
#include "placement/search.h"

#define NO_PREDECESSOR UINT32_MAX
#define RULED_OUT (UINT32_MAX - 1)

typedef struct SearchHop {
        double rest_nsec; /* beyond the shares */
        uint32_t to;
} SearchHop;

typedef struct RingSearch {
        AldPlacementCore *core;
        AldPlacementTable *table;
        double below;
        uint64_t work;
        bool complete;
        AldPlacementTour *best;
        uint32_t n_required;
        SearchHop *hops; /* of each device, [n], the cheapest first */
        uint32_t *n_hops;
        /* The device of the same class with the next lower number: of those, paths use that one first. If it
         * is ruled out, so is the other, which could take its place. */
        uint32_t *predecessor;
        double *home_nsec;     /* from each device, the cheapest way to the first one beyond the shares */
        AldPlacementTour path; /* begins at the fastest of its devices, so that it is not found again */
        double *layers_nsec;   /* [stages][layers]: the least on the devices of the path, with their prices */
} RingSearch;

static void search_clear(RingSearch *search)
{
        g_free(search->hops);
        g_free(search->n_hops);
        g_free(search->predecessor);
        g_free(search->home_nsec);
        g_free(search->layers_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RingSearch, search_clear)

static int compare_hops(const void *a, const void *b)
{
        const SearchHop *left = a, *right = b;

        if (left->rest_nsec != right->rest_nsec)
                return left->rest_nsec < right->rest_nsec ? -1 : 1;
        return (left->to > right->to) - (left->to < right->to);
}

static void find_predecessors(RingSearch *search)
{
        const AldPlacementProblem *problem = search->core->problem;
        g_autofree uint32_t *class_of = g_new(uint32_t, problem->n_devices);
        g_autofree uint32_t *latest = g_new(uint32_t, problem->n_devices); /* of each class */
        g_autofree uint32_t *left = g_new(uint32_t, problem->n_devices);   /* numbers in the core */

        ald_placement_find_classes(problem, class_of);
        search->predecessor = g_new(uint32_t, search->core->n);
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                left[i] = RULED_OUT;
                latest[i] = NO_PREDECESSOR;
        }
        for (uint32_t i = 0; i < search->core->n; i++)
                left[search->core->devices[i]] = i;
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                if (left[i] != RULED_OUT)
                        search->predecessor[left[i]] = latest[class_of[i]];
                latest[class_of[i]] = left[i];
        }
}

static void search_init(RingSearch *search)
{
        AldPlacementCore *core = search->core;
        size_t n = core->n;

        search->hops = g_new(SearchHop, n * n);
        search->n_hops = g_new0(uint32_t, n);
        search->home_nsec = g_new(double, n);
        search->layers_nsec = g_new(double, (size_t) (core->most + 1) * (core->layers + 1));
        for (uint32_t i = 0; i < n; i++) {
                SearchHop *hops = search->hops + i * n;

                for (uint32_t j = 0; j < n; j++)
                        if (ald_placement_core_hop(core, i, j) < INFINITY)
                                hops[search->n_hops[i]++] = (SearchHop){
                                        fmax(0, ald_placement_core_rest(core, i, j)), j
                                };
                qsort(hops, search->n_hops[i], sizeof hops[0], compare_hops);
                search->n_required += ald_placement_core_device(core, i)->required;
        }
        find_predecessors(search);
}

static bool spend(RingSearch *search, uint64_t work)
{
        if (search->work < work || !ald_placement_core_proceeds(search->core, work))
                search->complete = false;
        search->work -= MIN(search->work, work);
        return search->complete;
}

/* Through devices that are slower than the first; by relaxation until nothing changes, as hops are few. */
static bool find_ways_home(RingSearch *search, uint32_t first)
{
        uint32_t n = search->core->n;
        bool changed = true;

        for (uint32_t i = 0; i < n; i++)
                search->home_nsec[i] = i == first ? 0 : INFINITY;
        while (changed) {
                uint64_t hops = n;

                changed = false;
                for (uint32_t i = first + 1; i < n; i++) {
                        double least = search->home_nsec[i];

                        hops += search->n_hops[i];
                        for (uint32_t k = 0; k < search->n_hops[i]; k++) {
                                const SearchHop *hop = &search->hops[(size_t) i * n + k];

                                if (hop->rest_nsec >= least)
                                        break;
                                least = MIN(least, hop->rest_nsec + search->home_nsec[hop->to]);
                        }
                        changed |= least < search->home_nsec[i];
                        search->home_nsec[i] = least;
                }
                if (!spend(search, hops))
                        return false;
        }
        return true;
}

static double *layers_of(const RingSearch *search, uint32_t stages)
{
        return search->layers_nsec + (size_t) stages * (search->core->layers + 1);
}

/* Adds the device to the times of the path's layers; returns the bound without hops. */
static double bound_with(RingSearch *search, uint32_t device, const double *before)
{
        AldPlacementCore *core = search->core;
        uint32_t n = search->path.n;
        double *with = layers_of(search, n + 1), least = INFINITY;
        const double *others = ald_placement_table_row(
                search->table, search->path.stages[0] + 1, core->most - n - 1);

        for (uint32_t l = 0; l <= core->layers; l++)
                with[l] = INFINITY;
        ald_placement_table_add(search->table, core, device, before, with);
        for (uint32_t l = 0; l <= core->layers; l++)
                least = MIN(least, with[l] + others[core->layers - l]);
        return least + core->ends_nsec;
}

static void close_ring(RingSearch *search)
{
        AldPlacementCore *core = search->core;
        AldPlacementTour *path = &search->path;
        uint32_t required = 0;

        if (!(ald_placement_core_hop(core, path->stages[path->n - 1], path->stages[0]) < INFINITY))
                return;
        for (uint32_t i = 0; i < path->n; i++)
                required += ald_placement_core_device(core, path->stages[i])->required;
        if (required < search->n_required)
                return;
        ald_placement_tour_measure(core, path, search->best->nsec);
        if (path->nsec < search->best->nsec && path->nsec < core->penalty_nsec)
                ald_placement_tour_copy(search->best, path);
        search->below = MIN(search->below, search->best->nsec);
}

static bool may_follow(const RingSearch *search, uint32_t device)
{
        bool in_turn = search->predecessor[device] == NO_PREDECESSOR;

        for (uint32_t i = 0; i < search->path.n; i++) {
                if (search->path.stages[i] == device)
                        return false;
                in_turn |= search->path.stages[i] == search->predecessor[device];
        }
        return in_turn;
}

/* hops_nsec: of the path, beyond the shares; bound: of all rings that go on from it. */
static void extend_path(RingSearch *search, double hops_nsec, double bound)
{
        AldPlacementCore *core = search->core;
        AldPlacementTour *path = &search->path;
        uint32_t last = path->stages[path->n - 1];

        for (uint32_t k = 0; k < search->n_hops[last] && path->n < core->most; k++) {
                const SearchHop *hop = &search->hops[(size_t) last * core->n + k];
                double hops = hops_nsec + hop->rest_nsec, home = search->home_nsec[hop->to], least;

                if (bound + hop->rest_nsec >= search->below)
                        break;
                if (hop->to <= path->stages[0] || bound + hop->rest_nsec + home >= search->below ||
                        hops + home + core->with_nsec[hop->to] >= search->below ||
                        !may_follow(search, hop->to))
                        continue;
                if (!spend(search, 2 * core->layers))
                        return;
                least = bound_with(search, hop->to, layers_of(search, path->n)) + hops;
                if (least + home >= search->below)
                        continue;
                path->stages[path->n++] = hop->to;
                close_ring(search);
                extend_path(search, hops, least);
                path->n--;
                if (!search->complete)
                        return;
        }
}

static void search_from(RingSearch *search, uint32_t first)
{
        const double *none = ald_placement_table_row(search->table, search->core->n, 0);
        double bound;

        search->path.n = 0;
        search->path.stages[0] = first;
        if (!may_follow(search, first))
                return;
        bound = bound_with(search, first, none);
        if (bound >= search->below || !find_ways_home(search, first))
                return;
        search->path.n = 1;
        extend_path(search, 0, bound);
}

bool ald_placement_search(AldPlacementCore *core, AldPlacementTable *table, double below_nsec, uint64_t work,
        AldPlacementTour *best)
{
        g_auto(RingSearch) search = { .core = core,
                .table = table,
                .below = MIN(below_nsec, best->nsec),
                .work = MIN(work, core->work),
                .complete = true,
                .best = best };
        uint64_t allowed = search.work;

        search_init(&search);
        for (uint32_t first = 0; first < core->n && search.complete; first++) {
                if (ald_placement_table_row(table, first, core->most)[core->layers] + core->ends_nsec >=
                        search.below)
                        break;
                search_from(&search, first);
                /* All others lack it. */
                if (ald_placement_core_device(core, first)->required)
                        break;
        }
        (void) ald_placement_core_spend(core, allowed - search.work);
        return search.complete;
}
