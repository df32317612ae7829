/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/follow.h"

/*
 * Follows the state service over a connection of its own, which it closes while paused. A client that cannot
 * keep up with changes pauses, because unread signals would fill the bus and slow down other clients. The
 * model keeps its contents meanwhile. After resuming, everything is read again and the differences are
 * reported. Everything runs in the main context that is the thread's default when the object is created.
 */
typedef struct AldStateClient AldStateClient;

typedef struct AldStateClientSetup {
        /* Opens a connection, at the start and to resume. Its errors are passed on to the caller. */
        int (*open)(sd_bus **ret, void *userdata);
        void *open_userdata;
        const AldFollowHandler *handler; /* kept, not copied */
        void *userdata;                  /* of the handler */
        bool subscribe;                  /* as for ald_follow_subscribe() */
        bool over_ssh;                   /* ssh may ask its user something before the connection is ready */
} AldStateClientSetup;

/* Creates a client that follows at once. The caller keeps the model until the client is freed. */
int ald_state_client_new(AldModel *model, const AldStateClientSetup *setup, AldStateClient **ret);
/* Creates a client without a connection, until it is resumed. */
AldStateClient *ald_state_client_new_paused(AldModel *model, const AldStateClientSetup *setup);
void ald_state_client_free(AldStateClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateClient, ald_state_client_free)

/* Returns the follower; NULL while paused. */
AldFollow *ald_state_client_follow(AldStateClient *client);

/* Returns the connection, for more calls over it; NULL while paused. */
sd_bus *ald_state_client_bus(AldStateClient *client);

/* The first closes the connection at once, which must not be requested from a callback of the bus; the second
 * closes it before the next message is read. */
void ald_state_client_pause(AldStateClient *client);
void ald_state_client_pause_soon(AldStateClient *client);

/* Calls ald_bus_source_delay() for a callback of the model. Has no effect while everything is being read. */
void ald_state_client_delay(AldStateClient *client, unsigned msec);

/* Connects again if paused or if the connection was lost, and cancels a pending
 * ald_state_client_pause_soon(). A lost connection must not be replaced from a callback of the bus, such as a
 * handler. Returns the error of open() or a negative errno of sd-bus; the client is paused then. */
int ald_state_client_resume(AldStateClient *client);
