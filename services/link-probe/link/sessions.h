/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/listen/remote.h"
#include "services/link-probe/link/gate.h"
#include "services/link-probe/net/counters.h"
#include "services/link-probe/state/state-query-bus.h"

/*
 * The sessions in which other nodes measure their links to this machine, each in a child process. A session
 * whose peer has not proved its identity yet has little time, and may be stopped in favor of another; until
 * the peer has said what it wants to measure, the session does not count against any budget and delays
 * nothing.
 */
typedef struct AldSessions AldSessions;

/* The limit for one node of sessions whose request is not known yet; the oldest is stopped for a new one. */
#define ALD_SESSIONS_UNDECIDED_MAX 2u

typedef struct AldSessionsParts {
        const AldProgram *program;
        const AldGate *gate;
        AldCounters *counters;
        const AldProber *prober;
        AldResults *results; /* takes the rates at which other nodes sent */
        AldMembers *members; /* takes the addresses from which nodes have proved their identity */
        AldStateQuery *query;
        void (*changed)(void *userdata);
        void *userdata;
} AldSessionsParts;

/* The parts must outlive the sessions, except for the query, which is freed first. */
AldSessions *ald_sessions_new(const AldSessionsParts *parts);
void ald_sessions_free(AldSessions *sessions);

/* The connection stays the caller's; it arrived through the interface ("" if that is unknown). -EUSERS or
 * -EBUSY as for ald_accept_limit_enter(). */
int ald_sessions_start(AldSessions *sessions, const AldProbeKind *kind, int connection,
        const AldRemote *remote, const char *interface);

/* Stops the sessions that measure links of this kind. */
void ald_sessions_end_all(AldSessions *sessions, const AldProbeKind *kind, const char *reason);

/* The number of sessions that measure; those whose request is not known yet do not count. */
unsigned ald_sessions_count(const AldSessions *sessions);

/* Appends the node of each session that measures, to be freed. */
void ald_sessions_append_peers(const AldSessions *sessions, GPtrArray *nodes);

/* The number of sessions that ended before the peer had proved its identity, or were deferred. */
uint64_t ald_sessions_refused(const AldSessions *sessions);
