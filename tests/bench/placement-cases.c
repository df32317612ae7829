/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "tests/bench/placement-cases.h"
#include "tests/unit/placement/clusters.h"

#define CLUSTER_NODES 32u /* several racks or hosts */
#define LAYERS_MAX 40u

typedef struct PlacementCaseMaker {
        PlacementCase *made;
        GRand *random;
        const PlacementCluster *cluster;
        uint32_t n, node[PLACEMENT_CASE_DEVICES_MAX]; /* of each device */
} PlacementCaseMaker;

static uint32_t below(PlacementCaseMaker *maker, uint32_t n)
{
        return (uint32_t) g_rand_int_range(maker->random, 0, (int) n);
}

static double between(PlacementCaseMaker *maker, double low, double high)
{
        return low * pow(high / low, g_rand_double(maker->random));
}

static void pick_nodes(PlacementCaseMaker *maker)
{
        uint32_t nodes[CLUSTER_NODES];

        for (uint32_t i = 0; i < CLUSTER_NODES; i++)
                nodes[i] = i;
        for (uint32_t i = 0; i < maker->n; i++) {
                uint32_t at = i + below(maker, CLUSTER_NODES - i);

                maker->node[i] = nodes[at];
                nodes[at] = nodes[i];
        }
}

/* The relation of the devices' memory is kept, and how much there is of it is chosen anew. */
static void set_room(PlacementCaseMaker *maker)
{
        double room = 0, most = below(maker, 5) == 0 ? 12 : 2.2, factor;

        for (uint32_t i = 0; i < maker->n; i++)
                room += maker->cluster->devices[maker->node[i]].layers_max;
        factor = maker->made->problem.layers * between(maker, 0.95, most) / fmax(room, 1);
        for (uint32_t i = 0; i < maker->n; i++) {
                AldPlacementDevice *device = &maker->made->devices[i];

                *device = maker->cluster->devices[maker->node[i]];
                device->layers_max = (uint32_t) round(device->layers_max * factor);
        }
}

/* Both ends hold one or two layers less than a stage in the middle, or as many. */
static void set_ends(PlacementCaseMaker *maker)
{
        for (uint32_t i = 0; i < maker->n; i++) {
                AldPlacementEnds *ends = &maker->made->ends[i];
                uint32_t most = maker->made->devices[i].layers_max, first = below(maker, 2),
                         last = below(maker, 3);

                first = MIN(first, most);
                last = MIN(last, most);
                *ends = maker->cluster->ends[maker->node[i]];
                ends->first_nsec = maker->made->devices[i].layer_nsec * between(maker, 0.01, 1);
                ends->layers_max_first = most - first;
                ends->layers_max_last = most - last;
                ends->layers_max_both = most - MIN(first + last, most);
        }
}

/* Scaled to what a stage takes, from a third to six times as much. */
static void set_hops(PlacementCaseMaker *maker)
{
        PlacementCase *made = maker->made;
        double hops = 0, layers = 0, factor;
        uint32_t n_hops = 0;

        for (uint32_t i = 0; i < maker->n; i++) {
                layers += made->devices[i].layer_nsec * made->problem.layers / maker->n;
                for (uint32_t j = 0; j < maker->n; j++) {
                        double nsec =
                                maker->cluster->hop_nsec[maker->node[i] * CLUSTER_NODES + maker->node[j]];

                        made->hop_nsec[i * maker->n + j] = nsec;
                        hops += nsec < INFINITY ? nsec : 0;
                        n_hops += nsec < INFINITY;
                }
        }
        factor = n_hops > 0 ? layers / maker->n * between(maker, 0.3, 6) * n_hops / hops : 1;
        for (uint32_t i = 0; i < maker->n * maker->n; i++)
                made->hop_nsec[i] *= factor;
}

/* The token that closes a ring takes the latency of the path, and a hundredth of the rest. */
static void set_closing(PlacementCaseMaker *maker)
{
        PlacementCase *made = maker->made;

        for (uint32_t i = 0; i < maker->n; i++)
                for (uint32_t j = 0; j < maker->n; j++) {
                        size_t of = maker->node[i] * CLUSTER_NODES + maker->node[j], at = i * maker->n + j;
                        double occupied = maker->cluster->occupy_nsec[of] / maker->cluster->hop_nsec[of];

                        made->closing_nsec[at] = made->hop_nsec[at] < INFINITY
                                                         ? made->hop_nsec[at] * (1 - 0.99 * occupied)
                                                         : INFINITY;
                }
        made->problem.closing_nsec = below(maker, 4) > 0 ? made->closing_nsec : NULL;
}

static void set_star(PlacementCaseMaker *maker)
{
        PlacementCase *made = maker->made;
        bool has_last = below(maker, 2);

        for (uint32_t i = 0; i < maker->n; i++) {
                made->use_nsec[i] = i == 0 ? 0 : made->hop_nsec[i] + made->hop_nsec[i * maker->n];
                made->last_nsec[i] = made->ends[i].last_nsec;
                made->last_layers_max[i] = made->ends[i].layers_max_last;
        }
        made->star = (PlacementStar){ .use_nsec = made->use_nsec,
                .last_nsec = has_last ? made->last_nsec : NULL,
                .last_layers_max = has_last ? made->last_layers_max : NULL };
}

void placement_case_make(PlacementCase *ret, uint32_t n_devices, uint32_t seed)
{
        static const PlacementClusterShape shapes[] = { PLACEMENT_CLUSTER_RACKS, PLACEMENT_CLUSTER_FLAT,
                PLACEMENT_CLUSTER_WIFI, PLACEMENT_CLUSTER_SPARSE, PLACEMENT_CLUSTER_HOSTS };
        g_auto(PlacementCluster) cluster = { 0 };
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        PlacementCaseMaker maker = { .made = ret, .random = random, .cluster = &cluster, .n = n_devices };
        uint32_t layers = 1 + below(&maker, LAYERS_MAX);
        bool has_ends = below(&maker, 2);

        placement_cluster_make(&cluster, shapes[seed % G_N_ELEMENTS(shapes)], CLUSTER_NODES, seed);
        *ret = (PlacementCase){ .problem = { .layers = layers,
                                        .n_devices = n_devices,
                                        .devices = ret->devices,
                                        .hop_nsec = ret->hop_nsec,
                                        .ends = has_ends ? ret->ends : NULL } };
        if (below(&maker, 3) == 0)
                ret->problem.devices_max = (n_devices + 1) / 2 + below(&maker, n_devices / 2 + 1);
        pick_nodes(&maker);
        set_room(&maker);
        if (below(&maker, 3) == 0)
                for (uint32_t i = 0; i < n_devices; i++)
                        ret->devices[i].required = ret->devices[i].layers_max > 0 && below(&maker, 6) == 0;
        set_ends(&maker);
        set_hops(&maker);
        set_star(&maker);
        set_closing(&maker);
}
