/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/ring.h"
#include "placement/split.h"

typedef uint32_t Set; /* bit i: device i */

typedef struct Ring {
        const AldPlacementProblem *problem;
        uint32_t by_speed[ALD_PLACEMENT_RING_MAX]; /* devices, the fastest first */
        Set required;
        Set on_node[ALD_PLACEMENT_RING_MAX]; /* of each device: the devices on its node; 0 if nodes are not
                                                needed */
        uint32_t most;                       /* most devices that may be used */
        /* Paths begin at one device. With ends it is the first stage; without ends, a ring may begin
         * anywhere, so it is the first device of its set. */
        uint32_t first, others[ALD_PLACEMENT_RING_MAX], n_others; /* devices that may follow it */
        /* Hops from and to the first device. */
        double out[ALD_PLACEMENT_RING_MAX], back[ALD_PLACEMENT_RING_MAX];
        double into[ALD_PLACEMENT_RING_MAX][ALD_PLACEMENT_RING_MAX]; /* [other][previous other] */
        /* If the devices of each node must follow each other: for each other device, the others on its node,
         * and whether the first device is on it, too. */
        Set with[ALD_PLACEMENT_RING_MAX];
        bool with_first[ALD_PLACEMENT_RING_MAX];
        double *path;  /* [set][last]: the least sum of hops through a set of others to the last of these */
        double *alike; /* with ends: the time of the layers on each set if no device were an end */
        double best;   /* the best time, with its set and ends */
        Set best_set;
        uint32_t best_first, best_last;
} Ring;

static void ring_clear(Ring *ring)
{
        g_free(ring->path);
        g_free(ring->alike);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ring, ring_clear)

static double *path_at(const Ring *ring, Set set, uint32_t last)
{
        return &ring->path[(size_t) set * ring->n_others + last];
}

static bool is_allowed(const Ring *ring, Set set)
{
        const AldPlacementProblem *problem = ring->problem;
        int nodes = 0, each = 0;

        if ((set & ring->required) != ring->required || (uint32_t) __builtin_popcount(set) > ring->most)
                return false;
        if (problem->nodes_max == 0 && !problem->nodes_even)
                return true;
        for (Set rest = set, on_node; rest; rest &= ~on_node) {
                on_node = rest & ring->on_node[__builtin_ctz(rest)];
                if (problem->nodes_even && nodes > 0 && __builtin_popcount(on_node) != each)
                        return false;
                each = __builtin_popcount(on_node);
                nodes++;
        }
        return problem->nodes_max == 0 || (uint32_t) nodes <= problem->nodes_max;
}

static double split_nsec(const Ring *ring, Set set, uint32_t first, uint32_t last)
{
        uint32_t devices[ALD_PLACEMENT_RING_MAX], n = 0;

        for (uint32_t i = 0; i < ring->problem->n_devices; i++)
                if (set & (1u << ring->by_speed[i]))
                        devices[n++] = ring->by_speed[i];
        return ald_placement_split(ring->problem, devices, n, first, last, NULL);
}

static void find_same_node(Ring *ring, uint32_t other)
{
        Set on_node = ring->on_node[ring->others[other]];

        ring->with_first[other] = on_node & 1u << ring->first;
        for (uint32_t i = 0; i < ring->n_others; i++)
                ring->with[other] |= on_node & 1u << ring->others[i] ? 1u << i : 0;
}

static void begin_at(Ring *ring, uint32_t first)
{
        const AldPlacementProblem *problem = ring->problem;
        const double *hop = problem->hop_nsec;
        size_t n = problem->n_devices;

        ring->first = first;
        ring->n_others = 0;
        for (uint32_t i = problem->ends ? 0 : first + 1; i < n; i++)
                if (i != first)
                        ring->others[ring->n_others++] = i;
        for (uint32_t i = 0; i < ring->n_others; i++) {
                uint32_t device = ring->others[i];

                ring->out[i] = hop[first * n + device];
                ring->back[i] = ald_placement_closing(problem, device, first);
                ring->with[i] = 0;
                ring->with_first[i] = false;
                if (problem->nodes_together)
                        find_same_node(ring, i);
                for (uint32_t j = 0; j < ring->n_others; j++)
                        ring->into[i][j] = hop[ring->others[j] * n + device];
        }
}

/* Returns a set of others with the first device added, as a set of devices. */
static Set set_of(const Ring *ring, Set others)
{
        Set below = (1u << ring->first) - 1;

        if (!ring->problem->ends)
                return (others << 1 | 1) << ring->first;
        return (others & below) | 1u << ring->first | (others & ~below) << 1;
}

/* Returns the devices of the set that may precede this one: once a path has left a node, none of its devices
 * may follow. */
static Set may_precede(const Ring *ring, Set before, uint32_t last)
{
        if (ring->with_first[last])
                return before & ~ring->with[last] ? 0 : before;
        return before & ring->with[last] ? before & ring->with[last] : before;
}

static double least_before(const Ring *ring, Set before, uint32_t last)
{
        double best = INFINITY;

        for (Set rest = may_precede(ring, before, last); rest; rest &= rest - 1) {
                uint32_t previous = (uint32_t) __builtin_ctz(rest);
                double nsec = *path_at(ring, before, previous) + ring->into[last][previous];

                best = MIN(best, nsec);
        }
        return best;
}

/* Goes through the sets in the order of their numbers, so that each set without its last device is already
 * known. Sets larger than allowed are not needed. */
static void find_paths(Ring *ring)
{
        for (Set set = 1; set < 1u << ring->n_others; set++) {
                if ((uint32_t) __builtin_popcount(set) >= ring->most)
                        continue;
                for (Set rest = set; rest; rest &= rest - 1) {
                        uint32_t last = (uint32_t) __builtin_ctz(rest);
                        Set before = set & ~(1u << last);

                        *path_at(ring, set, last) = before ? least_before(ring, before, last)
                                                           : ring->out[last];
                }
        }
}

/* Returns the least sum of hops around the set, and the last stage, from which the ring is closed. */
static double close_ring(const Ring *ring, Set others, uint32_t *ret_last)
{
        double best = others ? INFINITY : 0;

        for (Set rest = others; rest; rest &= rest - 1) {
                uint32_t last = (uint32_t) __builtin_ctz(rest);
                double nsec = *path_at(ring, others, last) + ring->back[last];

                if (nsec < best) {
                        best = nsec;
                        *ret_last = last;
                }
        }
        return best;
}

static void keep_better(Ring *ring, double nsec, Set set, uint32_t last)
{
        if (!(nsec < ring->best || (nsec < INFINITY && nsec <= ring->best && set < ring->best_set)))
                return;
        ring->best = nsec;
        ring->best_set = set;
        ring->best_first = ring->first;
        ring->best_last = last;
}

static void try_sets(Ring *ring)
{
        for (Set others = 0; others < 1u << ring->n_others; others++) {
                Set set = set_of(ring, others);
                uint32_t last = 0;
                double nsec;

                if (!is_allowed(ring, set))
                        continue;
                nsec = split_nsec(ring, set, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END);
                if (nsec > ring->best)
                        continue;
                nsec += close_ring(ring, others, &last);
                keep_better(ring, nsec, set, last);
        }
}

/* Tries rings from the first device to this other one, or the first device alone. Ends leave less room, so
 * the time of the layers without them is a lower bound, which rules out most sets. */
static void try_last(Ring *ring, Set others, uint32_t last)
{
        const AldPlacementProblem *problem = ring->problem;
        uint32_t end = others ? ring->others[last] : ring->first;
        Set set = set_of(ring, others);
        double nsec = ald_placement_ends_nsec(problem, ring->first, end);

        if (others)
                nsec += *path_at(ring, others, last) + ring->back[last];
        if (!(nsec + ring->alike[set] < INFINITY) || nsec + ring->alike[set] > ring->best)
                return;
        keep_better(ring, nsec + split_nsec(ring, set, ring->first, end), set, last);
}

static void try_ends(Ring *ring)
{
        if (is_allowed(ring, 1u << ring->first))
                try_last(ring, 0, 0);
        for (Set others = 1; others < 1u << ring->n_others; others++) {
                if (!is_allowed(ring, set_of(ring, others)))
                        continue;
                for (Set rest = others; rest; rest &= rest - 1)
                        try_last(ring, others, (uint32_t) __builtin_ctz(rest));
        }
}

static void build_solution(Ring *ring, AldPlacementSolution *ret)
{
        uint32_t n = (uint32_t) __builtin_popcount(ring->best_set), last = ring->best_last;
        Set others = 0;

        begin_at(ring, ring->best_first);
        find_paths(ring);
        for (uint32_t i = 0; i < ring->n_others; i++)
                others |= ring->best_set & (1u << ring->others[i]) ? 1u << i : 0;
        *ret = (AldPlacementSolution){
                .stages = g_new(AldPlacementStage, n), .n_stages = n, .nsec = ring->best
        };
        ret->stages[0].device = ring->first;
        for (uint32_t i = n; others; i--) {
                Set before = others & ~(1u << last);
                double nsec = *path_at(ring, others, last);

                ret->stages[i - 1].device = ring->others[last];
                for (Set rest = may_precede(ring, before, last); rest; rest &= rest - 1) {
                        uint32_t previous = (uint32_t) __builtin_ctz(rest);

                        if (*path_at(ring, before, previous) + ring->into[last][previous] <= nsec) {
                                last = previous;
                                break;
                        }
                }
                others = before;
        }
        ald_placement_set_layers(ring->problem, ret->stages, n);
}

static void prepare_tables(Ring *ring)
{
        const AldPlacementProblem *problem = ring->problem;
        bool needs_nodes = problem->nodes_max > 0 || problem->nodes_together || problem->nodes_even;
        uint32_t n = problem->n_devices;

        for (uint32_t i = 0; i < n; i++) {
                ring->by_speed[i] = i;
                ring->required |= problem->devices[i].required ? 1u << i : 0;
                for (uint32_t j = 0; needs_nodes && j < n; j++)
                        ring->on_node[i] |= problem->nodes[i] == problem->nodes[j] ? 1u << j : 0;
        }
        ald_placement_sort_by_speed(problem, ring->by_speed, n);
        ring->most = ald_placement_stages_max(problem);
        ring->path = g_new(double, ((size_t) 1 << (n - 1)) * MAX(n - 1, 1));
        if (!problem->ends)
                return;
        ring->alike = g_new(double, (size_t) 1 << n);
        for (Set set = 1; set < 1u << n; set++)
                ring->alike[set] = is_allowed(ring, set)
                                           ? split_nsec(ring, set, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END)
                                           : INFINITY;
}

/* Returns whether the layers fit on some allowed set, joined by paths or not. */
static bool has_room(const Ring *ring)
{
        const AldPlacementProblem *problem = ring->problem;
        uint32_t n = problem->n_devices;

        if (!problem->nodes_even)
                return ald_placement_fits(problem);
        for (Set set = 1; set < 1u << n; set++) {
                if (!is_allowed(ring, set) ||
                        isinf(split_nsec(ring, set, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END)))
                        continue;
                if (!problem->ends)
                        return true;
                for (uint32_t first = 0; first < n; first++)
                        for (uint32_t last = 0; last < n; last++)
                                if (set >> first & set >> last & 1 && (first != last || set == 1u << first) &&
                                        !isinf(split_nsec(ring, set, first, last)))
                                        return true;
        }
        return false;
}

int ald_placement_solve_ring(const AldPlacementProblem *problem, AldPlacementSolution *ret)
{
        g_auto(Ring) ring = { .problem = problem, .best = INFINITY };
        uint32_t n = problem->n_devices;

        if (n > ALD_PLACEMENT_RING_MAX)
                return -E2BIG;
        if (n == 0)
                return -ENOSPC;
        prepare_tables(&ring);
        for (uint32_t first = 0; first < n; first++) {
                if (!ald_placement_proceeds(problem))
                        return -ECANCELED;
                begin_at(&ring, first);
                find_paths(&ring);
                if (problem->ends)
                        try_ends(&ring);
                else
                        try_sets(&ring);
        }
        if (!(ring.best < INFINITY))
                return has_room(&ring) ? -EHOSTUNREACH : -ENOSPC;
        build_solution(&ring, ret);
        return 0;
}
