/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/problem.h"

/*
 * Made-up clusters to place a model on, with figures as real ones have: memory read at 50 GB/s to 3.35 TB/s,
 * layers of 0.2 to 2 GB, round trips of 5 us to 5 ms, paths of 20 Mb/s to 400 Gb/s. The same shape, size and
 * seed always give the same cluster, whose layers fit into its memory.
 */
typedef enum PlacementClusterShape {
        PLACEMENT_CLUSTER_RACKS,  /* fast within a rack, slower between racks */
        PLACEMENT_CLUSTER_FLAT,   /* one switch, adapters of all speeds */
        PLACEMENT_CLUSTER_WIFI,   /* slow and uneven, and differs by direction */
        PLACEMENT_CLUSTER_SPARSE, /* flat, but only 16 peers of a node are measured */
        PLACEMENT_CLUSTER_HOSTS,  /* of 8 equal GPUs each, all hosts alike */
} PlacementClusterShape;

typedef struct PlacementCluster {
        AldPlacementDevice *devices;
        AldPlacementEnds *ends; /* not part of the problem unless the caller wants them */
        double *hop_nsec, *occupy_nsec;
        AldPlacementProblem problem; /* of at most 16 devices; of any number of GPUs */
} PlacementCluster;

/* n devices, of which PLACEMENT_CLUSTER_HOSTS has a multiple of 8. */
void placement_cluster_make(PlacementCluster *ret, PlacementClusterShape shape, uint32_t n, uint32_t seed);
void placement_cluster_clear(PlacementCluster *cluster);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PlacementCluster, placement_cluster_clear)
