/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/split.h"

static int compare_speed(const void *a, const void *b, void *devices)
{
        const uint32_t *i = a, *j = b;
        double left = ((const AldPlacementDevice *) devices)[*i].layer_nsec,
               right = ((const AldPlacementDevice *) devices)[*j].layer_nsec;

        return left < right ? -1 : left > right ? 1 : (*i > *j) - (*i < *j);
}

void ald_placement_sort_by_speed(const AldPlacementProblem *problem, uint32_t *devices, uint32_t n)
{
        qsort_r(devices, n, sizeof devices[0], compare_speed, (void *) problem->devices);
}

uint32_t ald_placement_stages_max(const AldPlacementProblem *problem)
{
        uint32_t most = MIN(problem->n_devices, problem->layers / ald_placement_layers_min(problem));

        return problem->devices_max ? MIN(most, problem->devices_max) : most;
}

uint32_t ald_placement_layers_max(
        const AldPlacementProblem *problem, uint32_t device, uint32_t first, uint32_t last)
{
        uint32_t most = problem->devices[device].layers_max;

        if (!problem->ends || (device != first && device != last))
                return most;
        if (first == last)
                return MIN(most, problem->ends[device].layers_max_both);
        return MIN(most, device == first ? problem->ends[device].layers_max_first
                                         : problem->ends[device].layers_max_last);
}

double ald_placement_ends_nsec(const AldPlacementProblem *problem, uint32_t first, uint32_t last)
{
        return problem->ends ? problem->ends[first].first_nsec + problem->ends[last].last_nsec : 0;
}

double ald_placement_split(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n,
        uint32_t first, uint32_t last, uint32_t *ret_layers)
{
        uint32_t least = ald_placement_layers_min(problem), left = problem->layers - n * least;
        double nsec = 0;

        if (n * least > problem->layers)
                return INFINITY;
        for (uint32_t i = 0; i < n; i++) {
                uint32_t most = ald_placement_layers_max(problem, devices[i], first, last), more;

                if (most < least)
                        return INFINITY;
                more = MIN(left, most - least);
                left -= more;
                nsec += (least + more) * problem->devices[devices[i]].layer_nsec;
                if (ret_layers)
                        ret_layers[i] = least + more;
        }
        return left > 0 ? INFINITY : nsec;
}

void ald_placement_set_layers(const AldPlacementProblem *problem, AldPlacementStage *stages, uint32_t n)
{
        g_autofree uint32_t *devices = g_new(uint32_t, n), *layers = g_new(uint32_t, n);

        for (uint32_t i = 0; i < n; i++)
                devices[i] = stages[i].device;
        ald_placement_sort_by_speed(problem, devices, n);
        (void) ald_placement_split(problem, devices, n, stages[0].device, stages[n - 1].device, layers);
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (devices[j] == stages[i].device)
                                stages[i].layers = layers[j];
}

/* Sorts required devices first, then those with the most room. */
static int compare_room(const void *a, const void *b, void *devices)
{
        const uint32_t *i = a, *j = b;
        const AldPlacementDevice *left = (const AldPlacementDevice *) devices + *i,
                                 *right = (const AldPlacementDevice *) devices + *j;

        if (left->required != right->required)
                return left->required ? -1 : 1;
        return left->layers_max > right->layers_max ? -1 : left->layers_max < right->layers_max ? 1 : 0;
}

/* Returns whether the layers fit with these ends. Counts the required devices, the ends, and then those with
 * the most room, which is the fewest devices possible, so that each gets a layer. */
static bool fits_between(
        const AldPlacementProblem *problem, const uint32_t *by_room, uint32_t first, uint32_t last)
{
        const uint32_t ends[] = { first, last }, n_ends = !problem->ends ? 0 : first == last ? 1 : 2;
        uint32_t most = n_ends == 1 ? 1 : ald_placement_stages_max(problem), n = 0, i = 0;
        uint32_t least = ald_placement_layers_min(problem);
        uint64_t layers = 0;

        for (; i < problem->n_devices && problem->devices[by_room[i]].required; i++, n++) {
                uint32_t room = ald_placement_layers_max(problem, by_room[i], first, last);

                if (room < least)
                        return false;
                layers += room;
        }
        for (uint32_t end = 0; end < n_ends; end++) {
                uint32_t room = ald_placement_layers_max(problem, ends[end], first, last);

                if (room < least)
                        return false;
                if (!problem->devices[ends[end]].required) {
                        layers += room;
                        n++;
                }
        }
        for (; i < problem->n_devices && n < most && layers < problem->layers; i++)
                if (by_room[i] != first && by_room[i] != last) {
                        layers += problem->devices[by_room[i]].layers_max;
                        n++;
                }
        return n <= most && layers >= problem->layers;
}

bool ald_placement_fits(const AldPlacementProblem *problem)
{
        g_autofree uint32_t *by_room = g_new(uint32_t, problem->n_devices);

        for (uint32_t i = 0; i < problem->n_devices; i++)
                by_room[i] = i;
        if (problem->layers == 0 || problem->n_devices == 0)
                return false;
        qsort_r(by_room, problem->n_devices, sizeof by_room[0], compare_room, (void *) problem->devices);
        if (!problem->ends)
                return fits_between(problem, by_room, ALD_PLACEMENT_NO_END, ALD_PLACEMENT_NO_END);
        for (uint32_t first = 0; first < problem->n_devices; first++)
                for (uint32_t last = 0; last < problem->n_devices; last++)
                        if (fits_between(problem, by_room, first, last))
                                return true;
        return false;
}
