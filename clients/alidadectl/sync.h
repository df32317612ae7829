/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/bus.h"
#include "clients/alidadectl/model.h"

/*
 * Keeps a model in step with the state service: subscribes first, then reads all of it, then follows the
 * signals; reads again when the service was restarted. Signals count only if they come from the owner of its
 * name.
 */
typedef struct AldSync AldSync;

typedef struct AldSyncHandler {
        /* All is read, the first time or again. */
        void (*synced)(AldSync *sync, void *userdata);
        /* The service went (error NULL) or could not be read. It is waited for, unless the caller ends. */
        void (*lost)(AldSync *sync, const sd_bus_error *error, void *userdata);
        /* It cannot tell us of changes as was asked for, or of all nodes, for now, which is tried
         * again; without an error it can now. May be NULL. */
        void (*refused)(AldSync *sync, const sd_bus_error *error, void *userdata);
} AldSyncHandler;

/* The bus is attached to the event loop already. The model changes under the caller's eyes:
 * ald_model_watch(). */
int ald_sync_new(sd_bus *bus, AldModel *model, const AldSyncHandler *handler, void *userdata, AldSync **ret);
void ald_sync_free(AldSync *sync);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSync, ald_sync_free)

/* Asks to be told of changes at the higher rate, and of all nodes where they are mirrored on demand. */
void ald_sync_subscribe(AldSync *sync);

/* Whether the service is there and all of it is read. */
bool ald_sync_in_step(AldSync *sync);

/* Reads the findings anew, for which there is no signal; and everything, where signals do not cover
 * everything. */
void ald_sync_refresh(AldSync *sync);
