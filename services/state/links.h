/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner.h"

/* What this node measures of its links: takes in results, lets go of rows that lead nowhere, plans. */

/* A record of a link as the service that measures links shows it. */
void ald_links_take(AldStateManager *manager, AldRecord *told);

/* Deletes rows of addresses, ports and nodes that are gone; their deletion is told to the other nodes. */
void ald_links_prune(AldStateManager *manager);

/* The AldDueProbes. Times in the input are filled in here. */
GArray *ald_links_due(AldStateManager *manager, AldPlannerInput *input);
