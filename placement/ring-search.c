/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "placement/classes.h"
#include "placement/ring-search.h"

#define NO_PREDECESSOR UINT32_MAX
#define RULED_OUT (UINT32_MAX - 1)
#define NEAR 32u /* devices whose cheapest way back is kept individually */

typedef struct SearchHop {
        double rest_nsec; /* cost beyond the shares */
        uint32_t to;
} SearchHop;

typedef struct SearchPath {
        const struct SearchPath *before; /* the path without its last device; NULL if it has only one */
        uint32_t first, last, n, n_required;
        uint64_t set;        /* hash of its devices, independent of their order, to find equal sets */
        double hops_nsec;    /* beyond the shares, with the first end and the least cost of closing */
        double least_nsec;   /* of all rings that continue it, at the least cost of closing */
        double bound;        /* the same with the way back */
        double *layers_nsec; /* [layers]: the least time of layers on its devices, with their prices */
        uint32_t number;     /* in the order of creation, as a tie-breaker of equal bounds */
} SearchPath;

typedef struct SearchNext {
        double bound; /* of rings that continue with this hop */
        const SearchHop *hop;
} SearchNext;

typedef struct RingSearch {
        AldPlacementCore *core;
        AldPlacementTable *table;
        AldPlacementTour *best;
        uint32_t width, n_required;
        uint64_t spare;  /* work that must not be spent */
        SearchHop *hops; /* [from][n], the cheapest first */
        uint32_t *n_hops;
        /* The device of the same class with the next lower number, which paths use first. If it is ruled out,
         * so is this device, which could take its place. */
        uint32_t *predecessor;
        double *rest_nsec;    /* [to][from]: of hops, beyond the shares */
        double *closing_nsec; /* of each first device: the least closing hop beyond the shares, with the last
                                 end */
        double **back_nsec;   /* [first][from]: what the way back takes beyond closing_nsec; NULL for a first
                                 device that was not tried */
        double *way_nsec;
        uint32_t *on_path, n_marked; /* a device is on the path marked last if it has this number */
        SearchPath *kept;            /* [stages][width] */
        SearchPath *extended;        /* at most 2 × width */
        uint32_t n_extended, n_numbered;
        SearchNext *next; /* after one path, in ascending order of bounds */
        uint32_t n_next, next_max;
        double *rows;       /* memory for layers_nsec */
        double **free_rows; /* rows of paths that are finished */
        uint32_t n_free_rows;
        double limit; /* paths with this bound or a greater one need not be kept */
        double left;  /* the least bound of the paths that were not kept */
} RingSearch;

static void search_clear(RingSearch *search)
{
        for (uint32_t i = 0; i < search->core->n; i++)
                g_free(search->back_nsec[i]);
        g_free(search->hops);
        g_free(search->n_hops);
        g_free(search->predecessor);
        g_free(search->rest_nsec);
        g_free(search->closing_nsec);
        g_free(search->back_nsec);
        g_free(search->way_nsec);
        g_free(search->on_path);
        g_free(search->kept);
        g_free(search->extended);
        g_free(search->next);
        g_free(search->rows);
        g_free(search->free_rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RingSearch, search_clear)

static int compare_hops(const void *a, const void *b)
{
        const SearchHop *left = a, *right = b;

        if (left->rest_nsec != right->rest_nsec)
                return left->rest_nsec < right->rest_nsec ? -1 : 1;
        return (left->to > right->to) - (left->to < right->to);
}

static int compare_bounds(const void *a, const void *b)
{
        const SearchPath *left = a, *right = b;

        if (left->bound != right->bound)
                return left->bound < right->bound ? -1 : 1;
        return (left->number > right->number) - (left->number < right->number);
}

/* Sorts paths that have the same ends and pass through the same devices next to each other, the shortest
 * first. */
static int compare_ways(const void *a, const void *b)
{
        const SearchPath *left = a, *right = b;

        if (left->first != right->first)
                return left->first < right->first ? -1 : 1;
        if (left->last != right->last)
                return left->last < right->last ? -1 : 1;
        if (left->set != right->set)
                return left->set < right->set ? -1 : 1;
        if (left->hops_nsec != right->hops_nsec)
                return left->hops_nsec < right->hops_nsec ? -1 : 1;
        return (left->number > right->number) - (left->number < right->number);
}

static void find_predecessors(RingSearch *search)
{
        const AldPlacementProblem *problem = search->core->problem;
        g_autofree uint32_t *class_of = g_new(uint32_t, problem->n_devices);
        g_autofree uint32_t *latest = g_new(uint32_t, problem->n_devices); /* of each class */
        g_autofree uint32_t *left = g_new(uint32_t, problem->n_devices);   /* number in the core */

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

/* Returns the lowest number of a device that may follow. Without ends, paths begin at the fastest device of a
 * ring, so that no ring is found twice. */
static uint32_t first_after(const RingSearch *search, uint32_t first)
{
        return search->core->problem->ends ? 0 : first + 1;
}

/* Returns what a closing hop takes beyond the shares, with the last end. */
static double close_nsec(const RingSearch *search, uint32_t last, uint32_t first)
{
        const AldPlacementCore *core = search->core;
        const AldPlacementEnds *ends = core->problem->ends;
        double nsec = ald_placement_closing(core->problem, core->devices[last], core->devices[first]);

        if (isinf(ald_placement_core_hop(core, last, first)))
                return INFINITY;
        return nsec - core->out_nsec[last] - core->into_nsec[first] +
               (ends ? ends[core->devices[last]].last_nsec : 0);
}

static void measure_hop(RingSearch *search, uint32_t from, uint32_t to)
{
        const AldPlacementCore *core = search->core;
        const AldPlacementProblem *problem = core->problem;
        double *rest = &search->rest_nsec[(size_t) to * core->n + from];

        *rest = INFINITY;
        if (isinf(ald_placement_core_hop(core, from, to)))
                return;
        *rest = problem->hop_nsec[(size_t) core->devices[from] * problem->n_devices + core->devices[to]] -
                core->out_nsec[from] - core->into_nsec[to];
        *rest = fmax(*rest, 0);
        if (*rest < INFINITY)
                search->hops[(size_t) from * core->n + search->n_hops[from]++] = (SearchHop){ *rest, to };
        if (from >= first_after(search, to))
                search->closing_nsec[to] = fmin(search->closing_nsec[to], close_nsec(search, from, to));
}

static void search_init(RingSearch *search)
{
        AldPlacementCore *core = search->core;
        size_t n = core->n, n_rows = (size_t) 3 * search->width, cells = core->layers + 1;

        search->hops = g_new(SearchHop, n * n);
        search->n_hops = g_new0(uint32_t, n);
        search->rest_nsec = g_new(double, n *n);
        search->closing_nsec = g_new(double, n);
        search->back_nsec = g_new0(double *, n);
        search->way_nsec = g_new(double, n);
        search->on_path = g_new0(uint32_t, n);
        search->kept = g_new(SearchPath, (size_t) core->most * search->width);
        search->extended = g_new(SearchPath, (size_t) 2 * search->width);
        search->next_max = MAX(search->width / 10, 1);
        search->next = g_new(SearchNext, search->next_max);
        search->rows = g_new(double, n_rows *cells);
        search->free_rows = g_new(double *, n_rows);
        for (size_t i = 0; i < n_rows; i++)
                search->free_rows[search->n_free_rows++] = search->rows + i * cells;
        for (uint32_t i = 0; i < n; i++)
                search->closing_nsec[i] = INFINITY;
        for (uint32_t i = 0; i < n; i++) {
                for (uint32_t j = 0; j < n; j++)
                        measure_hop(search, i, j);
                qsort(search->hops + i * n, search->n_hops[i], sizeof search->hops[0], compare_hops);
                search->n_required += ald_placement_core_device(core, i)->required;
        }
        (void) ald_placement_core_spend(core, 4 * n * n);
        find_predecessors(search);
}

/* Finds the cheapest ways back to the first device by Dijkstra's algorithm; the farthest devices share one
 * bound. */
static void find_ways_back(RingSearch *search, uint32_t first)
{
        uint32_t n = search->core->n, begin = first_after(search, first), found = 0, at = first;
        double *back = search->back_nsec[first] = g_new(double, n), *way = search->way_nsec, nsec = INFINITY;

        for (uint32_t i = begin; i < n; i++) {
                way[i] = i == first ? INFINITY : close_nsec(search, i, first) - search->closing_nsec[first];
                back[i] = INFINITY;
                if (way[i] < nsec) {
                        nsec = way[i];
                        at = i;
                }
        }
        for (; found < NEAR && nsec < INFINITY; found++) {
                const double *rest = search->rest_nsec + (size_t) at * n;
                double least = INFINITY;

                back[at] = nsec;
                for (uint32_t i = begin; i < n; i++) {
                        way[i] = MIN(way[i], nsec + rest[i]);
                        if (way[i] < least && isinf(back[i]) && i != first) {
                                least = way[i];
                                at = i;
                        }
                }
                nsec = least;
        }
        for (uint32_t i = begin; i < n; i++)
                back[i] = MIN(back[i], nsec);
        (void) ald_placement_core_spend(search->core, (uint64_t) (found + 8) * n / 4);
}

static bool may_follow(const RingSearch *search, uint32_t device)
{
        uint32_t predecessor = search->predecessor[device];

        if (search->on_path[device] == search->n_marked)
                return false;
        return predecessor == NO_PREDECESSOR ||
               (predecessor != RULED_OUT && search->on_path[predecessor] == search->n_marked);
}

static void mark_path(RingSearch *search, const SearchPath *path)
{
        search->n_marked++;
        for (; path; path = path->before)
                search->on_path[path->last] = search->n_marked;
}

static void note_dropped(RingSearch *search, double bound)
{
        search->left = MIN(search->left, bound);
}

/* Returns whether both paths have the same ends and pass through the same devices. */
static bool are_alike(const SearchPath *path, const SearchPath *other)
{
        if (path->first != other->first || path->last != other->last || path->set != other->set)
                return false;
        for (; path; path = path->before) {
                const SearchPath *at = other;

                while (at && at->last != path->last)
                        at = at->before;
                if (!at)
                        return false;
        }
        return true;
}

/* Keeps the paths with the lowest bounds and drops the others. */
static void select_paths(RingSearch *search)
{
        SearchPath *paths = search->extended;
        uint32_t n = 0;

        qsort(paths, search->n_extended, sizeof paths[0], compare_ways);
        for (uint32_t i = 0; i < search->n_extended; i++)
                if (n > 0 && are_alike(&paths[n - 1], &paths[i]))
                        search->free_rows[search->n_free_rows++] = paths[i].layers_nsec;
                else
                        paths[n++] = paths[i];
        qsort(paths, n, sizeof paths[0], compare_bounds);
        if (n > search->width) {
                note_dropped(search, paths[search->width].bound);
                search->limit = MIN(search->limit, paths[search->width].bound);
        }
        while (n > search->width)
                search->free_rows[search->n_free_rows++] = paths[--n].layers_nsec;
        search->n_extended = n;
}

static void close_ring(RingSearch *search, const SearchPath *path)
{
        AldPlacementCore *core = search->core;
        double close = close_nsec(search, path->last, path->first) - search->closing_nsec[path->first];
        AldPlacementTour tour = { .n = path->n };
        uint32_t at = path->n;

        if (!(path->hops_nsec + close + path->layers_nsec[core->layers] < search->best->nsec) ||
                path->n_required < search->n_required)
                return;
        for (const SearchPath *stage = path; stage; stage = stage->before)
                tour.stages[--at] = stage->last;
        ald_placement_tour_measure(core, &tour, search->best->nsec);
        if (tour.nsec < search->best->nsec && tour.nsec < core->penalty_nsec)
                ald_placement_tour_copy(search->best, &tour);
        search->limit = MIN(search->limit, search->best->nsec);
}

/* Extends the path by the device, from which the way back takes back_nsec. */
static void extend_path(
        RingSearch *search, const SearchPath *path, uint32_t device, double rest_nsec, double back_nsec)
{
        AldPlacementCore *core = search->core;
        SearchPath *made = &search->extended[search->n_extended];
        double least = INFINITY;
        const double *others;

        *made = *path;
        made->before = path->n > 0 ? path : NULL;
        made->last = device;
        made->n++;
        made->n_required += ald_placement_core_device(core, device)->required;
        made->set += (device + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t) (device + 1) << 40;
        made->hops_nsec += rest_nsec;
        made->number = search->n_numbered++;
        made->layers_nsec = search->free_rows[search->n_free_rows - 1];
        for (uint32_t l = 0; l <= core->layers; l++)
                made->layers_nsec[l] = INFINITY;
        ald_placement_table_add(search->table, core, device, path->layers_nsec, made->layers_nsec);
        others = ald_placement_table_row(
                search->table, first_after(search, made->first), core->most - made->n);
        for (uint32_t l = 0; l <= core->layers; l++)
                least = MIN(least, made->layers_nsec[l] + others[core->layers - l]);
        made->least_nsec = least + made->hops_nsec;
        made->bound = made->least_nsec + back_nsec;
        if (made->n > 1 && made->bound < search->best->nsec)
                close_ring(search, made);
        if (made->bound >= search->limit) {
                note_dropped(search, made->bound);
                return;
        }
        search->n_free_rows--;
        if (++search->n_extended == 2 * search->width)
                select_paths(search);
}

/* Lists the most promising devices after this path. */
static void find_next_devices(RingSearch *search, const SearchPath *path)
{
        const AldPlacementCore *core = search->core;
        const double *back = search->back_nsec[path->first];
        SearchNext *next = search->next;

        search->n_next = 0;
        mark_path(search, path);
        for (uint32_t k = 0; k < search->n_hops[path->last]; k++) {
                const SearchHop *hop = &search->hops[(size_t) path->last * core->n + k];
                double bound = path->least_nsec + hop->rest_nsec, limit = search->limit;
                uint32_t at;

                if (search->n_next == search->next_max)
                        limit = MIN(limit, next[search->n_next - 1].bound);
                if (bound >= limit) {
                        note_dropped(search, bound);
                        break;
                }
                if (hop->to < first_after(search, path->first))
                        continue;
                bound = back[hop->to] + fmax(bound, path->hops_nsec + hop->rest_nsec +
                                                            core->with_nsec[hop->to] - core->ends_nsec);
                if (bound >= limit) {
                        note_dropped(search, bound);
                        continue;
                }
                if (!may_follow(search, hop->to))
                        continue;
                if (search->n_next == search->next_max)
                        note_dropped(search, next[--search->n_next].bound);
                for (at = search->n_next++; at > 0 && next[at - 1].bound > bound; at--)
                        next[at] = next[at - 1];
                next[at] = (SearchNext){ bound, hop };
        }
}

static void extend_to_next(RingSearch *search, const SearchPath *path)
{
        AldPlacementCore *core = search->core;

        if (core->work <= search->spare) {
                note_dropped(search, path->bound);
                return;
        }
        if (!search->back_nsec[path->first])
                find_ways_back(search, path->first);
        find_next_devices(search, path);
        (void) ald_placement_core_spend(
                core, search->n_hops[path->last] / 2 + search->n_next * (2 * core->layers + 40));
        for (uint32_t i = 0; i < search->n_next; i++) {
                const SearchNext *next = &search->next[i];

                if (next->bound >= search->limit) {
                        note_dropped(search, next->bound);
                        break;
                }
                extend_path(search, path, next->hop->to, next->hop->rest_nsec,
                        search->back_nsec[path->first][next->hop->to]);
        }
}

static void begin_paths(RingSearch *search)
{
        AldPlacementCore *core = search->core;
        const AldPlacementEnds *ends = core->problem->ends;

        for (uint32_t first = 0; first < core->n; first++) {
                const SearchPath none = { .first = first,
                        .hops_nsec = search->closing_nsec[first] +
                                     (ends ? ends[core->devices[first]].first_nsec : 0),
                        .layers_nsec = ald_placement_table_row(search->table, core->n, 0) };

                if (search->predecessor[first] == NO_PREDECESSOR && search->closing_nsec[first] < INFINITY)
                        extend_path(search, &none, first, 0, 0);
                /* Without ends, all further paths lack this device, which is required. */
                if (!ends && ald_placement_core_device(core, first)->required)
                        break;
        }
        (void) ald_placement_core_spend(core, (uint64_t) 2 * core->layers * core->n);
}

double ald_placement_search(AldPlacementCore *core, AldPlacementTable *table, uint32_t width, uint64_t work,
        AldPlacementTour *best)
{
        g_auto(RingSearch) search = { .core = core,
                .table = table,
                .width = width,
                .best = best,
                .left = INFINITY,
                .limit = best->nsec,
                .spare = core->work - MIN(core->work, work) };

        search_init(&search);
        begin_paths(&search);
        for (uint32_t n = 1; n <= core->most && search.n_extended > 0; n++) {
                SearchPath *paths = search.kept + (size_t) (n - 1) * width;
                double before = best->nsec;
                uint32_t n_paths;

                select_paths(&search);
                n_paths = search.n_extended;
                memcpy(paths, search.extended, n_paths * sizeof *paths);
                search.n_extended = 0;
                search.limit = best->nsec;
                for (uint32_t i = 0; i < n_paths; i++) {
                        if (n < core->most)
                                extend_to_next(&search, &paths[i]);
                        search.free_rows[search.n_free_rows++] = paths[i].layers_nsec;
                }
                if (best->nsec < before)
                        ald_placement_tour_improve(core, best);
        }
        return MIN(search.left, best->nsec);
}
