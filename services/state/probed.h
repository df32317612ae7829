/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner/probed-kinds.h"

/* Merges the results of what this node measures by probes, and plans it. */

/* Takes a record of the service that measures. One of devices contains those measured since it started. */
void ald_probed_take(AldStateManager *manager, AldRecord *reported);

/* Returns AldDueProbes, in the order of ald_probed_kinds, and deletes what is gone first. Fills in the times
 * of the input. */
GArray *ald_probed_due(AldStateManager *manager, AldPlannerInput *input);
