/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Watches another service on a bus, by its well-known name: its owner and its signals. sd-bus cannot check
 * that a signal comes from the owner of a well-known name, so this does: signals of other senders are dropped
 * and counted.
 */
typedef struct AldPeer AldPeer;

/* Called when the owner is first known, and then on change. The owner is a unique name, or NULL when there is
 * none. */
typedef void (*AldPeerOwnerChanged)(AldPeer *peer, const char *owner, void *userdata);

int ald_peer_new(AldService *service, sd_bus *bus, const char *name, AldPeerOwnerChanged changed,
        void *userdata, AldPeer **ret);
void ald_peer_free(AldPeer *peer);

/* Returns the unique name of the owner, or NULL. */
const char *ald_peer_owner(AldPeer *peer);

/* Calls the handler for signals of the owner only. `path` and `arg0` may be NULL for any; a `path` that ends
 * with a slash matches all objects below it. The match lasts as long as the peer. */
int ald_peer_match_signal(AldPeer *peer, const char *path, const char *interface, const char *member,
        const char *arg0, sd_bus_message_handler_t handler);
