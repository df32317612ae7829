/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/trust/crl-turns.h"
#include "services/common/timer.h"

/* All nodes are looked through not more often than that. */
#define GATHER_USEC G_USEC_PER_SEC

typedef struct Turn {
        AldId node;
        gint64 free;      /* when all of the burst may be read again */
        AldReceived list; /* what waits; without a topic nothing does */
} Turn;

struct AldCrlTurns {
        GHashTable *by_node;
        uint64_t waiting; /* bytes */
        gint64 due;       /* of the timer, which may come too early */
        AldTimer *timer;
        AldCrlTurnsTake take;
        void *userdata;
};

static void list_clear(AldReceived *list)
{
        g_free((char *) list->topic);
        g_free((char *) list->payload);
        *list = (AldReceived){ 0 };
}

static void turn_free(gpointer data)
{
        Turn *turn = data;

        list_clear(&turn->list);
        g_free(turn);
}

static gint64 due_of(const Turn *turn)
{
        return turn->list.topic ? turn->free - (ALD_CRL_BURST - 1) * ALD_CRL_TURN_USEC : turn->free;
}

static void wake_at(AldCrlTurns *turns, gint64 due)
{
        if (due >= turns->due)
                return;
        turns->due = due;
        ald_timer_set(turns->timer, due + GATHER_USEC);
}

/* Lists that have waited pass through ald_crl_turns_take() again, which counts their turn. */
static void pass_on(AldCrlTurns *turns, Turn *turn)
{
        AldReceived list = turn->list;

        turn->list = (AldReceived){ 0 };
        turns->waiting -= list.size;
        turns->take(&list, turns->userdata);
        list_clear(&list);
}

void ald_crl_turns_advance(AldCrlTurns *turns, gint64 now)
{
        g_autoptr(GPtrArray) due = g_ptr_array_new();
        GHashTableIter iter;
        gpointer turn;

        g_hash_table_iter_init(&iter, turns->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &turn)) {
                if (due_of(turn) > now)
                        continue;
                if (((Turn *) turn)->list.topic)
                        g_ptr_array_add(due, turn);
                else
                        g_hash_table_iter_remove(&iter);
        }
        for (guint i = 0; i < due->len; i++)
                pass_on(turns, due->pdata[i]);
        turns->due = ALD_TIMER_NEVER;
        g_hash_table_iter_init(&iter, turns->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &turn))
                wake_at(turns, due_of(turn));
}

static void on_timer(void *userdata)
{
        ald_crl_turns_advance(userdata, g_get_monotonic_time());
}

AldCrlTurns *ald_crl_turns_new(AldCrlTurnsTake take, void *userdata)
{
        AldCrlTurns *turns = g_new0(AldCrlTurns, 1);

        turns->by_node = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, turn_free);
        turns->due = ALD_TIMER_NEVER;
        turns->timer = ald_timer_new("revocation lists", on_timer, turns);
        turns->take = take;
        turns->userdata = userdata;
        return turns;
}

void ald_crl_turns_free(AldCrlTurns *turns)
{
        if (!turns)
                return;
        g_hash_table_unref(turns->by_node);
        ald_timer_free(turns->timer);
        g_free(turns);
}

static int keep_waiting(AldCrlTurns *turns, Turn *turn, const AldReceived *received)
{
        if (turns->waiting - turn->list.size + received->size > ALD_CRL_WAITING_BYTES)
                return -ENOBUFS;
        turns->waiting += received->size - turn->list.size;
        list_clear(&turn->list);
        turn->list = *received;
        turn->list.retained = true;
        turn->list.topic = g_strdup(received->topic);
        turn->list.payload = g_strndup(received->payload, received->size);
        wake_at(turns, due_of(turn));
        return 0;
}

int ald_crl_turns_take(AldCrlTurns *turns, const AldId *node, const AldReceived *received, gint64 now)
{
        Turn *turn = g_hash_table_lookup(turns->by_node, node);

        if (!turn && g_hash_table_size(turns->by_node) >= ALD_NODES_MAX)
                return -ENOBUFS;
        if (!turn) {
                turn = g_new0(Turn, 1);
                turn->node = *node;
                g_hash_table_insert(turns->by_node, &turn->node, turn);
        }
        if (turn->free - now > (ALD_CRL_BURST - 1) * ALD_CRL_TURN_USEC)
                return keep_waiting(turns, turn, received);
        turn->free = MAX(turn->free, now) + ALD_CRL_TURN_USEC;
        wake_at(turns, due_of(turn));
        return 1;
}
