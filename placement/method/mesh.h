/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/method/slice-cost.h"
#include "placement/plan/choice.h"

/*
 * The candidates that could each have one of a number of equal slices, all of them joined to each other, and
 * what it costs if some of them do. One exchange between all of them takes the longest half of a round trip,
 * and as long as it takes the slowest node to send its part to each of the others, or to receive theirs, one
 * after the other, as a node may have one network adapter only.
 */
typedef struct AldSliceMesh {
        AldPlanProgress *progress;
        uint32_t slices;
        AldSliceTransfers transfers;
        uint32_t n;
        uint32_t *members; /* candidates, those first that are fastest */
        double *nsec;      /* of a slice */
        bool *required, *may_be_root;
        double *half_nsec, *byte_nsec; /* [from * n + to]: of a round trip, and for each byte; INFINITY: not
                                          joined */
} AldSliceMesh;

void ald_slice_mesh_init(AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t slices);
void ald_slice_mesh_clear(AldSliceMesh *mesh);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSliceMesh, ald_slice_mesh_clear)

/* Makes it a mesh in which no set takes longer than with any other choice of paths, as those that are in it
 * are chosen for one exchange. Whether that changes anything. */
bool ald_slice_mesh_relax(
        AldSliceMesh *mesh, const AldPlanCandidates *candidates, const AldPlanChoice *choice);

/* What the transfers of one of a set of members take, of which one is the root, if the others are not slower;
 * 0 if it is alone. */
double ald_slice_mesh_share_nsec(
        const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root, uint32_t member);

/* What all exchanges take. */
double ald_slice_mesh_exchange_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n);

/* What the root sends before and receives after them. */
double ald_slice_mesh_root_nsec(const AldSliceMesh *mesh, const uint32_t *set, uint32_t n, uint32_t root);
