/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"
#include "state/compute/totals.h"

/*
 * Reports changes to clients: InterfacesAdded, InterfacesRemoved and PropertiesChanged. The signals are
 * broadcast, and also sent to each subscriber directly. For each of these audiences a change waits in a queue
 * until the budget allows, and is merged with further changes of the same record; so the interval of each
 * object grows with the cluster, and the bus is never flooded. A subscriber that does not read is sent
 * nothing until it reads again, and then what has changed; broadcasts stop in the same way while too many of
 * them are unread (services/common/readers.h).
 */
typedef struct AldSignals AldSignals;

#define ALD_SIGNALS_PER_SECOND 200u
/* For all subscribers together; each of their users has an equal share, and each connection an equal share of
 * its user's. */
#define ALD_SIGNALS_PER_SECOND_SUBSCRIBED 2000u

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret);
void ald_signals_free(AldSignals *signals);

/* Subscribes a connection by its unique name; -EEXIST if it has subscribed already. */
int ald_signals_subscribe(AldSignals *signals, const char *name, uid_t uid);
void ald_signals_unsubscribe(AldSignals *signals, const char *name);

/* Reports to all audiences that these properties of org.alidade.State1 have changed (see totals-bus.h). They
 * are read when their turn comes, and remain until there are no signals any more. */
void ald_signals_change_totals(AldSignals *signals, const AldTotals *totals, uint32_t properties);

/* What the service derives from the records: each change has a revision, and a signal. */
typedef enum AldDerivedView {
        ALD_DERIVED_TOPOLOGY,
        ALD_DERIVED_FINDINGS,
        ALD_DERIVED_N,
} AldDerivedView;

/* Reports to all audiences that a view has changed. */
void ald_signals_change_view(AldSignals *signals, AldDerivedView view, uint64_t revision);
