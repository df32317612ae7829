/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/nodes.h"
#include "services/cluster/state-link-bus.h"

/*
 * Hands what is heard of other nodes to the state service: presences before records, and what comes close
 * together in one call. The next call waits for the one before, unless it is a whole one; two at most are
 * under way. While that service is away nothing waits for it, since the brokers
 * send all again when it is back.
 */
typedef struct AldHandover AldHandover;

typedef struct AldHandoverHandler {
        AldStateLinkHandler link; /* of which `put` is not called */
        /* A node that ald_handover_presence() named, or NULL where it is no more and to be forgotten. */
        AldClusterNode *(*find)(const AldId *id, void *userdata);
        /* Records were dropped; the brokers are to send all that they keep again. */
        void (*lost)(void *userdata);
} AldHandoverHandler;

int ald_handover_new(
        AldService *service, const AldHandoverHandler *handler, void *userdata, AldHandover **ret);
void ald_handover_free(AldHandover *handover);

void ald_handover_record(AldHandover *handover, const AldUpdate *update);
void ald_handover_presence(AldHandover *handover, const AldId *node);
/* It is to be forgotten, even if it is heard of again at once. */
void ald_handover_drop(AldHandover *handover, const AldId *node);
/* That of this node itself. */
void ald_handover_own_presence(AldHandover *handover, const AldId *own, AldPresenceState state);
/* Drops the records that wait of a node. */
void ald_handover_forget(AldHandover *handover, const AldId *node);
/* Drops all that waits, but for the presence of this node. */
void ald_handover_clear(AldHandover *handover);
/* Something was dropped before it came here. */
void ald_handover_note_loss(AldHandover *handover);

void ald_handover_read_own(AldHandover *handover);
/* Puts the newest stamp known of this node, which the state service is to go beyond, and reads all again. */
void ald_handover_put_own(AldHandover *handover, const AldUpdate *update);
bool ald_handover_has_state(const AldHandover *handover);
