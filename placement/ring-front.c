/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "placement/ring-front.h"
#include "placement/ring.h"
#include "placement/split.h"

typedef uint32_t Set; /* bit i: device i */

/* What remains of a problem if nothing may take longer than a limit. */
typedef struct Limited {
        const AldPlacementProblem *problem;
        const double *occupy_nsec;
        AldPlacementDevice *devices; /* with fewer layers each */
        AldPlacementEnds *ends;      /* as well; unused without ends */
        Set *reach; /* of paths from one device through a set of later ones: where they may end */
} Limited;

static void limited_clear(Limited *limited)
{
        g_free(limited->devices);
        g_free(limited->ends);
        g_free(limited->reach);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Limited, limited_clear)

static bool is_path(const AldPlacementProblem *problem, const double *occupy_nsec, double limit, size_t hop)
{
        return problem->hop_nsec[hop] < INFINITY && occupy_nsec[hop] <= limit;
}

/* By the sum, which is what is compared: a quotient is rounded. more_nsec: what the stage computes besides.
 */
static uint32_t layers_within(const AldPlacementDevice *device, uint32_t most, double more_nsec, double limit)
{
        uint32_t n = (uint32_t) fmax(0, fmin((limit - more_nsec) / device->layer_nsec, most));

        while (n < most && (n + 1) * device->layer_nsec + more_nsec <= limit)
                n++;
        while (n > 0 && n * device->layer_nsec + more_nsec > limit)
                n--;
        return n;
}

static AldPlacementEnds limit_ends(
        const AldPlacementProblem *problem, uint32_t i, const AldPlacementDevice *limited, double limit)
{
        const AldPlacementDevice *device = &problem->devices[i];
        AldPlacementEnds ends = problem->ends[i];

        ends.layers_max_first = layers_within(
                device, MIN(ends.layers_max_first, limited->layers_max), ends.first_nsec, limit);
        ends.layers_max_last = layers_within(
                device, MIN(ends.layers_max_last, limited->layers_max), ends.last_nsec, limit);
        ends.layers_max_both = layers_within(device, MIN(ends.layers_max_both, limited->layers_max),
                ends.first_nsec + ends.last_nsec, limit);
        return ends;
}

static void set_limit(Limited *limited, double limit)
{
        for (uint32_t i = 0; i < limited->problem->n_devices; i++) {
                limited->devices[i] = limited->problem->devices[i];
                limited->devices[i].layers_max = layers_within(&limited->devices[i],
                        MIN(limited->devices[i].layers_max, limited->problem->layers), 0, limit);
                if (limited->problem->ends)
                        limited->ends[i] = limit_ends(limited->problem, i, &limited->devices[i], limit);
        }
}

/* What the stage computes besides its layers. */
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
        g_auto(Limited) limited = { .problem = problem,
                .devices = g_new(AldPlacementDevice, problem->n_devices),
                .ends = g_new(AldPlacementEnds, problem->n_devices) };
        AldPlacementProblem within = *problem;

        set_limit(&limited, busiest_nsec);
        for (size_t i = 0; i < n_hops; i++)
                hops[i] = is_path(problem, occupy_nsec, busiest_nsec, i) ? problem->hop_nsec[i] : INFINITY;
        within.devices = limited.devices;
        within.ends = problem->ends ? limited.ends : NULL;
        within.hop_nsec = hops;
        return ald_placement_solve_ring(&within, ret);
}

/* Whether the layers fit on the set with these ends. */
static bool fits(const Limited *limited, Set set, uint32_t first, uint32_t last)
{
        const AldPlacementProblem within = { .n_devices = limited->problem->n_devices,
                .devices = limited->devices,
                .ends = limited->problem->ends ? limited->ends : NULL };
        uint32_t n = (uint32_t) __builtin_popcount(set);
        uint64_t layers = 0;

        if (n > ald_placement_stages_max(limited->problem))
                return false;
        for (uint32_t i = 0; i < within.n_devices; i++) {
                bool used = set & (1u << i);
                uint32_t most = used ? ald_placement_layers_max(&within, i, first, last) : 0;

                if ((!used && limited->devices[i].required) || (used && most == 0))
                        return false;
                layers += most;
        }
        return layers >= limited->problem->layers;
}

/* Devices that may follow the first one. As a ring begins anywhere, without ends it begins at the first
 * device of its set; with ends at the first stage. */
typedef struct Others {
        uint32_t first, devices[ALD_PLACEMENT_RING_MAX], n;
} Others;

static Others list_others(const AldPlacementProblem *problem, uint32_t first)
{
        Others others = { .first = first };

        for (uint32_t i = problem->ends ? 0 : first + 1; i < problem->n_devices; i++)
                if (i != first)
                        others.devices[others.n++] = i;
        return others;
}

/* Those from which there is a path to this device, as a set of their places in the list. */
static Set sources_of(const Limited *limited, double limit, const Others *others, uint32_t device)
{
        uint32_t n = limited->problem->n_devices;
        Set set = 0;

        for (uint32_t i = 0; i < others->n; i++)
                if (others->devices[i] != device && is_path(limited->problem, limited->occupy_nsec, limit,
                                                            (size_t) others->devices[i] * n + device))
                        set |= 1u << i;
        return set;
}

/* Whether the layers fit on the first device and a set of others, of which one of these is last. */
static bool fits_before(const Limited *limited, const Others *others, Set set, Set lasts)
{
        Set devices = 1u << others->first;

        for (Set rest = set; rest; rest &= rest - 1)
                devices |= 1u << others->devices[__builtin_ctz(rest)];
        if (!limited->problem->ends)
                return fits(limited, devices, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END);
        for (; lasts; lasts &= lasts - 1)
                if (fits(limited, devices, others->first, others->devices[__builtin_ctz(lasts)]))
                        return true;
        return false;
}

/* Whether a ring through `first` and some others takes all layers. */
static bool has_ring(Limited *limited, double limit, uint32_t first)
{
        const Others others = list_others(limited->problem, first);
        Set sources[ALD_PLACEMENT_RING_MAX], back = sources_of(limited, limit, &others, first);
        size_t from = (size_t) first * limited->problem->n_devices;

        for (uint32_t i = 0; i < others.n; i++)
                sources[i] = sources_of(limited, limit, &others, others.devices[i]);
        if (fits(limited, 1u << first, first, first))
                return true;
        for (Set set = 1; set < 1u << others.n; set++) {
                Set ends = 0;

                for (Set rest = set; rest; rest &= rest - 1) {
                        uint32_t last = (uint32_t) __builtin_ctz(rest);
                        Set before = set & ~(1u << last);
                        bool is_end = before ? limited->reach[before] & sources[last]
                                             : is_path(limited->problem, limited->occupy_nsec, limit,
                                                       from + others.devices[last]);

                        if (is_end)
                                ends |= 1u << last;
                }
                limited->reach[set] = ends;
                if ((ends & back) && fits_before(limited, &others, set, ends & back))
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

/* Of a stage in the middle, and as one or both of the ends. */
static void append_limits(GArray *limits, double nsec, const AldPlacementEnds *ends)
{
        double all[] = { nsec, nsec + (ends ? ends->first_nsec : 0), nsec + (ends ? ends->last_nsec : 0),
                nsec + (ends ? ends->first_nsec + ends->last_nsec : 0) };

        g_array_append_vals(limits, all, ends ? G_N_ELEMENTS(all) : 1);
}

/* All times that the busiest part can take, the least first. */
static GArray *list_limits(const AldPlacementProblem *problem, const double *occupy_nsec)
{
        GArray *limits = g_array_new(FALSE, FALSE, sizeof(double));

        for (uint32_t i = 0; i < problem->n_devices; i++)
                for (uint32_t n = 1; n <= MIN(problem->devices[i].layers_max, problem->layers); n++) {
                        double limit = n * problem->devices[i].layer_nsec;

                        append_limits(limits, limit, problem->ends ? &problem->ends[i] : NULL);
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

        if (problem->n_devices == 0 || problem->n_devices > ALD_PLACEMENT_RING_MAX)
                return problem->n_devices == 0 ? -ENOSPC : -E2BIG;
        limits = list_limits(problem, occupy_nsec);
        limited.devices = g_new(AldPlacementDevice, problem->n_devices);
        limited.ends = g_new(AldPlacementEnds, problem->n_devices);
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
