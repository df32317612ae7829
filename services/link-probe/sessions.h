/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/counters.h"
#include "services/link-probe/probe-answer.h"
#include "services/link-probe/program.h"
#include "services/link-probe/remote.h"
#include "services/link-probe/state-query-bus.h"

/*
 * The sessions in which other nodes measure their links to this machine, each in a child. One that has not
 * proved yet that it is of the cluster has little time, and gives way to others; until it has said what it
 * wants to measure it takes nobody's turn, and holds off nothing.
 */
typedef struct AldSessions AldSessions;

/* Of one node, until it has said what it wants; the oldest gives way. */
#define ALD_SESSIONS_UNDECIDED_MAX 2u

/* Why a session is told to come later. */
typedef enum AldRefusal {
        ALD_REFUSAL_BUSY,
        ALD_REFUSAL_INHIBITED,
        ALD_REFUSAL_ROUND_TRIPS_ONLY, /* which are served */
        ALD_REFUSAL_N,
} AldRefusal;

typedef struct AldSessionsHandler {
        /* Why this is not to be measured through the interface or RDMA port now ("" where that is unknown),
         * or NULL. Free with g_free(). */
        char *(*refuse)(AldTransport transport, const char *port, const AldProbeWanted *wanted,
                AldRefusal *ret_refusal, void *userdata);
        /* The Node1.Network of this machine, or NULL. */
        const AldNetwork *(*network)(void *userdata);
        /* At what rate the other node sent through the interface. */
        void (*measured)(const char *interface, uint64_t rate, void *userdata);
        void (*changed)(void *userdata);
} AldSessionsHandler;

/* Notes with the members who has proved to be where. What is given must outlive the sessions, but for the
 * query of nodes, which is freed first. */
AldSessions *ald_sessions_new(const AldProgram *program, AldCounters *counters, AldMembers *members,
        AldStateQuery *nodes, const AldSessionsHandler *handler, void *userdata);
void ald_sessions_free(AldSessions *sessions);

/* The connection stays the caller's, and came in through the interface ("" where that is unknown). -EUSERS
 * or -EBUSY as of ald_accept_limit_enter(). */
int ald_sessions_start(AldSessions *sessions, AldTransport transport, int connection, const AldRemote *remote,
        const char *interface);

/* Ends those that measure by it. */
void ald_sessions_end_all(AldSessions *sessions, AldTransport transport, const char *reason);

/* Those that measure; who has not said yet what it wants to does not. */
unsigned ald_sessions_count(const AldSessions *sessions);

/* Whether one with this node is under way. */
void ald_sessions_foreach_peer(
        const AldSessions *sessions, void (*found)(const char *peer, void *userdata), void *userdata);

/* How many ended without anybody of the cluster, or were told to come later. */
uint64_t ald_sessions_refused(const AldSessions *sessions);
