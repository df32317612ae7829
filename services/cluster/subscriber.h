/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/brokers.h"
#include "services/cluster/peers/peer-nodes.h"
#include "services/cluster/trust/renewals.h"

/*
 * The subscriptions at the brokers, which depend on mirror= and on which nodes are present. At first there
 * are none: what brokers send before the state service has supplied our own records would have to be sent
 * twice.
 */
typedef struct AldSubscriber AldSubscriber;

typedef enum AldSubscriberScope {
        ALD_SUBSCRIBER_ALL,
        ALD_SUBSCRIBER_PEERS, /* nodes with which links are measured */
        ALD_SUBSCRIBER_OWN,
} AldSubscriberScope;

/* The brokers and nodes stay the caller's. */
AldSubscriber *ald_subscriber_new(
        const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes);
void ald_subscriber_free(AldSubscriber *subscriber);

/* Also subscribes to what these need, from the next subscription on. */
void ald_subscriber_set_renewals(AldSubscriber *subscriber, const AldRenewals *renewals);

void ald_subscriber_set_scope(AldSubscriber *subscriber, AldSubscriberScope scope);

/* A node has come or gone. */
void ald_subscriber_note_presence(AldSubscriber *subscriber);

/* Makes the brokers send all retained messages again. There are no subscriptions until the first call, or
 * until it is overdue. */
void ald_subscriber_ask_for_all(AldSubscriber *subscriber);
/* The same for one node. False if too many such requests are pending. */
bool ald_subscriber_ask_for(AldSubscriber *subscriber, const AldId *node);
