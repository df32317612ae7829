/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "placement/star.h"

#define PRICES 16u

/* A device that may be used in part: each of its layers costs a share of what using the device costs. */
typedef struct Share {
        double layer_nsec, use_nsec;
        double nsec; /* of a layer with its share of that */
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

/* Returns whether the devices with the most room can hold the layers. */
static bool can_hold(Share *shares, uint32_t n, uint32_t devices_max, uint32_t layers)
{
        uint64_t room = 0;

        qsort(shares, n, sizeof *shares, compare_layers);
        for (uint32_t i = 0; i < n && (devices_max == 0 || i < devices_max); i++)
                room += shares[i].layers_max;
        return room >= layers;
}

/* Returns the least time of the layers if each used device costs this price in addition; *ret_devices is the
 * number of devices used, which may be fractional. */
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

/* Finds the price of a device at which about devices_max devices are used. */
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

/* Returns a lower bound under a limit on devices by Lagrangian relaxation: at any price, no solution within
 * the limit takes less than the total at that price, less devices_max times the price. */
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

/* The figures that the devices of a node share. */
typedef struct NodeShare {
        double visit_nsec; /* the least */
        double both_nsec;  /* cost beyond that if the first and the last layer are on two of its devices */
        uint64_t room;
        uint32_t n;
} NodeShare;

static double least_visit(const AldPlacementRoleCost *role_costs, uint32_t device)
{
        double nsec = INFINITY;

        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                nsec = MIN(nsec, ald_placement_role_cost(role_costs, device, role)->visit_nsec);
        return nsec;
}

/* Describes a device without the cost of its node. Returns false if the device cannot be used. */
static bool find_share(const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs,
        uint32_t device, Share *ret)
{
        *ret = (Share){ .layer_nsec = problem->devices[device].layer_nsec, .use_nsec = INFINITY };
        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                const AldPlacementRoleCost *role_cost = ald_placement_role_cost(role_costs, device, role);

                if (!(role_cost->use_nsec < INFINITY))
                        continue;
                ret->use_nsec = MIN(ret->use_nsec, role_cost->use_nsec);
                ret->layers_max = MAX(ret->layers_max, role_cost->layers_max);
        }
        return ret->layers_max > 0;
}

/* Lowers, for each role, the least surcharge over a device's cheapest role: without and with the surcharge of
 * the visit to its node. */
static void lower_surcharges(const AldPlacementRoleCost *role_costs, uint32_t device, const Share *share,
        double alone[], double with_visit[])
{
        double visit = least_visit(role_costs, device);

        for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++) {
                const AldPlacementRoleCost *role_cost = ald_placement_role_cost(role_costs, device, role);
                double more = role_cost->use_nsec - share->use_nsec;

                alone[role] = MIN(alone[role], more);
                with_visit[role] = MIN(with_visit[role], more + role_cost->visit_nsec - visit);
        }
}

static uint32_t node_of(const AldPlacementProblem *problem, uint32_t device)
{
        return problem->nodes ? problem->nodes[device] : device;
}

static GHashTable *find_nodes(const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs)
{
        GHashTable *nodes = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                gpointer key = GUINT_TO_POINTER(node_of(problem, i));
                NodeShare *node = g_hash_table_lookup(nodes, key);
                Share share;

                if (!find_share(problem, role_costs, i, &share))
                        continue;
                if (!node) {
                        node = g_new0(NodeShare, 1);
                        node->visit_nsec = least_visit(role_costs, i);
                        node->both_nsec =
                                ald_placement_role_cost(role_costs, i, ALD_PLACEMENT_BOTH)->visit_nsec -
                                node->visit_nsec;
                        g_hash_table_insert(nodes, key, node);
                }
                node->room += share.layers_max;
                node->n++;
        }
        return nodes;
}

/* A node costs its visit once. Its devices share that cost in proportion to their room, so that no part of
 * them is charged more than it costs. */
double ald_placement_star_bound(
        const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs, double *price_nsec)
{
        g_autoptr(GHashTable) nodes = find_nodes(problem, role_costs);
        g_autofree Share *shares = g_new(Share, problem->n_devices);
        double more[ALD_PLACEMENT_N_ROLES] = { INFINITY, INFINITY, INFINITY, INFINITY };
        double alone[ALD_PLACEMENT_N_ROLES] = { INFINITY, INFINITY, INFINITY, INFINITY };
        double both = INFINITY;
        uint32_t n = 0;

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                const NodeShare *node = g_hash_table_lookup(nodes, GUINT_TO_POINTER(node_of(problem, i)));

                if (!find_share(problem, role_costs, i, &shares[n]))
                        continue;
                lower_surcharges(role_costs, i, &shares[n], alone, more);
                if (node->n > 1)
                        both = MIN(both, node->both_nsec);
                shares[n].use_nsec += node->visit_nsec * shares[n].layers_max / (double) node->room;
                n++;
        }
        if (n == 0 || !can_hold(shares, n, problem->devices_max, problem->layers))
                return INFINITY;
        both += alone[ALD_PLACEMENT_FIRST] + alone[ALD_PLACEMENT_LAST];
        return bound_limited(shares, n, problem->layers, problem->devices_max, price_nsec) +
               MIN(both, MIN(more[ALD_PLACEMENT_BOTH], more[ALD_PLACEMENT_FIRST] + more[ALD_PLACEMENT_LAST]));
}
