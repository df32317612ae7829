/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/audience.h"
#include "state/compute/totals.h"

/* Returns whether the audience can be sent more: few enough messages are queued, and enough of the earlier
 * ones were read. */
bool ald_signals_bus_can_send(AldService *service, const AldAudience *audience);

/* Sends the first change that waits for an audience, which then no longer waits. */
void ald_signals_bus_emit_next(AldService *service, AldAudience *audience, const AldTotals *totals);
