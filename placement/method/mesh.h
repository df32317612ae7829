/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/method/slice-cost.h"
#include "placement/plan/choice.h"

/*
 * The candidates that could each have one of a number of equal slices, and the cost of choosing some of them,
 * which are all joined to each other. One exchange between all of them takes the longest half of a round
 * trip, plus the time that the slowest node needs to send its part to each of the others, or to receive
 * theirs, one after the other, since a node may have only one network adapter.
 */
typedef struct AldSliceMesh {
        AldPlanProgress *progress;
        uint32_t slices;
        AldSliceTransfers transfers;
        uint32_t n;
        uint32_t *members; /* candidates, the fastest first */
        double *nsec;      /* of a slice */
        bool *required, *may_be_root;
        double *half_nsec, *byte_nsec; /* [from * n + to]: half of the round trip, and the time per byte;
                                          INFINITY if not joined */
} AldSliceMesh;

void ald_slice_mesh_init(AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t slices);
void ald_slice_mesh_clear(AldSliceMesh *mesh);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSliceMesh, ald_slice_mesh_clear)

/* Relaxes the mesh, whose paths are chosen for one exchange, so that each set takes no longer than with any
 * other choice of paths. Returns whether that changes anything. */
bool ald_slice_mesh_relax(
        AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice);

/* Returns the time of the transfers of one member of a set with this root, if the others are not slower; 0 if
 * it is alone. */
double ald_slice_mesh_share_nsec(
        const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root, uint32_t member);

/* Returns the time of all exchanges. */
double ald_slice_mesh_exchange_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n);

/* Returns the time of what the root sends before the exchanges and receives after them. */
double ald_slice_mesh_root_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root);
