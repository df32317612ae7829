/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/nodes.h"
#include "services/cluster/renewals.h"

/*
 * What is subscribed to at the brokers, as it follows from who mirrors whom and who is there. At first
 * nothing is: before the state service has told our own records, what the brokers keep would have to be said
 * twice.
 */
typedef struct AldListening AldListening;

typedef enum AldListeningScope {
        ALD_LISTENING_TO_ALL,
        ALD_LISTENING_TO_PEERS, /* with whom links are measured */
        ALD_LISTENING_TO_OWN,
} AldListeningScope;

/* The brokers and nodes stay the caller's. */
AldListening *ald_listening_new(const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes);
void ald_listening_free(AldListening *listening);

/* Listens to what these need, too; from the next subscription on. */
void ald_listening_set_renewals(AldListening *listening, const AldRenewals *renewals);

void ald_listening_set_scope(AldListening *listening, AldListeningScope scope);

/* Somebody came, or went. */
void ald_listening_note_presence(AldListening *listening);

/* Has the brokers send all again that they keep. Nothing is listened to before this was first called, or the
 * call awaited in vain. */
void ald_listening_ask_for_all(AldListening *listening);
/* The same of one node. False where too much is asked for already. */
bool ald_listening_ask_for(AldListening *listening, const AldId *node);
