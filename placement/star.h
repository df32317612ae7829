/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* The role of a stage in a star or ring; its bits show which ends it is. */
typedef enum AldPlacementRole {
        ALD_PLACEMENT_PLAIN = 0,
        ALD_PLACEMENT_FIRST = 1,
        ALD_PLACEMENT_LAST = 2,
        ALD_PLACEMENT_BOTH = 3,
        ALD_PLACEMENT_N_ROLES = 4,
} AldPlacementRole;

/* The costs of a device in a role. */
typedef struct AldPlacementRoleCost {
        double use_nsec; /* cost of using it besides its layers, 0 or more; INFINITY if it cannot be reached,
                            or cannot have this role */
        uint32_t layers_max; /* layers that fit into its memory then */
        /* The cost of a visit to its node, such as round trip and transfers, and the cost of using it after
         * another device of the node instead, which is no more than that of a second visit; 0 or more. Both
         * are equal for all devices of a node, and after_nsec for all roles. */
        double visit_nsec, after_nsec;
} AldPlacementRoleCost;

static inline const AldPlacementRoleCost *ald_placement_role_cost(
        const AldPlacementRoleCost *role_costs, uint32_t device, AldPlacementRole role)
{
        return &role_costs[(size_t) device * ALD_PLACEMENT_N_ROLES + role];
}

typedef struct AldPlacementStarSolution {
        AldPlacementStage *stages; /* to be freed */
        uint32_t n_stages;
        uint32_t last; /* the stage with the last role, or both; with both, it need not be the last in
                          `stages` */
        double nsec;
} AldPlacementStarSolution;

void ald_placement_star_solution_clear(AldPlacementStarSolution *solution);

/*
 * Finds the split with the least time of one step, for an engine whose client sends the activations to each
 * device that it uses and receives them back, as llama.cpp does with RPC. That time is the sum over the used
 * devices of layers × layer_nsec + use_nsec, over the used nodes of visit_nsec in the role that one of their
 * devices has, and of after_nsec for each further device of a node. Role costs are [device][role]. One device
 * is the first and one is the last, or one is both. A node that has both, on two devices, is visited twice,
 * unless no other node is used: then visit_nsec in both roles counts. Between the two ends, stages are in the
 * order of their nodes, since any order takes the same time. layers_max of the devices, hop_nsec and ends of
 * the problem are not read. If `nodes` is NULL, each device is a node of its own.
 *
 * Exact for any number of devices, by dynamic programming over layers, and over devices and nodes if their
 * limits matter, unless these are too many for ALD_PLACEMENT_STAR_CELLS; of about equal solutions, one with
 * few devices is found. A cell takes 5 bytes and a few ns. There are 4 · devices · layers cells for each
 * counted number of devices and nodes, and twice as many if nodes have several devices.
 *
 * Returns -ENOSPC also if the layers only fit with devices that cannot be reached, or if no solution takes
 * less than below_nsec, and -E2BIG if there are too many cells even if only devices are counted. No solution
 * takes less than *ret_lower_nsec, which is INFINITY if there is none. *work is raised by the number of
 * cells.
 */
#define ALD_PLACEMENT_STAR_CELLS UINT64_C(40000000)

int ald_placement_solve_star(const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs,
        double below_nsec, uint64_t *work, AldPlacementStarSolution *ret, double *ret_lower_nsec);

/* Returns a lower bound on all solutions: it lets devices be used in part, and lets more than devices_max be
 * used at *price_nsec each. If that is NAN, a good price is found and set if it matters; it also suits
 * similar problems. */
double ald_placement_star_bound(
        const AldPlacementProblem *problem, const AldPlacementRoleCost *role_costs, double *price_nsec);
