/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/fair-queue.h"
#include "services/common/timer.h"

typedef struct AldFairAccount {
        char *node;
        GQueue items; /* of AldFairPlace */
        GList turn;   /* in the queue's list while it has items */
        double saved; /* items that it may cause at once */
        gint64 at;    /* when `saved` was computed, CLOCK_MONOTONIC in µs */
} AldFairAccount;

struct AldFairQueue {
        AldFairServe serve;
        void *userdata;
        GHashTable *accounts; /* by node */
        GQueue turns;         /* of AldFairAccount */
        guint idle;
        AldTimer *retry;
};

static void account_free(gpointer data)
{
        AldFairAccount *account = data;

        g_free(account->node);
        g_free(account);
}

static gboolean on_idle(gpointer userdata);

static void serve_when_idle(AldFairQueue *queue)
{
        if (queue->idle == 0)
                queue->idle = g_idle_add(on_idle, queue);
}

static void on_retry(void *userdata)
{
        serve_when_idle(userdata);
}

AldFairQueue *ald_fair_queue_new(AldFairServe serve, void *userdata)
{
        AldFairQueue *queue = g_new0(AldFairQueue, 1);

        queue->serve = serve;
        queue->userdata = userdata;
        queue->accounts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, account_free);
        g_queue_init(&queue->turns);
        queue->retry = ald_timer_new("fair queue", on_retry, queue);
        return queue;
}

void ald_fair_queue_free(AldFairQueue *queue)
{
        if (!queue)
                return;
        g_clear_handle_id(&queue->idle, g_source_remove);
        ald_timer_free(queue->retry);
        g_hash_table_unref(queue->accounts);
        g_free(queue);
}

static AldFairAccount *get_account(AldFairQueue *queue, const char *node)
{
        AldFairAccount *account = g_hash_table_lookup(queue->accounts, node);

        if (account)
                return account;
        account = g_new0(AldFairAccount, 1);
        account->node = g_strdup(node);
        account->saved = ALD_FAIR_SAVED;
        account->at = g_get_monotonic_time();
        account->turn.data = account;
        g_queue_init(&account->items);
        g_hash_table_insert(queue->accounts, account->node, account);
        return account;
}

static bool may_cause(AldFairAccount *account)
{
        const gint64 now = g_get_monotonic_time();

        account->saved = MIN(account->saved + (double) (now - account->at) / G_USEC_PER_SEC, ALD_FAIR_SAVED);
        account->at = now;
        return account->saved >= 1;
}

/* Returns the first account in turn that may cause another item; NULL if there is none. */
static AldFairAccount *next_account(AldFairQueue *queue)
{
        for (guint i = 0; i < queue->turns.length; i++) {
                GList *turn = g_queue_pop_head_link(&queue->turns);

                g_queue_push_tail_link(&queue->turns, turn);
                if (may_cause(turn->data))
                        return turn->data;
        }
        return NULL;
}

static void unlink_place(AldFairQueue *queue, AldFairPlace *place)
{
        AldFairAccount *account = place->account;

        g_queue_unlink(&account->items, &place->link);
        place->link.data = NULL;
        if (account->items.length == 0)
                g_queue_unlink(&queue->turns, &account->turn);
}

static gboolean on_idle(gpointer userdata)
{
        AldFairQueue *queue = userdata;
        AldFairAccount *account = next_account(queue);
        AldFairPlace *place;

        if (!account) {
                if (queue->turns.length > 0)
                        ald_timer_set(queue->retry, g_get_monotonic_time() + G_USEC_PER_SEC);
                queue->idle = 0;
                return G_SOURCE_REMOVE;
        }
        account->saved--;
        place = account->items.head->data;
        unlink_place(queue, place);
        queue->serve(place, queue->userdata);
        return G_SOURCE_CONTINUE;
}

void ald_fair_queue_push(AldFairQueue *queue, const char *node, AldFairPlace *place)
{
        if (place->link.data)
                return;
        place->account = get_account(queue, node);
        place->link.data = place;
        if (place->account->items.length == 0)
                g_queue_push_tail_link(&queue->turns, &place->account->turn);
        g_queue_push_tail_link(&place->account->items, &place->link);
        serve_when_idle(queue);
}

void ald_fair_queue_remove(AldFairQueue *queue, AldFairPlace *place)
{
        if (place->link.data)
                unlink_place(queue, place);
}

bool ald_fair_queue_is_busy(AldFairQueue *queue)
{
        /* Unlike next_account(), this takes no turn from anybody. */
        for (const GList *turn = queue->turns.head; turn; turn = turn->next)
                if (may_cause(turn->data))
                        return true;
        return false;
}
