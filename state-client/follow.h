/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state-client/model.h"

/*
 * Keeps a model in step with the state service: subscribes first, then reads all of it, then follows the
 * signals; reads again when the service was restarted. Signals count only if they come from the owner of its
 * name. Timers run in the main context that is the thread's default when it is made.
 */
typedef struct AldFollow AldFollow;

typedef struct AldFollowHandler {
        /* All is read, the first time or again. */
        void (*synced)(AldFollow *follow, void *userdata);
        /* The service went (error NULL) or could not be read. It is waited for, unless the caller ends. */
        void (*lost)(AldFollow *follow, const sd_bus_error *error, void *userdata);
        /* It cannot tell us of changes as was asked for, or of all nodes, for now, which is tried
         * again; without an error it can now. May be NULL. */
        void (*refused)(AldFollow *follow, const sd_bus_error *error, void *userdata);
} AldFollowHandler;

/* Negative errno of sd-bus. The caller carries the bus in the same main context (common/bus-source.h) and
 * keeps both while it follows. The model changes under the caller's eyes: ald_model_watch(). */
int ald_follow_new(
        sd_bus *bus, AldModel *model, const AldFollowHandler *handler, void *userdata, AldFollow **ret);
void ald_follow_free(AldFollow *follow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFollow, ald_follow_free)

/* Asks to be told of changes at the higher rate, and of all nodes where they are mirrored on demand. */
void ald_follow_subscribe(AldFollow *follow);

/* Whether the service is there and all of it is read. */
bool ald_follow_in_step(AldFollow *follow);

/* Reads the findings anew, for which there is no signal; and everything, where signals do not cover
 * everything. */
void ald_follow_refresh(AldFollow *follow);
