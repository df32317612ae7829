/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/peer-nodes.h"
#include "services/cluster/state/state-link-bus.h"

/*
 * Sends what other nodes publish to the state service: presences before records, several in one call. Each
 * call waits for the previous one unless it is a full one; at most two are under way. While the state
 * service is not running nothing is queued, since the brokers send everything again when it is back.
 */
typedef struct AldHandover AldHandover;

typedef struct AldHandoverHandler {
        AldOwnRecordsHandler own;
        void (*owner)(bool there, void *userdata); /* see AldStateLinkHandler */
        /* Records were dropped; the brokers have to send all retained messages again. */
        void (*lost)(void *userdata);
} AldHandoverHandler;

int ald_handover_new(
        AldService *service, const AldHandoverHandler *handler, void *userdata, AldHandover **ret);
void ald_handover_free(AldHandover *handover);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHandover, ald_handover_free)

/* Sets the other nodes; NULL if there are none. A node that is not found there is gone, and is forgotten. */
void ald_handover_set_nodes(AldHandover *handover, AldNodes *nodes);

void ald_handover_record(AldHandover *handover, const AldUpdate *update);
void ald_handover_presence(AldHandover *handover, const AldId *node);
/* Makes the state service forget the node, even if it is heard again at once. */
void ald_handover_drop(AldHandover *handover, const AldId *node);
/* Sets the presence of this node. */
void ald_handover_own_presence(AldHandover *handover, const AldId *own, AldPresenceState state);
/* Drops the queued records of a node. */
void ald_handover_forget(AldHandover *handover, const AldId *node);
/* Drops everything queued except the presence of this node. */
void ald_handover_clear(AldHandover *handover);
/* Takes note that something was dropped before it was queued here. */
void ald_handover_note_loss(AldHandover *handover);

void ald_handover_read_own(AldHandover *handover);
/* Sends the newest known stamp of this node to the state service, which then exceeds it, and reads all its
 * records again. */
void ald_handover_put_own(AldHandover *handover, const AldUpdate *update);
bool ald_handover_has_state(const AldHandover *handover);
