/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals-bus.h"
#include "services/state/state-manager.h"

/* FindingsChanged, which is sent at most once a second. */
typedef struct AldFindingsBus AldFindingsBus;

AldFindingsBus *ald_findings_bus_new(AldStateManager *manager, AldSignals *signals);
/* Computes them again soon, after a change of what is no record. */
void ald_findings_bus_refresh(AldFindingsBus *self);

void ald_findings_bus_free(AldFindingsBus *self);
