/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/audience.h"
#include "services/state/state-manager.h"
#include "state/compute/totals.h"

/*
 * Reports changes to clients: InterfacesAdded, InterfacesRemoved and PropertiesChanged. The signals are
 * broadcast, and also sent to each subscriber directly. A subscriber that does not read is sent nothing until
 * it reads again, and then everything that has changed; broadcasts stop in the same way while too many of
 * them are unread (services/common/readers.h).
 */
typedef struct AldSignals AldSignals;

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret);
void ald_signals_free(AldSignals *signals);

/* Subscribes a connection by its unique name. Returns -EEXIST if it has already subscribed. */
int ald_signals_subscribe(AldSignals *signals, const char *name, uid_t uid);
void ald_signals_unsubscribe(AldSignals *signals, const char *name);

/* Reports to all audiences that these properties of org.alidade.State1 have changed (see totals-bus.h). They
 * are read when they are sent, so `totals` must remain valid until the main loop has ended. */
void ald_signals_change_totals(AldSignals *signals, const AldTotals *totals, uint32_t properties);

/* Reports to all audiences that a view has changed. */
void ald_signals_change_view(AldSignals *signals, AldDerivedView view, uint64_t revision);
