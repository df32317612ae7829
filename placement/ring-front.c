/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>

#include "placement/limited.h"
#include "placement/ring-front.h"
#include "placement/ring.h"
#include "placement/split.h"

typedef uint32_t Set; /* bit i: device i */

/* The problem with a limit, and for each set of other devices those at which a path from the first one
 * through the set may end. */
typedef struct RingFront {
        AldPlacementLimited limited;
        Set *reach;
} RingFront;

static void ring_front_clear(RingFront *front)
{
        ald_placement_limited_clear(&front->limited);
        g_free(front->reach);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RingFront, ring_front_clear)

static bool is_path(const RingFront *front, uint32_t from, uint32_t to)
{
        const AldPlacementProblem *problem = &front->limited.problem;

        return problem->hop_nsec[(size_t) from * problem->n_devices + to] < INFINITY;
}

static double occupied_nsec(const AldPlacementProblem *problem, const double *occupy_nsec, uint32_t from,
        uint32_t to, bool closes)
{
        bool other = closes && ald_placement_has_closing_cost(problem) && problem->closing_occupy_nsec;

        return (other ? problem->closing_occupy_nsec : occupy_nsec)[(size_t) from * problem->n_devices + to];
}

/* Returns what the stage computes besides its layers. */
static double ends_nsec(
        const AldPlacementProblem *problem, const AldPlacementSolution *solution, uint32_t stage)
{
        const AldPlacementEnds *ends = problem->ends ? &problem->ends[solution->stages[stage].device] : NULL;

        return (ends && stage == 0 ? ends->first_nsec : 0) +
               (ends && stage + 1 == solution->n_stages ? ends->last_nsec : 0);
}

double ald_placement_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, const AldPlacementSolution *solution)
{
        double busiest = 0;

        for (uint32_t i = 0; i < solution->n_stages; i++) {
                const AldPlacementStage *stage = &solution->stages[i],
                                        *next = &solution->stages[(i + 1) % solution->n_stages];

                busiest = fmax(busiest, stage->layers * problem->devices[stage->device].layer_nsec +
                                                ends_nsec(problem, solution, i));
                if (solution->n_stages > 1)
                        busiest = fmax(busiest, occupied_nsec(problem, occupy_nsec, stage->device,
                                                        next->device, i + 1 == solution->n_stages));
        }
        return busiest;
}

/* Returns whether the layers fit on the set with these ends. */
static bool layers_fit(const AldPlacementProblem *problem, Set set, uint32_t first, uint32_t last)
{
        uint32_t n = (uint32_t) __builtin_popcount(set);
        uint64_t layers = 0;

        if (n > ald_placement_stages_max(problem))
                return false;
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                bool used = set & (1u << i);
                uint32_t most = used ? ald_placement_layers_max(problem, i, first, last) : 0;

                if ((!used && problem->devices[i].required) || (used && most == 0))
                        return false;
                layers += most;
        }
        return layers >= problem->layers;
}

/* Devices that may follow the first one. With ends that is the first stage; without ends, a ring may begin
 * anywhere, so the first device of its set is chosen. */
typedef struct FollowingDevices {
        uint32_t first, devices[ALD_PLACEMENT_RING_MAX], n;
} FollowingDevices;

static FollowingDevices list_others(const AldPlacementProblem *problem, uint32_t first)
{
        FollowingDevices others = { .first = first };

        for (uint32_t i = problem->ends ? 0 : first + 1; i < problem->n_devices; i++)
                if (i != first)
                        others.devices[others.n++] = i;
        return others;
}

/* Returns the places in the list of the devices from which there is a path to this one. */
static Set devices_leading_to(const RingFront *front, const FollowingDevices *others, uint32_t device)
{
        Set set = 0;

        for (uint32_t i = 0; i < others->n; i++)
                if (others->devices[i] != device && is_path(front, others->devices[i], device))
                        set |= 1u << i;
        return set;
}

/* Returns whether the layers fit on the first device and a set of others, with one of `lasts` as the last
 * stage. */
static bool layers_fit_before(const RingFront *front, const FollowingDevices *others, Set set, Set lasts)
{
        const AldPlacementProblem *problem = &front->limited.problem;
        Set devices = 1u << others->first;

        for (Set rest = set; rest; rest &= rest - 1)
                devices |= 1u << others->devices[__builtin_ctz(rest)];
        if (!problem->ends)
                return layers_fit(problem, devices, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END);
        for (; lasts; lasts &= lasts - 1)
                if (layers_fit(problem, devices, others->first, others->devices[__builtin_ctz(lasts)]))
                        return true;
        return false;
}

/* Returns the places in the list of the devices from which the ring can be closed. */
static Set devices_closing(const RingFront *front, const FollowingDevices *others)
{
        Set set = 0;

        for (uint32_t i = 0; i < others->n; i++)
                if (ald_placement_closing(&front->limited.problem, others->devices[i], others->first) <
                        INFINITY)
                        set |= 1u << i;
        return set;
}

/* Returns whether a ring through `first` and some others has room for all layers. */
static bool has_ring(RingFront *front, uint32_t first)
{
        const FollowingDevices others = list_others(&front->limited.problem, first);
        Set sources[ALD_PLACEMENT_RING_MAX], back = devices_closing(front, &others);

        for (uint32_t i = 0; i < others.n; i++)
                sources[i] = devices_leading_to(front, &others, others.devices[i]);
        if (layers_fit(&front->limited.problem, 1u << first, first, first))
                return true;
        for (Set set = 1; set < 1u << others.n; set++) {
                Set ends = 0;

                for (Set rest = set; rest; rest &= rest - 1) {
                        uint32_t last = (uint32_t) __builtin_ctz(rest);
                        Set before = set & ~(1u << last);
                        bool is_end = before ? front->reach[before] & sources[last]
                                             : is_path(front, first, others.devices[last]);

                        if (is_end)
                                ends |= 1u << last;
                }
                front->reach[set] = ends;
                if ((ends & back) && layers_fit_before(front, &others, set, ends & back))
                        return true;
        }
        return false;
}

static bool is_feasible(RingFront *front, double limit)
{
        ald_placement_limited_set(&front->limited, limit);
        for (uint32_t first = 0; first < front->limited.problem.n_devices; first++)
                if (has_ring(front, first))
                        return true;
        return false;
}

int ald_placement_solve_ring_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, AldPlacementSolution *ret)
{
        g_autoptr(GArray) limits = NULL;
        g_auto(RingFront) front = { 0 };
        guint below = 0, above;

        if (problem->n_devices == 0 || problem->n_devices > ALD_PLACEMENT_RING_MAX)
                return problem->n_devices == 0 ? -ENOSPC : -E2BIG;
        limits = ald_placement_list_limits(problem, occupy_nsec);
        ald_placement_limited_init(&front.limited, problem, occupy_nsec);
        front.reach = g_new(Set, (size_t) 1 << (problem->n_devices - 1));
        /* Find the least feasible limit. If there is none, the solver without a limit returns the reason. */
        for (above = limits->len; below < above;) {
                guint middle = (below + above) / 2;

                if (!ald_placement_proceeds(problem))
                        return -ECANCELED;
                if (is_feasible(&front, g_array_index(limits, double, middle)))
                        above = middle;
                else
                        below = middle + 1;
        }
        ald_placement_limited_set(
                &front.limited, below < limits->len ? g_array_index(limits, double, below) : INFINITY);
        return ald_placement_solve_ring(&front.limited.problem, ret);
}
