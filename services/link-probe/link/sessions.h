/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/listen/remote.h"
#include "services/link-probe/link/gate.h"
#include "services/link-probe/net/counters.h"
#include "services/link-probe/state/state-query-bus.h"

/*
 * The sessions in which other nodes measure their links to this machine, each in a child process. Until a
 * peer has proved its identity, its session has little time and may be stopped in favor of another; until its
 * request is known, the session does not count against any budget and delays nothing.
 */
typedef struct AldSessions AldSessions;

/* The maximum number of sessions of a node whose request is not known yet. For a new one, the oldest is
 * stopped. */
#define ALD_SESSIONS_UNDECIDED_MAX 2u

typedef struct AldSessionsParts {
        const AldProgram *program;
        const AldGate *gate;
        AldCounters *counters;
        const AldProber *prober;
        AldResults *results; /* receives the rates at which other nodes sent */
        AldMembers *members; /* receives the addresses from which nodes have proved their identity */
        AldStateQuery *query;
        void (*changed)(void *userdata);
        void *userdata;
} AldSessionsParts;

/* The parts must outlive the sessions, except for the query, which is freed first. */
AldSessions *ald_sessions_new(const AldSessionsParts *parts);
void ald_sessions_free(AldSessions *sessions);

/* Starts a session on a connection that arrived through `interface` ("" if unknown). The connection remains
 * the caller's. Returns -EUSERS or -EBUSY as ald_accept_limit_enter() does. */
int ald_sessions_start(AldSessions *sessions, const AldProbeKind *kind, int connection,
        const AldRemote *remote, const char *interface);

/* Stops the sessions that measure links of this kind. */
void ald_sessions_end_all(AldSessions *sessions, const AldProbeKind *kind, const char *reason);

/* Returns the number of sessions that measure; those whose request is not known yet do not count. */
unsigned ald_sessions_count(const AldSessions *sessions);

/* Appends the peer of each session that measures; the strings are to be freed. */
void ald_sessions_append_peers(const AldSessions *sessions, GPtrArray *nodes);

/* Returns the number of sessions that were deferred, or ended before the peer had proved its identity. */
uint64_t ald_sessions_refused(const AldSessions *sessions);
