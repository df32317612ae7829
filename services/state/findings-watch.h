/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals.h"
#include "services/state/state-manager.h"

/* Computes the findings, and sends FindingsChanged at most once a second. */
typedef struct AldFindingsWatch AldFindingsWatch;

AldFindingsWatch *ald_findings_watch_new(AldStateManager *manager, AldSignals *signals);
/* Computes the findings again soon. Call it after a change of something that is not a record. */
void ald_findings_watch_refresh(AldFindingsWatch *self);

void ald_findings_watch_free(AldFindingsWatch *self);
