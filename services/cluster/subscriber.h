/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/brokers.h"
#include "services/cluster/peers/peer-nodes.h"
#include "services/cluster/trust/renewals.h"

/*
 * Keeps the subscriptions at the brokers, which depend on mirror= and on the nodes that are present. There
 * are none at first, since everything that brokers send before the state service has supplied our own records
 * would have to be sent twice.
 */
typedef struct AldSubscriber AldSubscriber;

typedef enum AldSubscriberScope {
        ALD_SUBSCRIBER_ALL,
        ALD_SUBSCRIBER_PEERS, /* nodes with which links are measured */
        ALD_SUBSCRIBER_OWN,
} AldSubscriberScope;

/* Creates a subscriber without subscriptions. The brokers and nodes must outlive it. */
AldSubscriber *ald_subscriber_new(
        const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes);
void ald_subscriber_free(AldSubscriber *subscriber);

/* Also subscribes to the topics of renewals, from the next subscription on. */
void ald_subscriber_set_renewals(AldSubscriber *subscriber, const AldRenewals *renewals);

void ald_subscriber_set_scope(AldSubscriber *subscriber, AldSubscriberScope scope);

/* Takes note that a node has come or gone. */
void ald_subscriber_note_presence(AldSubscriber *subscriber);

/* Makes the brokers send all retained messages again. The first call makes the first subscriptions; if it is
 * overdue, they are made without it. */
void ald_subscriber_request_all(AldSubscriber *subscriber);
/* Makes the brokers send the retained messages of one node again. Returns false if too many such requests are
 * pending. */
bool ald_subscriber_ask_for(AldSubscriber *subscriber, const AldId *node);
