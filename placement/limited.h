/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/problem.h"

/*
 * What remains of a problem if no stage, and no path by which the data of one step is on its way, may take
 * longer than a limit, in nanoseconds; occupy_nsec as in ring-front.h.
 */
typedef struct AldPlacementLimited {
        AldPlacementProblem problem; /* with less room and fewer paths */
        const AldPlacementProblem *all;
        const double *occupy_nsec;
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        double *hop_nsec, *closing_nsec; /* the second one is NULL where that of the problem is */
} AldPlacementLimited;

/* Without a limit yet. */
void ald_placement_limited_init(
        AldPlacementLimited *limited, const AldPlacementProblem *problem, const double *occupy_nsec);
void ald_placement_limited_clear(AldPlacementLimited *limited);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementLimited, ald_placement_limited_clear)

void ald_placement_limited_set(AldPlacementLimited *limited, double limit_nsec);

/* All times that the busiest part can take, as doubles, the least first. */
GArray *ald_placement_list_limits(const AldPlacementProblem *problem, const double *occupy_nsec);
