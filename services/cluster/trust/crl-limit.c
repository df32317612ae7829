/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/trust/crl-limit.h"
#include "services/common/timer.h"

/* The lists of all nodes are checked at most this often. */
#define GATHER_USEC G_USEC_PER_SEC

typedef struct Entry {
        AldId node;
        gint64 free;      /* when the whole burst is available again */
        AldReceived list; /* the list that waits; no topic: none */
} Entry;

struct AldCrlLimit {
        GHashTable *by_node;
        uint64_t waiting; /* bytes */
        gint64 due;       /* when the timer expires, maybe too early */
        AldTimer *timer;
        AldCrlLimitTake take;
        void *userdata;
};

static void list_clear(AldReceived *list)
{
        g_free((char *) list->topic);
        g_free((char *) list->payload);
        *list = (AldReceived){ 0 };
}

static void entry_free(gpointer data)
{
        Entry *entry = data;

        list_clear(&entry->list);
        g_free(entry);
}

static gint64 entry_due(const Entry *entry)
{
        return entry->list.topic ? entry->free - (ALD_CRL_BURST - 1) * ALD_CRL_INTERVAL_USEC : entry->free;
}

static void schedule_timer(AldCrlLimit *limit, gint64 due)
{
        if (due >= limit->due)
                return;
        limit->due = due;
        ald_timer_set(limit->timer, due + GATHER_USEC);
}

/* Passes a list that has waited to the receiver; it comes back through ald_crl_limit_take(), which counts
 * it. */
static void pass_on_list(AldCrlLimit *limit, Entry *entry)
{
        AldReceived list = entry->list;

        entry->list = (AldReceived){ 0 };
        limit->waiting -= list.size;
        limit->take(&list, limit->userdata);
        list_clear(&list);
}

void ald_crl_limit_advance(AldCrlLimit *limit, gint64 now)
{
        g_autoptr(GPtrArray) due = g_ptr_array_new();
        GHashTableIter iter;
        gpointer entry;

        g_hash_table_iter_init(&iter, limit->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &entry)) {
                if (entry_due(entry) > now)
                        continue;
                if (((Entry *) entry)->list.topic)
                        g_ptr_array_add(due, entry);
                else
                        g_hash_table_iter_remove(&iter);
        }
        for (guint i = 0; i < due->len; i++)
                pass_on_list(limit, due->pdata[i]);
        limit->due = ALD_TIMER_NEVER;
        g_hash_table_iter_init(&iter, limit->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &entry))
                schedule_timer(limit, entry_due(entry));
}

static void on_timer(void *userdata)
{
        ald_crl_limit_advance(userdata, g_get_monotonic_time());
}

AldCrlLimit *ald_crl_limit_new(AldCrlLimitTake take, void *userdata)
{
        AldCrlLimit *limit = g_new0(AldCrlLimit, 1);

        limit->by_node = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, entry_free);
        limit->due = ALD_TIMER_NEVER;
        limit->timer = ald_timer_new("revocation lists", on_timer, limit);
        limit->take = take;
        limit->userdata = userdata;
        return limit;
}

void ald_crl_limit_free(AldCrlLimit *limit)
{
        if (!limit)
                return;
        g_hash_table_unref(limit->by_node);
        ald_timer_free(limit->timer);
        g_free(limit);
}

static int hold_list(AldCrlLimit *limit, Entry *entry, const AldReceived *received)
{
        if (limit->waiting - entry->list.size + received->size > ALD_CRL_WAITING_BYTES)
                return -ENOBUFS;
        limit->waiting += received->size - entry->list.size;
        list_clear(&entry->list);
        entry->list = *received;
        entry->list.retained = true;
        entry->list.topic = g_strdup(received->topic);
        entry->list.payload = g_strndup(received->payload, received->size);
        schedule_timer(limit, entry_due(entry));
        return 0;
}

int ald_crl_limit_take(AldCrlLimit *limit, const AldId *node, const AldReceived *received, gint64 now)
{
        Entry *entry = g_hash_table_lookup(limit->by_node, node);

        if (!entry && g_hash_table_size(limit->by_node) >= ALD_NODES_MAX)
                return -ENOBUFS;
        if (!entry) {
                entry = g_new0(Entry, 1);
                entry->node = *node;
                g_hash_table_insert(limit->by_node, &entry->node, entry);
        }
        if (entry->free - now > (ALD_CRL_BURST - 1) * ALD_CRL_INTERVAL_USEC)
                return hold_list(limit, entry, received);
        entry->free = MAX(entry->free, now) + ALD_CRL_INTERVAL_USEC;
        schedule_timer(limit, entry_due(entry));
        return 1;
}
