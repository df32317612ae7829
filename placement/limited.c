/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "placement/limited.h"

void ald_placement_limited_init(
        AldPlacementLimited *limited, const AldPlacementProblem *problem, const double *occupy_nsec)
{
        size_t n = problem->n_devices;

        *limited = (AldPlacementLimited){ .problem = *problem,
                .all = problem,
                .occupy_nsec = occupy_nsec,
                .devices = g_new(AldPlacementDevice, n),
                .ends = g_new(AldPlacementEnds, n),
                .hop_nsec = g_new(double, n *n),
                .closing_nsec = problem->closing_nsec ? g_new(double, n *n) : NULL };
        limited->problem.devices = limited->devices;
        limited->problem.ends = problem->ends ? limited->ends : NULL;
        limited->problem.hop_nsec = limited->hop_nsec;
        limited->problem.closing_nsec = limited->closing_nsec;
        ald_placement_limited_set(limited, INFINITY);
}

void ald_placement_limited_clear(AldPlacementLimited *limited)
{
        g_free(limited->devices);
        g_free(limited->ends);
        g_free(limited->hop_nsec);
        g_free(limited->closing_nsec);
}

/* Returns how many layers a stage computes within the limit; more_nsec is what it computes besides. A
 * quotient is rounded, so the result is corrected by the sums that are compared later. */
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
        const AldPlacementProblem *problem, uint32_t i, uint32_t most, double limit)
{
        const AldPlacementDevice *device = &problem->devices[i];
        AldPlacementEnds ends = problem->ends[i];

        ends.layers_max_first = layers_within(
                device, MIN(ends.layers_max_first, most), ends.first_nsec, limit);
        ends.layers_max_last = layers_within(device, MIN(ends.layers_max_last, most), ends.last_nsec, limit);
        ends.layers_max_both = layers_within(
                device, MIN(ends.layers_max_both, most), ends.first_nsec + ends.last_nsec, limit);
        return ends;
}

static void limit_hops(const AldPlacementProblem *problem, const double *nsec, const double *occupy_nsec,
        double limit_nsec, double *ret)
{
        for (size_t i = 0; i < (size_t) problem->n_devices * problem->n_devices; i++)
                ret[i] = occupy_nsec[i] <= limit_nsec ? nsec[i] : INFINITY;
}

void ald_placement_limited_set(AldPlacementLimited *limited, double limit_nsec)
{
        const AldPlacementProblem *all = limited->all;

        for (uint32_t i = 0; i < all->n_devices; i++) {
                uint32_t most = MIN(all->devices[i].layers_max, all->layers);

                limited->devices[i] = all->devices[i];
                limited->devices[i].layers_max = layers_within(&all->devices[i], most, 0, limit_nsec);
                if (all->ends)
                        limited->ends[i] = limit_ends(all, i, limited->devices[i].layers_max, limit_nsec);
        }
        limit_hops(all, all->hop_nsec, limited->occupy_nsec, limit_nsec, limited->hop_nsec);
        if (all->closing_nsec)
                limit_hops(all, all->closing_nsec, all->closing_occupy_nsec ?: limited->occupy_nsec,
                        limit_nsec, limited->closing_nsec);
}

static void append_occupied(
        GArray *limits, const AldPlacementProblem *problem, const double *nsec, const double *occupy_nsec)
{
        for (size_t i = 0; i < (size_t) problem->n_devices * problem->n_devices; i++)
                if (nsec[i] < INFINITY && occupy_nsec[i] < INFINITY)
                        g_array_append_val(limits, occupy_nsec[i]);
}

GArray *ald_placement_list_limits(const AldPlacementProblem *problem, const double *occupy_nsec)
{
        GArray *limits = g_array_new(FALSE, FALSE, sizeof(double));

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                const AldPlacementEnds *ends = problem->ends ? &problem->ends[i] : NULL;

                for (uint32_t n = 1; n <= MIN(problem->devices[i].layers_max, problem->layers); n++) {
                        double nsec = n * problem->devices[i].layer_nsec;
                        /* A stage in the middle, and as either or both of the ends. */
                        double all[] = { nsec, nsec + (ends ? ends->first_nsec : 0),
                                nsec + (ends ? ends->last_nsec : 0),
                                nsec + (ends ? ends->first_nsec + ends->last_nsec : 0) };

                        g_array_append_vals(limits, all, ends ? G_N_ELEMENTS(all) : 1);
                }
        }
        append_occupied(limits, problem, problem->hop_nsec, occupy_nsec);
        if (ald_placement_has_closing_cost(problem))
                append_occupied(
                        limits, problem, problem->closing_nsec, problem->closing_occupy_nsec ?: occupy_nsec);
        if (limits->len > 0)
                qsort(limits->data, limits->len, sizeof(double), ald_placement_compare_nsec);
        return limits;
}
