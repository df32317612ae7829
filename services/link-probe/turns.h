/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * How long each other node has measured its links to this one of late, so that none takes the time of the
 * others: a node has a budget, which comes back in the course of an hour, and while one waits for its turn,
 * those that have used clearly more than it wait, too. Pure: times are in µs, `now` is CLOCK_MONOTONIC.
 */
typedef struct AldTurns AldTurns;

#define ALD_TURNS_BUDGET_USEC (UINT64_C(900) * 1000 * 1000)
#define ALD_TURNS_HOUR_USEC (UINT64_C(3600) * 1000 * 1000)

/* So much more is clearly more. */
#define ALD_TURNS_LEAD_USEC (UINT64_C(20) * 1000 * 1000)

/* A session costs so much at least. */
#define ALD_TURNS_SESSION_USEC (UINT64_C(100) * 1000)

/* A node that was told to come later does so within this time; see avoid.h and jobs.c. */
#define ALD_TURNS_WAIT_USEC (UINT64_C(13) * 1000 * 1000)

/* Beyond, that of the node which has used least is forgotten. */
#define ALD_TURNS_NODES_MAX 1024u

AldTurns *ald_turns_new(void);
void ald_turns_free(AldTurns *turns);

/* Why the node is to come later, in words, or NULL: it may measure through the interface or RDMA port. Free
 * with g_free(). */
char *ald_turns_refuse(const AldTurns *turns, const char *node, const char *port, uint64_t now);

/* It was told to come later, as others measure through the port, or "" through any. */
void ald_turns_wait(AldTurns *turns, const char *node, const char *port, uint64_t now);

/* It does not wait any more: it measures, or may not for another reason. */
void ald_turns_end_wait(AldTurns *turns, const char *node);

void ald_turns_charge(AldTurns *turns, const char *node, uint64_t usec, uint64_t now);
