/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/nodes.h"
#include "services/cluster/renewals.h"

/*
 * The subscriptions at the brokers, which depend on mirror= and on which nodes are present. At first there
 * are none: what brokers send before the state service has supplied our own records would have to be sent
 * twice.
 */
typedef struct AldListening AldListening;

typedef enum AldListeningScope {
        ALD_LISTENING_TO_ALL,
        ALD_LISTENING_TO_PEERS, /* nodes with which links are measured */
        ALD_LISTENING_TO_OWN,
} AldListeningScope;

/* The brokers and nodes stay the caller's. */
AldListening *ald_listening_new(const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes);
void ald_listening_free(AldListening *listening);

/* Also subscribes to what these need, from the next subscription on. */
void ald_listening_set_renewals(AldListening *listening, const AldRenewals *renewals);

void ald_listening_set_scope(AldListening *listening, AldListeningScope scope);

/* A node has come or gone. */
void ald_listening_note_presence(AldListening *listening);

/* Makes the brokers send all retained messages again. There are no subscriptions until the first call, or
 * until it is overdue. */
void ald_listening_ask_for_all(AldListening *listening);
/* The same for one node. False if too many such requests are pending. */
bool ald_listening_ask_for(AldListening *listening, const AldId *node);
