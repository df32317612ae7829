/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state-client/model.h"

/*
 * Keeps a model up to date with the state service: subscribes, reads everything, then follows the signals.
 * Includes the connection graph if the model holds that (ald_model_add_topology()). Reads again after a
 * restart of the service. Trusts only signals from the owner of the service's name. Timers run in the main
 * context that is the thread's default when the object is created.
 */
typedef struct AldFollow AldFollow;

/* An error of this client rather than of a service: the other machine sends more than the model may hold. */
#define ALD_FOLLOW_TOO_LARGE "org.alidade.Client.TooLarge"

/* The handlers are called from the main loop and must not free the object. */
typedef struct AldFollowHandler {
        /* Called when everything has been read, for the first time or again. */
        void (*synced)(AldFollow *follow, void *userdata);
        /* Called when the service left the bus (error NULL), could not be started or read, or does not answer
         * a refresh; when the connection ended (SD_BUS_ERROR_DISCONNECTED); or when it was closed because the
         * other machine sends more than the model may hold (ALD_FOLLOW_TOO_LARGE). A failed read is retried
         * while the service is on the bus, and a service that appears there is read. No call follows the end
         * of the connection. */
        void (*lost)(AldFollow *follow, const sd_bus_error *error, void *userdata);
        /* Called when the service refuses Subscribe() or Mirror() for now, which is retried, and without an
         * error when it accepts them again. May be NULL. */
        void (*refused)(AldFollow *follow, const sd_bus_error *error, void *userdata);
        /* Called when the findings alone have been read again. May be NULL. */
        void (*findings)(AldFollow *follow, void *userdata);
} AldFollowHandler;

/* Begins to follow. The caller attaches the bus to the same main context (common/bus-source.h), and keeps bus
 * and model until the object is freed. Returns a negative errno of sd-bus. ald_model_watch() reports the
 * changes. */
int ald_follow_new(
        sd_bus *bus, AldModel *model, const AldFollowHandler *handler, void *userdata, AldFollow **ret);
void ald_follow_free(AldFollow *follow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFollow, ald_follow_free)

/* Stops everything after the connection has ended or was given up, and reports `error` to lost(), once. To be
 * called by the AldBusClosed of the bus. */
void ald_follow_set_disconnected(AldFollow *follow, const sd_bus_error *error);

/* Returns whether an error of lost() means the end of the connection; false for NULL. */
bool ald_follow_has_ended(const sd_bus_error *error);

/* Requests signals at the higher rate; with `mirror`, also all nodes if they are mirrored on demand. */
void ald_follow_subscribe(AldFollow *follow, bool mirror);

/* Returns whether the service is on the bus and everything has been read. */
bool ald_follow_in_step(AldFollow *follow);

/* Reads the findings again, since no signal reports changes of the figures in them; or everything, if signals
 * do not cover everything. Also reads the graph if that failed before. */
void ald_follow_refresh(AldFollow *follow);
