/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/counters.h"
#include "services/link-probe/program.h"

/*
 * The sessions in which other nodes measure their links to this machine, each in a child. One that has not
 * shown yet that it is of the cluster has little time, takes nobody's place, and holds off nothing.
 */
typedef struct AldSessions AldSessions;

#define ALD_SESSIONS_STRANGERS_MAX 8u
#define ALD_SESSIONS_PER_PLACE_MAX 2u

typedef struct AldSessionsHandler {
        /* Why this machine is not to be measured through the interface or RDMA port now ("" where that is
         * unknown), or NULL. *ret_inhibited: since it is held off, not busy. Free with g_free(). */
        char *(*refuse)(AldTransport transport, const char *port, bool *ret_inhibited, void *userdata);
        /* The Node1.Network of this machine, or NULL. */
        const AldNetwork *(*network)(void *userdata);
        void (*changed)(void *userdata);
} AldSessionsHandler;

AldSessions *ald_sessions_new(
        const AldProgram *program, AldCounters *counters, const AldSessionsHandler *handler, void *userdata);
void ald_sessions_free(AldSessions *sessions);

/* The connection stays the caller's, and came in through the interface ("" where that is unknown). -EUSERS
 * where there are too many from that place or in all, or too many of late from there that were not of the
 * cluster. */
int ald_sessions_start(AldSessions *sessions, AldTransport transport, int connection, const char *place,
        const char *interface);

/* Ends those that measure by it. */
void ald_sessions_end_all(AldSessions *sessions, AldTransport transport, const char *reason);

/* Those that measure; who has not shown yet who it is does not. */
unsigned ald_sessions_count(const AldSessions *sessions);

/* Whether one with this node is under way. */
void ald_sessions_foreach_peer(
        const AldSessions *sessions, void (*found)(const char *peer, void *userdata), void *userdata);

/* How many ended without anybody of the cluster, or were told to come later. */
uint64_t ald_sessions_refused(const AldSessions *sessions);
