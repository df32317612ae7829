/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/audience.h"
#include "state/compute/totals.h"

/* Too few messages wait on their way, and enough of the earlier ones was read. */
bool ald_signals_bus_takes_more(AldService *service, const AldAudience *audience);

/* Sends the first of what waits for an audience, which then waits no longer. */
void ald_signals_bus_emit_next(AldService *service, AldAudience *audience, const AldTotals *totals);
