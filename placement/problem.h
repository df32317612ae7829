/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The input and output of the solvers: devices, each of which could take some of a model's layers, which are
 * alike, and the cost of a transfer between two of them. All times are those of one step, in nanoseconds.
 */
typedef struct AldPlacementDevice {
        double layer_nsec;   /* time of one layer; more than 0 */
        uint32_t layers_max; /* layers that fit into its memory */
        bool required;       /* it gets at least one layer */
} AldPlacementDevice;

/* The additional work and memory of a device as the first stage (the embedding), as the last one (the head),
 * or as the only one, which is both. */
typedef struct AldPlacementEnds {
        double first_nsec, last_nsec; /* time besides its layers; 0 or more */
        /* Layers that fit beside what the device then holds; its layers_max still applies. */
        uint32_t layers_max_first, layers_max_last, layers_max_both;
} AldPlacementEnds;

typedef struct AldPlacementProblem {
        uint32_t layers;
        uint32_t n_devices;
        const AldPlacementDevice *devices;
        /* [i * n_devices + j]: from device i to device j, 0 or more; INFINITY if no path may be used. */
        const double *hop_nsec;
        /* From the last stage back to the first, indexed like hop_nsec; only read for rings with ends. NULL
         * means hop_nsec. */
        const double *closing_nsec;
        /* How long that hop occupies its path, see occupy_nsec in ring-front.h. NULL means occupy_nsec. */
        const double *closing_occupy_nsec;
        uint32_t exact_max;  /* most devices of a ring that is solved exactly if limited work leaves a gap; 0:
                                ALD_PLACEMENT_RING_MAX */
        uint32_t layers_min; /* fewest layers on each device that is used; 0: one */
        uint32_t devices_max;  /* most that may be used; 0: all */
        const uint32_t *nodes; /* the node of each device; for rings, only read for the next three */
        uint32_t nodes_max;    /* most nodes whose devices may be used; 0: all */
        bool nodes_together; /* in a ring with ends, the devices of each node follow each other from the first
                                stage on, so that no node is in two places */
        bool nodes_even;     /* equally many devices of each node are used, or none */
        const AldPlacementEnds *ends; /* of each device; NULL: ends take no time and hold nothing */
        /* Called every few milliseconds by long-running solvers, which give up if it returns false; may be
         * NULL. */
        bool (*proceed)(void *userdata);
        void *userdata;
} AldPlacementProblem;

bool ald_placement_proceeds(const AldPlacementProblem *problem);

/* Returns whether the hop that closes a ring has a cost of its own. Without ends it is a hop like the others,
 * since a ring has no last stage then. */
static inline bool ald_placement_has_closing_cost(const AldPlacementProblem *problem)
{
        return problem->ends && problem->closing_nsec;
}

static inline double ald_placement_closing(const AldPlacementProblem *problem, uint32_t last, uint32_t first)
{
        const double *nsec = ald_placement_has_closing_cost(problem) ? problem->closing_nsec
                                                                     : problem->hop_nsec;

        return nsec[(size_t) last * problem->n_devices + first];
}

/* Returns the fewest layers on each device that is used. */
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

/* Returns how many nodes these devices are on. */
uint32_t ald_placement_count_nodes(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n);

/* Returns whether each node of these devices has equally many of them. */
bool ald_placement_is_even(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n);

/* Compares two times for qsort(). */
int ald_placement_compare_nsec(const void *a, const void *b);

void ald_placement_solution_clear(AldPlacementSolution *solution);

/* Takes the solution: moves it to *best if it takes less time or there is none yet, else clears it. */
void ald_placement_solution_keep(AldPlacementSolution *solution, AldPlacementSolution *best);

/* Errors of solvers: -ENOSPC if the layers fit on no allowed choice of devices; -EHOSTUNREACH if they do, but
 * no paths join such devices; -E2BIG if there are more devices or stages than the solver supports; -ECANCELED
 * if proceed() returned false. */
