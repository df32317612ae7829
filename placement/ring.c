/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/ring.h"

typedef uint32_t Set; /* bit i: device i */

typedef struct Ring {
        const AldPlacementProblem *problem;
        uint32_t by_speed[ALD_PLACEMENT_RING_MAX]; /* devices, the fastest first */
        Set required;
        /* Of paths that begin at one device, the first of their set: the least sum of hops over a set of
         * later devices to the last of these. [set of later devices][last] */
        double *path;
        double best; /* with its set */
        Set best_set;
        bool fits; /* some set, joined or not */
} Ring;

static void ring_clear(Ring *ring)
{
        g_free(ring->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ring, ring_clear)

static double hop(const Ring *ring, uint32_t from, uint32_t to)
{
        return ring->problem->hop_nsec[(size_t) from * ring->problem->n_devices + to];
}

static double *path_at(const Ring *ring, uint32_t n_later, Set later, uint32_t last)
{
        return &ring->path[(size_t) later * n_later + last];
}

static bool is_allowed(const Ring *ring, Set set)
{
        uint32_t n = (uint32_t) __builtin_popcount(set);

        return (set & ring->required) == ring->required && n <= ring->problem->layers &&
               (ring->problem->devices_max == 0 || n <= ring->problem->devices_max);
}

/* One layer each, and the others to the fastest. INFINITY if they do not fit; layers[i] of device i, if
 * wanted. */
static double split(const Ring *ring, Set set, uint32_t *layers)
{
        uint32_t left = ring->problem->layers - (uint32_t) __builtin_popcount(set);
        double nsec = 0;

        for (uint32_t i = 0; i < ring->problem->n_devices; i++) {
                uint32_t device = ring->by_speed[i], more;
                const AldPlacementDevice *it = &ring->problem->devices[device];

                if (!(set & (1u << device)))
                        continue;
                if (it->layers_max == 0)
                        return INFINITY;
                more = MIN(left, it->layers_max - 1);
                left -= more;
                nsec += (1 + more) * it->layer_nsec;
                if (layers)
                        layers[device] = 1 + more;
        }
        return left > 0 ? INFINITY : nsec;
}

/* Sets of devices after `first`, in the order of their numbers, so that those without the last one are known.
 */
static void find_paths(Ring *ring, uint32_t first, uint32_t n_later)
{
        for (Set later = 1; later < 1u << n_later; later++)
                for (uint32_t last = 0; last < n_later; last++) {
                        Set before = later & ~(1u << last);
                        double best = INFINITY;

                        if (before == later)
                                continue;
                        if (before == 0)
                                best = hop(ring, first, first + 1 + last);
                        for (Set rest = before; rest; rest &= rest - 1) {
                                uint32_t previous = (uint32_t) __builtin_ctz(rest);
                                double nsec = *path_at(ring, n_later, before, previous) +
                                              hop(ring, first + 1 + previous, first + 1 + last);

                                best = MIN(best, nsec);
                        }
                        *path_at(ring, n_later, later, last) = best;
                }
}

/* The least sum of hops around the set, and the last stage before the first device. */
static double close_ring(const Ring *ring, uint32_t first, uint32_t n_later, Set later, uint32_t *ret_last)
{
        double best = later ? INFINITY : 0;

        for (Set rest = later; rest; rest &= rest - 1) {
                uint32_t last = (uint32_t) __builtin_ctz(rest);
                double nsec = *path_at(ring, n_later, later, last) + hop(ring, first + 1 + last, first);

                if (nsec < best) {
                        best = nsec;
                        *ret_last = last;
                }
        }
        return best;
}

static void compare_sets(Ring *ring, uint32_t first, uint32_t n_later)
{
        for (Set later = 0; later < 1u << n_later; later++) {
                Set set = (later << 1 | 1) << first;
                double nsec;
                uint32_t last;

                if (!is_allowed(ring, set))
                        continue;
                nsec = split(ring, set, NULL);
                ring->fits |= nsec < INFINITY;
                if (nsec > ring->best)
                        continue;
                nsec += close_ring(ring, first, n_later, later, &last);
                if (nsec < ring->best || (nsec < INFINITY && nsec <= ring->best && set < ring->best_set)) {
                        ring->best = nsec;
                        ring->best_set = set;
                }
        }
}

static void read_back(Ring *ring, AldPlacementSolution *ret)
{
        uint32_t first = (uint32_t) __builtin_ctz(ring->best_set);
        uint32_t n_later = ring->problem->n_devices - first - 1, last = 0;
        uint32_t layers[ALD_PLACEMENT_RING_MAX], n = (uint32_t) __builtin_popcount(ring->best_set);
        Set later = ring->best_set >> (first + 1);

        find_paths(ring, first, n_later);
        (void) split(ring, ring->best_set, layers);
        (void) close_ring(ring, first, n_later, later, &last);
        *ret = (AldPlacementSolution){
                .stages = g_new(AldPlacementStage, n), .n_stages = n, .nsec = ring->best
        };
        ret->stages[0] = (AldPlacementStage){ first, layers[first] };
        while (later) {
                Set before = later & ~(1u << last);
                uint32_t device = first + 1 + last;

                ret->stages[--n] = (AldPlacementStage){ device, layers[device] };
                for (Set rest = before; rest; rest &= rest - 1) {
                        uint32_t previous = (uint32_t) __builtin_ctz(rest);

                        if (*path_at(ring, n_later, before, previous) +
                                        hop(ring, first + 1 + previous, device) <=
                                *path_at(ring, n_later, later, device - first - 1)) {
                                last = previous;
                                break;
                        }
                }
                later = before;
        }
}

static int compare_speed(const void *a, const void *b, void *devices)
{
        const uint32_t *i = a, *j = b;
        double left = ((const AldPlacementDevice *) devices)[*i].layer_nsec,
               right = ((const AldPlacementDevice *) devices)[*j].layer_nsec;

        return left < right ? -1 : left > right ? 1 : (*i > *j) - (*i < *j);
}

static void prepare(Ring *ring)
{
        for (uint32_t i = 0; i < ring->problem->n_devices; i++) {
                ring->by_speed[i] = i;
                ring->required |= ring->problem->devices[i].required ? 1u << i : 0;
        }
        qsort_r(ring->by_speed, ring->problem->n_devices, sizeof ring->by_speed[0], compare_speed,
                (void *) ring->problem->devices);
}

int ald_placement_solve_ring(const AldPlacementProblem *problem, AldPlacementSolution *ret)
{
        g_auto(Ring) ring = { .problem = problem, .best = INFINITY };
        uint32_t n = problem->n_devices;

        if (n > ALD_PLACEMENT_RING_MAX)
                return -E2BIG;
        if (n == 0)
                return -ENOSPC;
        ring.path = g_new(double, ((size_t) 1 << (n - 1)) * MAX(n - 1, 1));
        prepare(&ring);
        for (uint32_t first = 0; first < n; first++) {
                find_paths(&ring, first, n - first - 1);
                compare_sets(&ring, first, n - first - 1);
        }
        if (!(ring.best < INFINITY))
                return ring.fits ? -EHOSTUNREACH : -ENOSPC;
        read_back(&ring, ret);
        return 0;
}
