/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a solver decides on: devices that could each take some of a model's layers, which are alike, and what
 * a transfer between two of them costs. All times are of one step, in nanoseconds.
 */
typedef struct AldPlacementDevice {
        double layer_nsec;   /* of one layer; more than 0 */
        uint32_t layers_max; /* that fit into its memory */
        bool required;       /* it gets a layer at least */
} AldPlacementDevice;

/* What a device also does as the first stage (the embedding), as the last one (the head) or as the only one,
 * which is both. */
typedef struct AldPlacementEnds {
        double first_nsec, last_nsec; /* besides its layers; 0 or more */
        /* Layers that fit beside what the device then holds; no more than its layers_max count. */
        uint32_t layers_max_first, layers_max_last, layers_max_both;
} AldPlacementEnds;

typedef struct AldPlacementProblem {
        uint32_t layers;
        uint32_t n_devices;
        const AldPlacementDevice *devices;
        /* From device i to device j at [i * n_devices + j]; 0 or more; INFINITY: no path that may be
         * used. */
        const double *hop_nsec;
        /* From the last stage back to the first, indexed as hop_nsec is; read for rings with ends only. NULL:
         * as hop_nsec. */
        const double *closing_nsec;
        /* How long it occupies the path then, as occupy_nsec of ring-front.h; NULL: as that. */
        const double *closing_occupy_nsec;
        uint32_t exact_max;    /* devices of a ring that is solved exactly where limited work leaves a gap;
                                  0: ALD_PLACEMENT_RING_MAX */
        uint32_t layers_min;   /* on each device that is used; 0: one */
        uint32_t devices_max;  /* that may be used; 0: all */
        const uint32_t *nodes; /* that each device is on; of rings read for the next three only */
        uint32_t nodes_max;    /* whose devices may be used; 0: all */
        bool nodes_together;   /* of a ring with ends: the devices of each node follow each other, from the
                                  first stage on, so that no node is in two places */
        bool nodes_even;       /* as many devices are used of each node as of the others, or none */
        const AldPlacementEnds *ends; /* of each device; NULL: ends take no time and hold nothing */
        /* Called every few milliseconds by solvers that take long; false: give up. NULL: never. */
        bool (*proceed)(void *userdata);
        void *userdata;
} AldPlacementProblem;

bool ald_placement_proceeds(const AldPlacementProblem *problem);

/* Without ends, a ring is closed by a hop like the others, as it has no last stage. */
static inline bool ald_placement_closes_otherwise(const AldPlacementProblem *problem)
{
        return problem->ends && problem->closing_nsec;
}

static inline double ald_placement_closing(const AldPlacementProblem *problem, uint32_t last, uint32_t first)
{
        const double *nsec = ald_placement_closes_otherwise(problem) ? problem->closing_nsec
                                                                     : problem->hop_nsec;

        return nsec[(size_t) last * problem->n_devices + first];
}

/* On each device that is used. */
static inline uint32_t ald_placement_layers_min(const AldPlacementProblem *problem)
{
        return problem->layers_min > 0 ? problem->layers_min : 1;
}

typedef struct AldPlacementStage {
        uint32_t device;
        uint32_t layers;
} AldPlacementStage;

/* Stages in the order in which a step passes through them. */
typedef struct AldPlacementSolution {
        AldPlacementStage *stages; /* to be freed */
        uint32_t n_stages;
        double nsec; /* of one step */
} AldPlacementSolution;

/* How many nodes these devices are on. */
uint32_t ald_placement_count_nodes(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n);

/* Whether there are as many of these devices on each of their nodes. */
bool ald_placement_is_even(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n);

void ald_placement_solution_clear(AldPlacementSolution *solution);

/* Makes it the best one if it takes less, or if there is none yet; else clears it. */
void ald_placement_solution_keep(AldPlacementSolution *solution, AldPlacementSolution *best);

/* What a solver returns, as a negative number: -ENOSPC, the layers fit on no choice of devices that is
 * allowed; -EHOSTUNREACH, they do, but no paths join these; -E2BIG, more devices or stages than it solves;
 * -ECANCELED, proceed() returned false. */
