/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * Tells clients of changes: InterfacesAdded, InterfacesRemoved and PropertiesChanged. A change waits in a
 * queue until the budget of signals allows, and further changes of the same record meanwhile are told with
 * it; so the interval of each object grows with the cluster and the bus is never flooded. A bus that takes no
 * more of what we send, because some client has stopped reading, gets no more signals; if that lasts, the
 * service ends (services/common/bus-source.h) to be started anew, since only a new connection is free of that
 * client.
 */
typedef struct AldSignals AldSignals;

#define ALD_SIGNALS_PER_SECOND 200u
#define ALD_SIGNALS_PER_SECOND_SUBSCRIBED 2000u

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret);
void ald_signals_free(AldSignals *signals);

/* Whether somebody has subscribed, which makes the budget the larger one. */
void ald_signals_set_subscribed(AldSignals *signals, bool subscribed);
