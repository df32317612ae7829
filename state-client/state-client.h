/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/follow.h"

/*
 * A model that follows the state service over a connection of its own, which it leaves while the caller
 * cannot take more: signals that nobody reads would pile up in the bus, and would cost others their share of
 * it. The model keeps what it has meanwhile. Coming back, everything is read again and what differs is told.
 * It all runs in the main context that is the thread's default when it is made.
 */
typedef struct AldStateClient AldStateClient;

typedef struct AldStateClientSetup {
        /* Opens a connection: at first, and each time to come back. Its errors are returned by who asked. */
        int (*open)(sd_bus **ret, void *userdata);
        void *open_userdata;
        const AldFollowHandler *handler; /* kept, not copied */
        void *userdata;                  /* of the handler */
        bool subscribe;                  /* as ald_follow_subscribe() */
} AldStateClientSetup;

/* The model belongs to the caller and outlives it. */
int ald_state_client_new(AldModel *model, const AldStateClientSetup *setup, AldStateClient **ret);
void ald_state_client_free(AldStateClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateClient, ald_state_client_free)

/* NULL while the bus is left. */
AldFollow *ald_state_client_follow(AldStateClient *client);

/* Leaves the bus: now, which no callback of it may ask for, or before anything else is read. */
void ald_state_client_pause(AldStateClient *client);
void ald_state_client_pause_soon(AldStateClient *client);

/* Comes back where the bus was left, and need not leave it soon. */
int ald_state_client_resume(AldStateClient *client);
