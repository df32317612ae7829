/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/bus.h"
#include "state-client/state-client.h"

/* What a verb that reads the state needs: a main loop, and a model in step with the service. */
typedef struct AldStateSession {
        GMainLoop *loop;
        AldModel *model;
        AldStateClient *client;
        GPtrArray *sources; /* timers of the session; they go with it */
        const AldCtl *ctl;
        int open_code; /* exit code of the last attempt to open the bus */
        int exit_code; /* once it has ended */
        bool ended;
} AldStateSession;

#define ALD_STATE_SESSION_INIT \
        {                      \
                .loop = NULL   \
        }

/* Opens all of it; nothing is read before the loop runs. Complains and returns an exit code. */
int ald_session_open(AldStateSession *session, const AldCtl *ctl, bool subscribe,
        const AldFollowHandler *handler, void *userdata);

/*
 * Opens a session and reads everything once. Where `settle` is asked for and the service has only just
 * started, it waits a little for this machine's own first records. Complains and returns an exit code.
 */
int ald_session_load(AldStateSession *session, const AldCtl *ctl, bool settle);

/* Has it said on standard error, once, if reading takes its time. */
void ald_session_announce_waiting(AldStateSession *session);

/* A timer of the session; the callback is as of g_timeout_add(). */
void ald_session_add_timer(AldStateSession *session, unsigned msec, GSourceFunc callback, void *userdata);

/* Leaves the bus and comes back to it: see AldStateClient. Resuming complains and returns an exit code. */
void ald_session_pause(AldStateSession *session);
int ald_session_resume(AldStateSession *session);

/* Reads anew what no signal tells, unless the bus is left. */
void ald_session_refresh(AldStateSession *session);

/* Runs the loop until somebody ends it, which counts only once; returns the exit code. */
int ald_session_run(AldStateSession *session);
void ald_session_exit(AldStateSession *session, int exit_code);

/* Ends it and says why the service cannot be read; NULL: it went away. */
void ald_session_fail(AldStateSession *session, const sd_bus_error *error);

void ald_session_close(AldStateSession *session);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldStateSession, ald_session_close)

/* CLOCK_REALTIME in µs. */
double ald_now(void);
