/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/problem.h"

/*
 * The part of a problem that remains if no stage may take longer than a limit, and the data of one step may
 * occupy no path longer; in nanoseconds. For occupy_nsec see ring-front.h.
 */
typedef struct AldPlacementLimited {
        AldPlacementProblem problem; /* the problem with less room and fewer paths */
        const AldPlacementProblem *all;
        const double *occupy_nsec;
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        double *hop_nsec, *closing_nsec; /* closing_nsec is NULL if it is in the problem */
} AldPlacementLimited;

/* Starts without a limit. */
void ald_placement_limited_init(
        AldPlacementLimited *limited, const AldPlacementProblem *problem, const double *occupy_nsec);
void ald_placement_limited_clear(AldPlacementLimited *limited);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementLimited, ald_placement_limited_clear)

void ald_placement_limited_set(AldPlacementLimited *limited, double limit_nsec);

/* Returns all times that the busiest part can take, as doubles in ascending order. */
GArray *ald_placement_list_limits(const AldPlacementProblem *problem, const double *occupy_nsec);
