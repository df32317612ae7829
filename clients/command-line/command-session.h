/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/bus.h"
#include "clients/common/holder-call.h"
#include "state-client/state-client.h"

/* A main loop and a model that follows the state service, for verbs that read the state. */
typedef struct AldStateSession {
        GMainLoop *loop;
        AldModel *model;
        AldStateClient *client;
        GPtrArray *sources; /* timers of the session */
        const AldCtl *ctl;
        bool with_topology; /* set before opening: the model holds the connection graph as well */
        bool with_edges;    /* likewise, without the best figures between each two nodes */
        bool with_history;  /* likewise: ald_session_load() reads what the history service adds to findings */
        bool with_holders;  /* likewise, who holds the devices of this machine */
        gint64 end_usec; /* likewise: when the caller gives up, in monotonic time; 0: never. The history may
                            take half of the time left by then */
        GPtrArray *silences;   /* AldSilenceRow, of the history service; NULL unless they were read in time */
        AldOwnHolders holders; /* likewise */
        int open_code;         /* exit code of the last attempt to open the bus */
        int exit_code;         /* once it has ended */
        bool ended;
} AldStateSession;

#define ALD_STATE_SESSION_INIT \
        {                      \
                .loop = NULL   \
        }

/* Opens the session; nothing is read before the loop runs. Reports errors and returns an exit code. */
int ald_session_open(AldStateSession *session, const AldCtl *ctl, bool subscribe,
        const AldFollowHandler *handler, void *userdata);

/*
 * Opens a session and reads everything once. With `settle`, waits briefly for the first records of this
 * machine if the service has only just started. Reports errors and returns an exit code.
 */
int ald_session_load(AldStateSession *session, const AldCtl *ctl, bool settle);

/* Prints once on standard error if reading takes long. */
void ald_session_announce_waiting(AldStateSession *session);

/* Adds a timer of the session; the callback is that of g_timeout_add(). */
void ald_session_add_timer(AldStateSession *session, unsigned msec, GSourceFunc callback, void *userdata);

/* These close and reopen the connection: see AldStateClient. Resuming reports errors and returns an exit
 * code. */
void ald_session_pause(AldStateSession *session);
int ald_session_resume(AldStateSession *session);

/* Reads again what signals do not cover, unless paused. */
void ald_session_refresh(AldStateSession *session);

/* Runs the loop until ald_session_exit() or ald_session_fail(), the first of which counts; returns the exit
 * code. */
int ald_session_run(AldStateSession *session);
void ald_session_exit(AldStateSession *session, int exit_code);

/* Ends the loop and reports why the service cannot be read; NULL means that it left the bus. */
void ald_session_fail(AldStateSession *session, const sd_bus_error *error);

void ald_session_close(AldStateSession *session);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldStateSession, ald_session_close)

/* Finds a node by its name, its id or the first digits of its id, as typed by the user. Reports errors and
 * returns an exit code. */
int ald_session_find_node(AldStateSession *session, const char *what, const AldEntity **ret);

/* Returns CLOCK_REALTIME in µs. */
double ald_now(void);
