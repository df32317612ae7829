/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner/planner.h"

/* The measurements of this node's links: merges results, drops obsolete rows, and plans. */

/* Takes a link record of the service that measures links. */
void ald_links_take(AldStateManager *manager, AldRecord *reported);

/* Deletes rows of addresses, ports and nodes that no longer exist; the deletions are published to the other
 * nodes. */
void ald_links_prune(AldStateManager *manager);

/* Returns AldDueProbes. Fills in the times of the input. */
GArray *ald_links_due(AldStateManager *manager, AldPlannerInput *input);
