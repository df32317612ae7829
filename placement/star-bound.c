/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/star.h"

#define PRICES 16u

/* A device in part: its layers take their share of what using it costs. */
typedef struct Share {
        double layer_nsec, use_nsec;
        double nsec; /* of a layer with its share */
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

/* With a price for each device that is used; *ret_devices: how many are, in parts. */
static double fill_shares(Share *shares, uint32_t n, uint32_t layers, double price, double *ret_devices)
{
        double nsec = 0;

        for (uint32_t i = 0; i < n; i++)
                shares[i].nsec = shares[i].layer_nsec + (shares[i].use_nsec + price) / shares[i].layers_max;
        qsort(shares, n, sizeof *shares, compare_shares);
        *ret_devices = 0;
        for (uint32_t i = 0; i < n && layers > 0; i++) {
                uint32_t some = MIN(layers, shares[i].layers_max);

                nsec += some * shares[i].nsec;
                layers -= some;
                *ret_devices += (double) some / shares[i].layers_max;
        }
        return layers > 0 ? INFINITY : nsec;
}

/* Of one device, the one at which about as many are used as may be. */
static double find_price(Share *shares, uint32_t n, uint32_t layers, uint32_t devices_max, double most)
{
        double low = 0, high = most;

        for (uint32_t i = 0; i < PRICES; i++) {
                double price = (low + high) / 2, devices;

                (void) fill_shares(shares, n, layers, price, &devices);
                if (devices > devices_max)
                        low = price;
                else
                        high = price;
        }
        return high;
}

/* No solution that obeys the limit takes less than at any price, less the price of all that may be used. */
static double bound_limited(
        Share *shares, uint32_t n, uint32_t layers, uint32_t devices_max, double *price_nsec)
{
        double devices, nsec = fill_shares(shares, n, layers, 0, &devices);

        if (devices_max == 0 || devices <= devices_max || isinf(nsec))
                return nsec;
        if (isnan(*price_nsec))
                *price_nsec = find_price(shares, n, layers, devices_max, nsec);
        return MAX(nsec, fill_shares(shares, n, layers, *price_nsec, &devices) - *price_nsec * devices_max);
}

double ald_placement_star_bound(
        const AldPlacementProblem *problem, const AldPlacementArm *arms, double *price_nsec)
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
                shares[n++] = (Share){
                        .layer_nsec = problem->devices[i].layer_nsec, .use_nsec = use_nsec, .layers_max = most
                };
        }
        if (n == 0 || !can_hold(shares, n, problem->devices_max, problem->layers))
                return INFINITY;
        return bound_limited(shares, n, problem->layers, problem->devices_max, price_nsec) +
               MIN(more[ALD_PLACEMENT_BOTH], more[ALD_PLACEMENT_FIRST] + more[ALD_PLACEMENT_LAST]);
}
