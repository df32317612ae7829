/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/star.h"

/* A device in part: its layers take their share of what using it costs. */
typedef struct Share {
        double nsec;
        uint32_t layers_max;
} Share;

static int compare_shares(const void *a, const void *b)
{
        const Share *x = a, *y = b;

        return x->nsec < y->nsec ? -1 : x->nsec > y->nsec;
}

static int compare_layers(const void *a, const void *b)
{
        const Share *x = a, *y = b;

        return x->layers_max > y->layers_max ? -1 : x->layers_max < y->layers_max;
}

/* Whether the devices with the most room have enough. */
static bool can_hold(Share *shares, uint32_t n, uint32_t devices_max, uint32_t layers)
{
        uint64_t room = 0;

        qsort(shares, n, sizeof *shares, compare_layers);
        for (uint32_t i = 0; i < n && (devices_max == 0 || i < devices_max); i++)
                room += shares[i].layers_max;
        return room >= layers;
}

static double fill_shares(Share *shares, uint32_t n, uint32_t layers)
{
        double nsec = 0;

        qsort(shares, n, sizeof *shares, compare_shares);
        for (uint32_t i = 0; i < n && layers > 0; i++) {
                uint32_t some = MIN(layers, shares[i].layers_max);

                nsec += some * shares[i].nsec;
                layers -= some;
        }
        return layers > 0 ? INFINITY : nsec;
}

double ald_placement_star_bound(const AldPlacementProblem *problem, const AldPlacementArm *arms)
{
        g_autofree Share *shares = g_new(Share, problem->n_devices);
        double more[ALD_PLACEMENT_N_ROLES] = { INFINITY, INFINITY, INFINITY, INFINITY };
        uint32_t n = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                double use_nsec = INFINITY;
                uint32_t most = 0;

                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                        if (!(ald_placement_arm(arms, i, role)->use_nsec < INFINITY))
                                continue;
                        use_nsec = MIN(use_nsec, ald_placement_arm(arms, i, role)->use_nsec);
                        most = MAX(most, ald_placement_arm(arms, i, role)->layers_max);
                }
                if (most == 0)
                        continue;
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                        more[role] = MIN(more[role], ald_placement_arm(arms, i, role)->use_nsec - use_nsec);
                shares[n++] = (Share){ problem->devices[i].layer_nsec + use_nsec / most, most };
        }
        if (!can_hold(shares, n, problem->devices_max, problem->layers))
                return INFINITY;
        return fill_shares(shares, n, problem->layers) +
               MIN(more[ALD_PLACEMENT_BOTH], more[ALD_PLACEMENT_FIRST] + more[ALD_PLACEMENT_LAST]);
}
