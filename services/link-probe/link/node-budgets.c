/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include <glib.h>

#include "services/link-probe/link/node-budgets.h"

#define PORT_MAX 80u

/* A node that did not return is not waited for again within this time. */
#define PAUSE_USEC (UINT64_C(60) * 1000 * 1000)

typedef struct NodeBudget {
        uint64_t used, since; /* µs used, as of `since` */
        uint64_t waits_until; /* 0: not waiting */
        char port[PORT_MAX];  /* that it waits for; empty: any */
} NodeBudget;

struct AldNodeBudgets {
        GHashTable *nodes; /* id → NodeBudget */
};

AldNodeBudgets *ald_node_budgets_new(void)
{
        AldNodeBudgets *budgets = g_new(AldNodeBudgets, 1);

        budgets->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return budgets;
}

void ald_node_budgets_free(AldNodeBudgets *budgets)
{
        if (!budgets)
                return;
        g_hash_table_unref(budgets->nodes);
        g_free(budgets);
}

/* Returns how much of its budget a node has used; the budget is restored steadily. */
static uint64_t used_of(const NodeBudget *node, uint64_t now)
{
        uint64_t back;

        if (!node)
                return 0;
        back = (now - MIN(node->since, now)) / (ALD_NODE_BUDGET_HOUR_USEC / ALD_NODE_BUDGET_USEC);
        return node->used > back ? node->used - back : 0;
}

static void remove_least_used(AldNodeBudgets *budgets, uint64_t now)
{
        uint64_t least = UINT64_MAX;
        const char *found = NULL;
        GHashTableIter iter;
        gpointer id, node;

        g_hash_table_iter_init(&iter, budgets->nodes);
        while (g_hash_table_iter_next(&iter, &id, &node))
                if (used_of(node, now) < least) {
                        least = used_of(node, now);
                        found = id;
                }
        if (found)
                g_hash_table_remove(budgets->nodes, found);
}

static NodeBudget *ensure_node(AldNodeBudgets *budgets, const char *id, uint64_t now)
{
        NodeBudget *node = g_hash_table_lookup(budgets->nodes, id);

        if (node)
                return node;
        if (g_hash_table_size(budgets->nodes) >= ALD_NODE_BUDGETS_MAX)
                remove_least_used(budgets, now);
        node = g_new0(NodeBudget, 1);
        node->since = now;
        g_hash_table_insert(budgets->nodes, g_strdup(id), node);
        return node;
}

static bool has_precedence(const NodeBudget *node, const char *port, uint64_t used, uint64_t now)
{
        return node->waits_until > now && (*node->port == '\0' || g_str_equal(node->port, port)) &&
               used_of(node, now) + ALD_NODE_BUDGET_LEAD_USEC <= used;
}

char *ald_node_budgets_refuse(const AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now)
{
        uint64_t used = used_of(g_hash_table_lookup(budgets->nodes, node), now);
        GHashTableIter iter;
        gpointer id, other;

        if (used >= ALD_NODE_BUDGET_USEC)
                return g_strdup_printf("the requesting node has measured for %u minutes in the last hour, "
                                       "which is its limit",
                        (unsigned) (ALD_NODE_BUDGET_USEC / G_USEC_PER_SEC / 60));
        g_hash_table_iter_init(&iter, budgets->nodes);
        while (g_hash_table_iter_next(&iter, &id, &other))
                if (!g_str_equal(id, node) && has_precedence(other, port, used, now))
                        return g_strdup("another node, which has measured less, goes first");
        return NULL;
}

void ald_node_budgets_wait(AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now)
{
        NodeBudget *waiting = ensure_node(budgets, node, now);

        if (waiting->waits_until > 0 && waiting->waits_until <= now &&
                now - waiting->waits_until < PAUSE_USEC)
                return;
        waiting->waits_until = now + ALD_NODE_BUDGET_WAIT_USEC;
        g_strlcpy(waiting->port, port, sizeof waiting->port);
}

void ald_node_budgets_end_wait(AldNodeBudgets *budgets, const char *node)
{
        NodeBudget *waiting = g_hash_table_lookup(budgets->nodes, node);

        if (waiting)
                waiting->waits_until = 0;
}

void ald_node_budgets_charge(AldNodeBudgets *budgets, const char *node, uint64_t usec, uint64_t now)
{
        NodeBudget *charged = ensure_node(budgets, node, now);

        charged->used = used_of(charged, now) + MAX(usec, ALD_NODE_BUDGET_SESSION_USEC);
        charged->since = now;
}
