/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals.h"
#include "services/state/state-manager.h"
#include "state/compute/totals.h"

/* The counts and sums that are properties of org.alidade.State1. Changes are signalled at most once a second;
 * a client that reads them sees all changes except those of the last moment. */
typedef struct AldTotalsWatch AldTotalsWatch;

AldTotalsWatch *ald_totals_watch_new(AldStateManager *manager, AldSignals *signals, const char *node_id);
void ald_totals_watch_free(AldTotalsWatch *watch);

/* Computes the totals again for a reader, if something has changed. */
void ald_totals_watch_refresh(AldTotalsWatch *watch);
const AldTotals *ald_totals_watch_totals(const AldTotalsWatch *watch);
