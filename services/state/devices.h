/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner/planner-device.h"

/* The measurements of this node's compute devices: merges results, drops devices that no longer exist, and
 * plans. */

/* Takes the Node1.Compute record of the service that measures devices, which contains those measured since it
 * started. */
void ald_devices_take(AldStateManager *manager, AldRecord *reported);

void ald_devices_prune(AldStateManager *manager);

/* Returns AldDueProbes. Fills in the time of the input. */
GArray *ald_devices_due(AldStateManager *manager, AldPlannerInput *input);
