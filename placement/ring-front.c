/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "placement/ring-front.h"
#include "placement/ring.h"

typedef uint32_t Set; /* bit i: device i */

/* What remains of a problem if nothing may take longer than a limit. */
typedef struct Limited {
        const AldPlacementProblem *problem;
        const double *occupy_nsec;
        AldPlacementDevice *devices; /* with fewer layers each */
        Set *reach; /* of paths from one device through a set of later ones: where they may end */
} Limited;

static void limited_clear(Limited *limited)
{
        g_free(limited->devices);
        g_free(limited->reach);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Limited, limited_clear)

static bool is_path(const AldPlacementProblem *problem, const double *occupy_nsec, double limit, size_t hop)
{
        return problem->hop_nsec[hop] < INFINITY && occupy_nsec[hop] <= limit;
}

/* By the product, which is what is compared: a quotient is rounded. */
static uint32_t layers_within(const AldPlacementDevice *device, uint32_t layers, double limit)
{
        uint32_t most = MIN(device->layers_max, layers);
        uint32_t n = (uint32_t) fmin(limit / device->layer_nsec, most);

        while (n < most && (n + 1) * device->layer_nsec <= limit)
                n++;
        while (n > 0 && n * device->layer_nsec > limit)
                n--;
        return n;
}

static void set_limit(Limited *limited, double limit)
{
        for (uint32_t i = 0; i < limited->problem->n_devices; i++) {
                limited->devices[i] = limited->problem->devices[i];
                limited->devices[i].layers_max = layers_within(
                        &limited->problem->devices[i], limited->problem->layers, limit);
        }
}

double ald_placement_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, const AldPlacementSolution *solution)
{
        double busiest = 0;

        for (uint32_t i = 0; i < solution->n_stages; i++) {
                const AldPlacementStage *stage = &solution->stages[i],
                                        *next = &solution->stages[(i + 1) % solution->n_stages];

                busiest = fmax(busiest, stage->layers * problem->devices[stage->device].layer_nsec);
                if (solution->n_stages > 1)
                        busiest = fmax(busiest,
                                occupy_nsec[(size_t) stage->device * problem->n_devices + next->device]);
        }
        return busiest;
}

int ald_placement_solve_ring_within(const AldPlacementProblem *problem, const double *occupy_nsec,
        double busiest_nsec, AldPlacementSolution *ret)
{
        size_t n_hops = (size_t) problem->n_devices * problem->n_devices;
        g_autofree double *hops = g_new(double, n_hops);
        g_auto(Limited)
                limited = { .problem = problem, .devices = g_new(AldPlacementDevice, problem->n_devices) };
        AldPlacementProblem within = *problem;

        if (problem->ends)
                return -EOPNOTSUPP;
        set_limit(&limited, busiest_nsec);
        for (size_t i = 0; i < n_hops; i++)
                hops[i] = is_path(problem, occupy_nsec, busiest_nsec, i) ? problem->hop_nsec[i] : INFINITY;
        within.devices = limited.devices;
        within.hop_nsec = hops;
        return ald_placement_solve_ring(&within, ret);
}

/* Whether the layers fit on the set, which is allowed. */
static bool fits(const Limited *limited, Set set)
{
        const AldPlacementProblem *problem = limited->problem;
        uint32_t n = (uint32_t) __builtin_popcount(set);
        uint64_t layers = 0;

        if (n > problem->layers || (problem->devices_max && n > problem->devices_max))
                return false;
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                bool used = set & (1u << i);

                if ((!used && limited->devices[i].required) || (used && limited->devices[i].layers_max == 0))
                        return false;
                layers += used ? limited->devices[i].layers_max : 0;
        }
        return layers >= problem->layers;
}

/* The later devices from which there is a path to this one, as a set of them. */
static Set sources_of(const Limited *limited, double limit, uint32_t first, uint32_t device)
{
        uint32_t n = limited->problem->n_devices;
        Set set = 0;

        for (uint32_t i = first + 1; i < n; i++)
                if (i != device &&
                        is_path(limited->problem, limited->occupy_nsec, limit, (size_t) i * n + device))
                        set |= 1u << (i - first - 1);
        return set;
}

/* Whether a ring through `first` and some later devices takes all layers. */
static bool has_ring(Limited *limited, double limit, uint32_t first)
{
        uint32_t n = limited->problem->n_devices, n_later = n - first - 1;
        Set sources[ALD_PLACEMENT_RING_MAX], back = sources_of(limited, limit, first, first);

        for (uint32_t i = 0; i < n_later; i++)
                sources[i] = sources_of(limited, limit, first, first + 1 + i);
        if (fits(limited, 1u << first))
                return true;
        for (Set later = 1; later < 1u << n_later; later++) {
                Set ends = 0;

                for (Set rest = later; rest; rest &= rest - 1) {
                        uint32_t last = (uint32_t) __builtin_ctz(rest);
                        Set before = later & ~(1u << last);
                        bool is_end = before ? limited->reach[before] & sources[last]
                                             : is_path(limited->problem, limited->occupy_nsec, limit,
                                                       (size_t) first * n + first + 1 + last);

                        if (is_end)
                                ends |= 1u << last;
                }
                limited->reach[later] = ends;
                if ((ends & back) && fits(limited, (later << 1 | 1) << first))
                        return true;
        }
        return false;
}

static bool is_feasible(Limited *limited, double limit)
{
        set_limit(limited, limit);
        for (uint32_t first = 0; first < limited->problem->n_devices; first++)
                if (has_ring(limited, limit, first))
                        return true;
        return false;
}

static int compare_doubles(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

/* All times that the busiest part can take, the least first. */
static GArray *list_limits(const AldPlacementProblem *problem, const double *occupy_nsec)
{
        GArray *limits = g_array_new(FALSE, FALSE, sizeof(double));

        for (uint32_t i = 0; i < problem->n_devices; i++)
                for (uint32_t n = 1; n <= MIN(problem->devices[i].layers_max, problem->layers); n++) {
                        double limit = n * problem->devices[i].layer_nsec;

                        g_array_append_val(limits, limit);
                }
        for (size_t i = 0; i < (size_t) problem->n_devices * problem->n_devices; i++)
                if (is_path(problem, occupy_nsec, INFINITY, i) && occupy_nsec[i] < INFINITY)
                        g_array_append_val(limits, occupy_nsec[i]);
        if (limits->len > 0)
                qsort(limits->data, limits->len, sizeof(double), compare_doubles);
        return limits;
}

int ald_placement_solve_ring_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, AldPlacementSolution *ret)
{
        g_autoptr(GArray) limits = NULL;
        g_auto(Limited) limited = { .problem = problem, .occupy_nsec = occupy_nsec };
        guint below = 0, above;

        if (problem->ends)
                return -EOPNOTSUPP;
        if (problem->n_devices == 0 || problem->n_devices > ALD_PLACEMENT_RING_MAX)
                return problem->n_devices == 0 ? -ENOSPC : -E2BIG;
        limits = list_limits(problem, occupy_nsec);
        limited.devices = g_new(AldPlacementDevice, problem->n_devices);
        limited.reach = g_new(Set, (size_t) 1 << (problem->n_devices - 1));
        /* The least one that is feasible; none: the solver without a limit says why. */
        for (above = limits->len; below < above;) {
                guint middle = (below + above) / 2;

                if (is_feasible(&limited, g_array_index(limits, double, middle)))
                        above = middle;
                else
                        below = middle + 1;
        }
        return ald_placement_solve_ring_within(problem, occupy_nsec,
                below < limits->len ? g_array_index(limits, double, below) : INFINITY, ret);
}
