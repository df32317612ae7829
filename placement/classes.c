/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "placement/classes.h"

static bool are_alike(const AldPlacementProblem *problem, uint32_t i, uint32_t j)
{
        const AldPlacementDevice *left = &problem->devices[i], *right = &problem->devices[j];

        if (left->layer_nsec != right->layer_nsec || left->layers_max != right->layers_max ||
                left->required != right->required)
                return false;
        if (!problem->ends)
                return true;
        return problem->ends[i].first_nsec == problem->ends[j].first_nsec &&
               problem->ends[i].last_nsec == problem->ends[j].last_nsec &&
               problem->ends[i].layers_max_first == problem->ends[j].layers_max_first &&
               problem->ends[i].layers_max_last == problem->ends[j].layers_max_last &&
               problem->ends[i].layers_max_both == problem->ends[j].layers_max_both;
}

static bool are_joined_alike(const double *hop, size_t n, uint32_t i, uint32_t j)
{
        if (hop[i * n + j] != hop[j * n + i])
                return false;
        for (size_t k = 0; k < n; k++)
                if (k != i && k != j &&
                        (hop[i * n + k] != hop[j * n + k] || hop[k * n + i] != hop[k * n + j]))
                        return false;
        return true;
}

void ald_placement_find_classes(const AldPlacementProblem *problem, uint32_t *ret_class)
{
        g_autofree uint32_t *first = g_new(uint32_t, problem->n_devices); /* of each class */
        uint32_t n_classes = 0, n = problem->n_devices;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t at = 0;

                while (at < n_classes &&
                        !(are_alike(problem, i, first[at]) &&
                                are_joined_alike(problem->hop_nsec, n, i, first[at]) &&
                                (!ald_placement_has_closing_cost(problem) ||
                                        are_joined_alike(problem->closing_nsec, n, i, first[at]))))
                        at++;
                if (at == n_classes)
                        first[n_classes++] = i;
                ret_class[i] = first[at];
        }
}
