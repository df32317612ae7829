/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * How long each other node has measured its links to this one recently, so that all get their share: a node
 * has a budget, which is restored in the course of an hour, and while a node waits for its turn, those that
 * have used clearly more than it wait, too. Pure: times are in µs, `now` is CLOCK_MONOTONIC.
 */
typedef struct AldNodeBudgets AldNodeBudgets;

#define ALD_NODE_BUDGET_USEC (UINT64_C(900) * 1000 * 1000)
#define ALD_NODE_BUDGET_HOUR_USEC (UINT64_C(3600) * 1000 * 1000)

/* What counts as clearly more. */
#define ALD_NODE_BUDGET_LEAD_USEC (UINT64_C(20) * 1000 * 1000)

/* The least that a session costs. */
#define ALD_NODE_BUDGET_SESSION_USEC (UINT64_C(100) * 1000)

/* A deferred node tries again within this time; see deferrals.h and jobs.c. */
#define ALD_NODE_BUDGET_WAIT_USEC (UINT64_C(13) * 1000 * 1000)

/* If there are more, the node that has used least is forgotten. */
#define ALD_NODE_BUDGETS_MAX 1024u

AldNodeBudgets *ald_node_budgets_new(void);
void ald_node_budgets_free(AldNodeBudgets *budgets);

/* Why the node is deferred, in words; NULL if it may measure through the interface or RDMA port. Free with
 * g_free(). */
char *ald_node_budgets_refuse(
        const AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now);

/* The node was deferred because others measure through the port, or through any if it is "". */
void ald_node_budgets_wait(AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now);

/* The node no longer waits: it measures, or was refused for another reason. */
void ald_node_budgets_end_wait(AldNodeBudgets *budgets, const char *node);

void ald_node_budgets_charge(AldNodeBudgets *budgets, const char *node, uint64_t usec, uint64_t now);
