/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/* Computes which file systems of this node are due from its Node1.Storage alone. The measuring service knows
 * which disks sleep, and how much may still be read today. */

/* Returns the AldDueProbes of file systems that hold models, the most urgent first. Measure only one at a
 * time. */
GArray *ald_planner_storage(AldStore *store, const AldPlannerInput *input);

/* Returns when a file system of this node is due; one without models never is. */
AldPathState ald_storage_state(const AldId *node, const AldStorageFileSystem *row, uint64_t now_realtime);
