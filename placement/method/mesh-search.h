/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/method/mesh.h"

/* Up to this number of members, all sets are considered; with more, as many as limited work allows. */
#define ALD_SLICE_EXACT_MAX 16u

typedef struct AldSliceSet {
        uint32_t *members; /* numbers in the mesh, one for each slice; to be freed */
        uint32_t root;     /* one of them */
        double nsec;       /* time of a step: the slowest slice, and the transfers */
} AldSliceSet;

/*
 * Finds the members that take the least time, if that is less than enough_nsec; returns -ENOSPC if there are
 * none. *ret_lower_nsec is always set: no set takes less than that, or than enough_nsec if that is less.
 */
int ald_slice_mesh_search(
        const AldSliceMesh *mesh, double enough_nsec, AldSliceSet *ret, double *ret_lower_nsec);
