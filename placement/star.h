/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* The bits tell which end of a star or ring a stage is. */
typedef enum AldPlacementRole {
        ALD_PLACEMENT_PLAIN = 0,
        ALD_PLACEMENT_FIRST = 1,
        ALD_PLACEMENT_LAST = 2,
        ALD_PLACEMENT_BOTH = 3,
        ALD_PLACEMENT_N_ROLES = 4,
} AldPlacementRole;

/* A device in a role. */
typedef struct AldPlacementArm {
        double use_nsec; /* that using it costs beside its layers, 0 or more; INFINITY: it cannot be reached,
                            or cannot have this role */
        uint32_t layers_max; /* that fit into its memory then */
        /* What a visit to its node costs, such as round trip and transfers, and what using it after another
         * device of the node does instead, which is no more than what a second visit costs; 0 or more. They
         * are the same for all devices of a node, and the latter for all roles. */
        double visit_nsec, after_nsec;
} AldPlacementArm;

static inline const AldPlacementArm *ald_placement_arm(
        const AldPlacementArm *arms, uint32_t device, AldPlacementRole role)
{
        return &arms[(size_t) device * ALD_PLACEMENT_N_ROLES + role];
}

typedef struct AldPlacementStarSolution {
        AldPlacementStage *stages; /* to be freed */
        uint32_t n_stages;
        uint32_t last; /* the stage that is the last, or both: then it is not the last one of several */
        double nsec;
} AldPlacementStarSolution;

void ald_placement_star_solution_clear(AldPlacementStarSolution *solution);

/*
 * The split with the least time of one step for an engine whose client sends the activations to each device
 * that it uses and receives them back, as llama.cpp does with RPC: the sum over the used devices of
 * layers × layer_nsec + use_nsec, over the used nodes of visit_nsec in the role that one of their devices
 * has, and of after_nsec for each further device of a node. Arms are [device][role]. One device is the first
 * and one is the last, or one is both. A node that has both, on two devices, is visited twice, unless no
 * other node is used: then visit_nsec in both roles counts. The stages are in the order of the nodes between
 * those two, as any order takes the same time; layers_max of the devices, hop_nsec and ends of the problem
 * are not read. Without nodes, each device is one of its own.
 *
 * Exact for any number of devices, by dynamic programming over layers, and over devices and nodes if their
 * limits matter, unless these are too many for ALD_PLACEMENT_STAR_CELLS; of about equal solutions one with
 * few devices. Takes 5 bytes for each cell, of which there are 4 · devices · layers for each number of
 * devices and nodes that is counted, twice that if nodes have several devices, and some ns.
 *
 * -ENOSPC also if the layers fit only with devices that cannot be reached, or if none takes less than
 * below_nsec; -E2BIG if the cells are too many even where only devices are counted. *ret_lower_nsec: no
 * solution takes less; INFINITY: there is none. *work is raised by the cells.
 */
#define ALD_PLACEMENT_STAR_CELLS UINT64_C(40000000)

int ald_placement_solve_star(const AldPlacementProblem *problem, const AldPlacementArm *arms,
        double below_nsec, uint64_t *work, AldPlacementStarSolution *ret, double *ret_lower_nsec);

/* No solution takes less: if devices could be used in part, and if more than devices_max cost *price_nsec
 * each. NAN: a good price is found and set, if it matters; it also suits like problems. */
double ald_placement_star_bound(
        const AldPlacementProblem *problem, const AldPlacementArm *arms, double *price_nsec);
