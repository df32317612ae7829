/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "clients/alidadectl/sync.h"

/* What a verb that reads the state needs: an event loop, the bus, and a model in step with the service. */
typedef struct AldSession {
        sd_event *event;
        AldModel *model;
        sd_bus *bus;   /* NULL while paused */
        AldSync *sync; /* NULL while paused */
        const AldCtl *ctl;
        const AldSyncHandler *handler;
        void *userdata;
        bool subscribe;
} AldSession;

#define ALD_SESSION_INIT      \
        {                     \
                .event = NULL \
        }

/* Opens all of it; nothing is read before the event loop runs. Complains and returns an exit code. */
int ald_session_open(AldSession *session, const AldCtl *ctl, bool subscribe, const AldSyncHandler *handler,
        void *userdata);

/*
 * Opens a session and reads everything once. Where `settle` is asked for and the service has only just
 * started, it waits a little for this machine's own first records. Complains and returns an exit code.
 */
int ald_session_load(AldSession *session, const AldCtl *ctl, bool settle);

/* Has it said on standard error, once, if reading takes its time. */
int ald_session_announce_waiting(AldSession *session);

/*
 * Leaves the bus, and comes back to it and reads again: for the time in which nobody would read our signals,
 * which would pile up in the bus. The model keeps what it has. Resuming complains and returns an exit code.
 */
void ald_session_pause(AldSession *session);
int ald_session_resume(AldSession *session);

void ald_session_close(AldSession *session);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSession, ald_session_close)

/* Says why the service cannot be read, and returns the exit code for it. */
int ald_session_complain(const sd_bus_error *error);

/* CLOCK_REALTIME in µs. */
double ald_now(void);
