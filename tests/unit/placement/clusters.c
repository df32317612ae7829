/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "placement/split.h"
#include "tests/unit/placement/clusters.h"

#define HOST_GPUS 8u
#define PICKED 8u /* peers that a node measures; as many measure it */
#define KINDS 3u  /* of machines in a cluster */
#define STAGES 16u

typedef struct ClusterMachine {
        double bytes_per_nsec, memory; /* GB/s, and bytes */
} ClusterMachine;

/* Processors, integrated and discrete GPUs. */
static const ClusterMachine machines[] = { { 50, 16e9 }, { 80, 64e9 }, { 100, 32e9 }, { 256, 96e9 },
        { 273, 128e9 }, { 360, 12e9 }, { 400, 64e9 }, { 800, 192e9 }, { 864, 48e9 }, { 936, 24e9 },
        { 1008, 24e9 }, { 1792, 32e9 }, { 2039, 80e9 }, { 3350, 80e9 } };

typedef struct ClusterMaker {
        PlacementClusterShape shape;
        PlacementCluster *made;
        GRand *random;
        uint32_t n, rack_size;
        uint32_t kinds[KINDS];
        /* Read in a step, and kept: also experts that a token does not use, and the context. */
        double layer_bytes, kept_bytes, activation_bytes;
        uint32_t *machine; /* of each device, and its adapter's speed and share of a round trip */
        double *bits_per_nsec, *rtt_nsec, *speed, *free_bytes;
} ClusterMaker;

static double between(ClusterMaker *maker, double low, double high)
{
        return low * pow(high / low, g_rand_double(maker->random));
}

static uint32_t below(ClusterMaker *maker, uint32_t n)
{
        return (uint32_t) g_rand_int_range(maker->random, 0, (int) n);
}

static double noise(ClusterMaker *maker, double most)
{
        return 1 + most * (2 * g_rand_double(maker->random) - 1);
}

static void choose_adapter(ClusterMaker *maker, uint32_t i)
{
        static const double racks[] = { 10, 25, 100, 200, 400 }, flat[] = { 1, 1, 2.5, 10, 25, 100 };

        maker->rtt_nsec[i] = between(maker, 10e3, 150e3);
        if (maker->shape == PLACEMENT_CLUSTER_WIFI) {
                maker->bits_per_nsec[i] = between(maker, 0.02, 0.9);
                maker->rtt_nsec[i] = between(maker, 0.5e6, 2.5e6);
        } else if (maker->shape == PLACEMENT_CLUSTER_RACKS) {
                maker->bits_per_nsec[i] = racks[below(maker, G_N_ELEMENTS(racks))];
                maker->rtt_nsec[i] = between(maker, 2.5e3, 25e3);
        } else {
                maker->bits_per_nsec[i] = flat[below(maker, G_N_ELEMENTS(flat))];
        }
}

/* Most racks have machines of one kind, with adapters of one kind. */
static void choose_machines(ClusterMaker *maker)
{
        bool alike = false;

        for (uint32_t i = 0; i < KINDS; i++)
                maker->kinds[i] = below(maker, G_N_ELEMENTS(machines));
        for (uint32_t i = 0; i < maker->n; i++) {
                if (i % maker->rack_size == 0)
                        alike = maker->shape == PLACEMENT_CLUSTER_RACKS && below(maker, 4) > 0;
                maker->machine[i] = maker->kinds[below(maker, KINDS)];
                choose_adapter(maker, i);
                if (alike && i % maker->rack_size > 0) {
                        maker->machine[i] = maker->machine[i - 1];
                        maker->bits_per_nsec[i] = maker->bits_per_nsec[i - 1];
                }
        }
}

/* Hosts differ in nothing. */
static void choose_gpus(ClusterMaker *maker)
{
        static const uint32_t gpus[] = { 10, 11, 12, 13 };
        uint32_t gpu = gpus[below(maker, G_N_ELEMENTS(gpus))];

        for (uint32_t i = 0; i < maker->n; i++)
                maker->machine[i] = gpu;
        maker->bits_per_nsec[0] = between(maker, 10, 400);
        maker->rtt_nsec[0] = between(maker, 10e3, 100e3);
}

static void set_hop(ClusterMaker *maker, uint32_t from, uint32_t to, double rtt_nsec, double bits_per_nsec)
{
        size_t at = (size_t) from * maker->n + to;

        maker->made->occupy_nsec[at] = 8 * maker->activation_bytes / bits_per_nsec;
        maker->made->hop_nsec[at] = rtt_nsec / 2 + maker->made->occupy_nsec[at];
}

static void connect_pair(ClusterMaker *maker, uint32_t i, uint32_t j)
{
        bool wifi = maker->shape == PLACEMENT_CLUSTER_WIFI,
             far = maker->shape == PLACEMENT_CLUSTER_RACKS && i / maker->rack_size != j / maker->rack_size;
        double bits = fmin(maker->bits_per_nsec[i], maker->bits_per_nsec[j]),
               rtt = (maker->rtt_nsec[i] + maker->rtt_nsec[j]) * noise(maker, 0.1);

        if (far) { /* through switches that are shared */
                bits *= 0.25 * noise(maker, 0.2);
                rtt += between(maker, 20e3, 60e3);
        }
        set_hop(maker, i, j, rtt, bits * (wifi ? fmax(0.02 / bits, noise(maker, 0.4)) : noise(maker, 0.03)));
        set_hop(maker, j, i, rtt, bits * (wifi ? fmax(0.02 / bits, noise(maker, 0.4)) : noise(maker, 0.03)));
}

static void connect_gpus(ClusterMaker *maker)
{
        double bits = maker->bits_per_nsec[0], rtt = maker->rtt_nsec[0];

        for (uint32_t i = 0; i < maker->n; i++)
                for (uint32_t j = 0; j < maker->n; j++) {
                        bool near = i / HOST_GPUS == j / HOST_GPUS;

                        set_hop(maker, i, j, near ? 5e3 : rtt, near ? 400 : bits);
                }
}

static void connect_all(ClusterMaker *maker)
{
        for (uint32_t i = 0; i < maker->n; i++)
                for (uint32_t j = 0; j < i; j++)
                        connect_pair(maker, i, j);
}

static void connect_some(ClusterMaker *maker)
{
        for (uint32_t i = 0; i < maker->n; i++)
                for (uint32_t k = 0; k < PICKED; k++) {
                        uint32_t peer = below(maker, maker->n);

                        if (peer != i)
                                connect_pair(maker, i, peer);
                }
}

/* The head is as large as a layer or two. */
static void size_devices(ClusterMaker *maker)
{
        PlacementCluster *made = maker->made;
        double head = 1.5 * maker->layer_bytes;

        for (uint32_t i = 0; i < maker->n; i++) {
                double speed = machines[maker->machine[i]].bytes_per_nsec * maker->speed[i];
                uint32_t less = (uint32_t) fmax(0, (maker->free_bytes[i] - head) / maker->kept_bytes);

                made->devices[i] = (AldPlacementDevice){ .layer_nsec = maker->layer_bytes / speed,
                        .layers_max = (uint32_t) (maker->free_bytes[i] / maker->kept_bytes) };
                made->ends[i] = (AldPlacementEnds){ .last_nsec = head / speed,
                        .layers_max_first = less,
                        .layers_max_last = less,
                        .layers_max_both = less };
        }
}

static int compare_descending(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left < right) - (left > right);
}

/* Free in the largest devices that may be used together. */
static double room(const ClusterMaker *maker)
{
        g_autofree double *sorted = g_memdup2(maker->free_bytes, maker->n * sizeof(double));
        double sum = 0;

        qsort(sorted, maker->n, sizeof sorted[0], compare_descending);
        for (uint32_t i = 0; i < MIN(maker->n, STAGES); i++)
                sum += sorted[i];
        return sum;
}

/* It takes a good part of what may be used; smaller models fit on one device, which is no problem. */
static void choose_model(ClusterMaker *maker)
{
        static const uint32_t layers[] = { 32, 40, 60, 80, 96, 126 };
        /* Of a prompt, where one token would cross the network in no time beside that of its layers. */
        static const double tokens[] = { [PLACEMENT_CLUSTER_RACKS] = 512,
                [PLACEMENT_CLUSTER_FLAT] = 256,
                [PLACEMENT_CLUSTER_WIFI] = 2,
                [PLACEMENT_CLUSTER_SPARSE] = 128,
                [PLACEMENT_CLUSTER_HOSTS] = 128 };
        AldPlacementProblem *problem = &maker->made->problem;

        for (uint32_t i = 0; i < maker->n; i++) {
                bool alike = maker->shape == PLACEMENT_CLUSTER_HOSTS;

                maker->speed[i] = alike ? 0.8 : 0.8 * noise(maker, 0.05);
                maker->free_bytes[i] = machines[maker->machine[i]].memory *
                                       (alike ? 0.9 : between(maker, 0.6, 0.95));
        }
        problem->layers = layers[below(maker, G_N_ELEMENTS(layers))];
        maker->kept_bytes = room(maker) / problem->layers * between(maker, 0.1, 0.8);
        maker->layer_bytes = fmin(fmax(maker->kept_bytes / between(maker, 1, 8), 0.2e9), 2e9);
        maker->kept_bytes = fmax(maker->kept_bytes, maker->layer_bytes);
        maker->activation_bytes = between(maker, 8e3, 32e3);
        maker->activation_bytes *= between(maker, tokens[maker->shape], 64 * tokens[maker->shape]);
        for (size_devices(maker); !ald_placement_fits(problem); size_devices(maker))
                maker->kept_bytes *= 0.9;
}

static void make(ClusterMaker *maker)
{
        if (maker->shape == PLACEMENT_CLUSTER_HOSTS)
                choose_gpus(maker);
        else
                choose_machines(maker);
        choose_model(maker);
        for (size_t i = 0; i < (size_t) maker->n * maker->n; i++)
                maker->made->hop_nsec[i] = maker->made->occupy_nsec[i] = INFINITY;
        if (maker->shape == PLACEMENT_CLUSTER_HOSTS)
                connect_gpus(maker);
        else if (maker->shape == PLACEMENT_CLUSTER_SPARSE)
                connect_some(maker);
        else
                connect_all(maker);
}

void placement_cluster_make(PlacementCluster *ret, PlacementClusterShape shape, uint32_t n, uint32_t seed)
{
        g_autofree uint32_t *machine = g_new(uint32_t, n);
        g_autofree double *figures = g_new(double, (size_t) 4 * n);
        ClusterMaker maker = { .shape = shape,
                .made = ret,
                .random = g_rand_new_with_seed(seed),
                .n = n,
                .machine = machine,
                .bits_per_nsec = figures,
                .rtt_nsec = figures + n,
                .speed = figures + 2 * n,
                .free_bytes = figures + 3 * n };

        *ret = (PlacementCluster){ .devices = g_new(AldPlacementDevice, n),
                .ends = g_new(AldPlacementEnds, n),
                .hop_nsec = g_new(double, (size_t) n *n),
                .occupy_nsec = g_new(double, (size_t) n *n) };
        ret->problem = (AldPlacementProblem){ .n_devices = n,
                .devices = ret->devices,
                .hop_nsec = ret->hop_nsec,
                .devices_max = shape == PLACEMENT_CLUSTER_HOSTS ? 0 : STAGES };
        maker.rack_size = 8 + below(&maker, 33);
        make(&maker);
        g_rand_free(maker.random);
}

void placement_cluster_clear(PlacementCluster *cluster)
{
        g_free(cluster->devices);
        g_free(cluster->ends);
        g_free(cluster->hop_nsec);
        g_free(cluster->occupy_nsec);
}
