/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/state/outbox.h"

typedef struct Waiting {
        AldUpdate update; /* owns the key and a reference of the record */
        GList link;
} Waiting;

struct AldOutbox {
        GHashTable *waiting; /* set of Waiting, by node, kind and key */
        GQueue order;
        size_t bytes, max_bytes;
};

static guint hash_waiting(gconstpointer data)
{
        const AldUpdate *update = &((const Waiting *) data)->update;
        guint node;

        memcpy(&node, update->node.bytes, sizeof node);
        return node * 31u + (guint) update->kind + g_str_hash(update->key);
}

static gboolean equal_waiting(gconstpointer a, gconstpointer b)
{
        const AldUpdate *x = &((const Waiting *) a)->update, *y = &((const Waiting *) b)->update;

        return ald_id_equal(&x->node, &y->node) && x->kind == y->kind && strcmp(x->key, y->key) == 0;
}

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        g_clear_pointer(&waiting->update.record, ald_record_unref);
        g_free((char *) waiting->update.key);
        g_free(waiting);
}

AldOutbox *ald_outbox_new(size_t max_bytes)
{
        AldOutbox *outbox = g_new0(AldOutbox, 1);

        outbox->waiting = g_hash_table_new_full(hash_waiting, equal_waiting, waiting_free, NULL);
        outbox->max_bytes = max_bytes;
        return outbox;
}

void ald_outbox_free(AldOutbox *outbox)
{
        if (!outbox)
                return;
        g_hash_table_unref(outbox->waiting);
        g_free(outbox);
}

static size_t update_size(const AldUpdate *update)
{
        return sizeof(Waiting) + strlen(update->key) + (update->record ? update->record->size : 0);
}

static void replace_update(AldOutbox *outbox, Waiting *waiting, const AldUpdate *update)
{
        const char *key = waiting->update.key;

        outbox->bytes -= update_size(&waiting->update);
        g_clear_pointer(&waiting->update.record, ald_record_unref);
        waiting->update = *update;
        waiting->update.key = key;
        if (update->record)
                ald_record_ref(update->record);
        outbox->bytes += update_size(update);
}

bool ald_outbox_add(AldOutbox *outbox, const AldUpdate *update)
{
        const Waiting sought = { .update = *update };
        Waiting *waiting = g_hash_table_lookup(outbox->waiting, &sought);

        if (waiting && ald_stamp_compare(&update->stamp, &waiting->update.stamp) < 0)
                return true;
        if (outbox->bytes + update_size(update) > outbox->max_bytes)
                return false;
        if (waiting) {
                replace_update(outbox, waiting, update);
                return true;
        }
        waiting = g_new0(Waiting, 1);
        waiting->update = *update;
        waiting->update.key = g_strdup(update->key);
        if (update->record)
                ald_record_ref(update->record);
        waiting->link.data = waiting;
        g_hash_table_add(outbox->waiting, waiting);
        g_queue_push_tail_link(&outbox->order, &waiting->link);
        outbox->bytes += update_size(update);
        return true;
}

static void remove_waiting(AldOutbox *outbox, Waiting *waiting)
{
        outbox->bytes -= update_size(&waiting->update);
        g_queue_unlink(&outbox->order, &waiting->link);
        g_hash_table_remove(outbox->waiting, waiting);
}

const AldUpdate *ald_outbox_first(AldOutbox *outbox)
{
        const Waiting *waiting = g_queue_peek_head(&outbox->order);

        return waiting ? &waiting->update : NULL;
}

void ald_outbox_drop_first(AldOutbox *outbox)
{
        remove_waiting(outbox, g_queue_peek_head(&outbox->order));
}

void ald_outbox_clear(AldOutbox *outbox)
{
        g_queue_init(&outbox->order);
        g_hash_table_remove_all(outbox->waiting);
        outbox->bytes = 0;
}

void ald_outbox_forget(AldOutbox *outbox, const AldId *node)
{
        for (GList *at = outbox->order.head, *next; at; at = next) {
                Waiting *waiting = at->data;

                next = at->next;
                if (ald_id_equal(&waiting->update.node, node))
                        remove_waiting(outbox, waiting);
        }
}

size_t ald_outbox_count(const AldOutbox *outbox)
{
        return outbox->order.length;
}
