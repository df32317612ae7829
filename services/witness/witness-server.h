/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * Answers requests on a listening SOCK_SEQPACKET socket, of the owner of the socket's file only; a message is
 * one packet, so nobody can begin one and keep it open. It ends when nobody has asked for a while: the
 * service manager keeps the socket, and starts it anew for the next request.
 */
typedef struct AldWitnessTask {
        AldKind request;
        /* Answers a valid request in at most max_bytes. The answer is freed with g_free(); NULL: none. */
        char *(*answer)(void *userdata, const AldRecord *request, size_t max_bytes);
        void *userdata;
} AldWitnessTask;

/* At most so many connections are open; the one that has not asked for the longest time makes room. */
#define ALD_WITNESS_CONNECTIONS_MAX 4u

/* Returns 0 when nobody has asked for idle_msec. */
int ald_witness_serve(int listener, const AldWitnessTask *task, int idle_msec);
