/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals.h"
#include "services/state/state-manager.h"

/* FindingsChanged, which is sent at most once a second. */
typedef struct AldFindingsWatch AldFindingsWatch;

AldFindingsWatch *ald_findings_watch_new(AldStateManager *manager, AldSignals *signals);
/* Computes them again soon, after a change of what is no record. */
void ald_findings_watch_refresh(AldFindingsWatch *self);

void ald_findings_watch_free(AldFindingsWatch *self);
