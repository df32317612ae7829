/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * Shares the time in which other nodes measure their links to this one: each node has a budget, which is
 * restored over an hour. While a node waits for its turn, nodes that have used clearly more than it wait as
 * well. Pure: times are in µs, `now` is CLOCK_MONOTONIC.
 */
typedef struct AldNodeBudgets AldNodeBudgets;

#define ALD_NODE_BUDGET_USEC (UINT64_C(900) * 1000 * 1000)
#define ALD_NODE_BUDGET_HOUR_USEC (UINT64_C(3600) * 1000 * 1000)

/* A node has used clearly more if the difference is at least this. */
#define ALD_NODE_BUDGET_LEAD_USEC (UINT64_C(20) * 1000 * 1000)

/* The minimum cost of a session. */
#define ALD_NODE_BUDGET_SESSION_USEC (UINT64_C(100) * 1000)

/* A deferred node tries again within this time; see deferrals.h and jobs.c. */
#define ALD_NODE_BUDGET_WAIT_USEC (UINT64_C(13) * 1000 * 1000)

/* Beyond this number, the node that has used least is dropped. */
#define ALD_NODE_BUDGETS_MAX 1024u

AldNodeBudgets *ald_node_budgets_new(void);
void ald_node_budgets_free(AldNodeBudgets *budgets);

/* Describes why the node is deferred; NULL if it may measure through the interface or RDMA port. Free with
 * g_free(). */
char *ald_node_budgets_refuse(
        const AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now);

/* Notes that the node was deferred because others measure through the port, or through any port if it is
 * "". */
void ald_node_budgets_wait(AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now);

/* Notes that the node no longer waits: it measures, or was refused for another reason. */
void ald_node_budgets_end_wait(AldNodeBudgets *budgets, const char *node);

void ald_node_budgets_charge(AldNodeBudgets *budgets, const char *node, uint64_t usec, uint64_t now);
