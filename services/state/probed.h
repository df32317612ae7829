/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner/probed-kinds.h"

/* Merges the results of this node's probes, and plans further ones. */

/* Merges a record of the service that measures. A record of devices contains those that were measured since
 * the service started. */
void ald_probed_merge(AldStateManager *manager, AldRecord *reported);

/* Returns the due probes (AldDueProbe) in the order of ald_probed_kinds, after deleting obsolete results.
 * Fills in the times of the input. */
GArray *ald_probed_due(AldStateManager *manager, AldPlannerInput *input);
