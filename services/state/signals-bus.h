/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * Tells clients of changes: InterfacesAdded, InterfacesRemoved and PropertiesChanged. They are broadcast, and
 * sent to each subscriber by itself. For each of these audiences a change waits in a queue until its budget
 * allows, and further changes of the same record meanwhile are told with it; so the interval of each object
 * grows with the cluster and the bus is never flooded. A subscriber that does not read is sent nothing until
 * it does, and then what has changed; broadcasts stop in the same way while too many of them are unread
 * (services/common/readers.h).
 */
typedef struct AldSignals AldSignals;

#define ALD_SIGNALS_PER_SECOND 200u
/* To all subscribers together; each user of these has the same share of it, and each connection of its
 * user's. */
#define ALD_SIGNALS_PER_SECOND_SUBSCRIBED 2000u

int ald_signals_new(AldService *service, AldStateManager *manager, AldSignals **ret);
void ald_signals_free(AldSignals *signals);

/* By unique name; -EEXIST where it has subscribed already. */
int ald_signals_subscribe(AldSignals *signals, const char *name, uid_t uid);
void ald_signals_unsubscribe(AldSignals *signals, const char *name);

/* Appends the properties of the set, as sa{sv}as. */
typedef int (*AldTotalsAppend)(sd_bus_message *message, uint32_t properties, void *userdata);

/* Tells all audiences that these properties of the state itself have changed. */
void ald_signals_set_totals(AldSignals *signals, AldTotalsAppend append, void *userdata);
void ald_signals_change_totals(AldSignals *signals, uint32_t properties);
