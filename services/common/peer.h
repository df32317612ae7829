/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Another service on a bus, by its well-known name: who owns it now, and its signals. sd-bus cannot check
 * that a signal comes from the owner of a well-known name, so this does: a signal of anybody else is dropped
 * and counted.
 */
typedef struct AldPeer AldPeer;

/* The owner is a unique name, or NULL when there is none. Called once when it is first known, then on change.
 */
typedef void (*AldPeerOwnerChanged)(AldPeer *peer, const char *owner, void *userdata);

int ald_peer_new(AldService *service, sd_bus *bus, const char *name, AldPeerOwnerChanged changed,
        void *userdata, AldPeer **ret);
void ald_peer_free(AldPeer *peer);

/* The unique name of the owner, or NULL. */
const char *ald_peer_owner(AldPeer *peer);

/* Calls the handler for the signals of the owner only. `path` (any) and `arg0` may be NULL; with a slash at
 * its end `path` is that of all objects below. Lasts as long as the peer. */
int ald_peer_match_signal(AldPeer *peer, const char *path, const char *interface, const char *member,
        const char *arg0, sd_bus_message_handler_t handler);
