/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record-key.h"
#include "state/store/store-private.h"

static void forget_old_deletions(AldStore *store, AldNode *node, uint64_t before)
{
        AldEntry *entry = ald_node_after(node, NULL);

        while (entry) {
                AldEntry *next = ald_node_after(node, entry);

                if (!entry->record && entry->changed < before)
                        ald_store_forget_entry(store, entry);
                entry = next;
        }
}

typedef struct Expiry {
        uint64_t now, deletion, node;
        AldStore *store;
        GPtrArray *silent;
} Expiry;

static gboolean expire_node(AldNode *node, void *userdata)
{
        Expiry *expiry = userdata;

        if (!node->local && expiry->now > expiry->node && node->heard < expiry->now - expiry->node &&
                !ald_node_is_online(node))
                g_ptr_array_add(expiry->silent, node);
        else if (expiry->now > expiry->deletion)
                forget_old_deletions(expiry->store, node, expiry->now - expiry->deletion);
        return FALSE;
}

/* Links of other nodes are removed with their sink; our own are deleted, and the deletions are published. */
static void drop_or_delete_link(AldStore *store, AldEntry *entry, uint64_t now)
{
        if (!entry->node->local)
                ald_store_forget_entry(store, entry);
        else if (entry->record)
                ald_store_put_local(store, entry->kind, entry->key, NULL, entry->updated_usec, now);
}

typedef struct LinkDrop {
        AldStore *store;
        GHashTable *gone; /* of AldId: the sinks of the links */
        uint64_t now;
} LinkDrop;

static gboolean drop_links_from_node(AldNode *node, void *userdata)
{
        const LinkDrop *drop = userdata;
        AldEntry *entry = ald_node_after(node, NULL);

        while (entry) {
                AldEntry *next = ald_node_after(node, entry);
                AldId sink;

                if (entry->key && ald_key_parse(entry->kind, entry->key, &sink) >= 0 &&
                        g_hash_table_contains(drop->gone, &sink))
                        drop_or_delete_link(drop->store, entry, drop->now);
                entry = next;
        }
        return FALSE;
}

void ald_store_expire(AldStore *store, uint64_t now, uint64_t deletion_usec, uint64_t node_usec)
{
        g_autoptr(GPtrArray) silent = g_ptr_array_new();
        g_autoptr(GHashTable) gone = NULL;
        Expiry expiry = {
                .now = now, .deletion = deletion_usec, .node = node_usec, .store = store, .silent = silent
        };

        ald_store_foreach_node(store, expire_node, &expiry);
        if (silent->len == 0)
                return;
        gone = g_hash_table_new(ald_id_table_hash, ald_id_table_equal);
        for (guint i = 0; i < silent->len; i++)
                g_hash_table_add(gone, &((AldNode *) silent->pdata[i])->id);
        ald_store_foreach_node(store, drop_links_from_node, &(LinkDrop){ store, gone, now });
        for (guint i = 0; i < silent->len; i++)
                ald_store_forget_node(store, silent->pdata[i]);
}

void ald_store_forget(AldStore *store, const AldId *ids, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                AldNode *node = ald_store_find_node(store, &ids[i]);

                if (node && !node->local)
                        ald_store_forget_node(store, node);
        }
}

void ald_store_drop_own_links(AldStore *store, const AldId *ids, size_t n, uint64_t now)
{
        g_autoptr(GHashTable) gone = g_hash_table_new(ald_id_table_hash, ald_id_table_equal);

        for (size_t i = 0; i < n; i++)
                g_hash_table_add(gone, (gpointer) &ids[i]);
        drop_links_from_node(store->local, &(LinkDrop){ store, gone, now });
}

void ald_store_announce(AldStore *store, const AldId *id, uint64_t epoch)
{
        AldNode *node = ald_store_find_node(store, id);
        AldEntry *entry;
        bool newer;

        if (!node || node->local)
                return;
        newer = epoch > node->announced;
        node->announced = epoch;
        if (!newer)
                return;
        entry = ald_node_after(node, NULL);
        while (entry) {
                AldEntry *next = ald_node_after(node, entry);

                if (entry->stamp.epoch < epoch && !ald_kinds[entry->kind].local)
                        ald_store_forget_entry(store, entry);
                entry = next;
        }
}

void ald_store_note_epoch(AldStore *store, const AldId *id, uint64_t epoch)
{
        AldNode *node = ald_store_find_node(store, id);

        if (node)
                node->epoch = epoch;
}

bool ald_node_is_behind(const AldNode *node)
{
        if (node->local || node->epoch == 0)
                return false;
        if (node->epoch < node->announced)
                return true;
        for (unsigned kind = 0; kind < ALD_N_NODE_KINDS; kind++) {
                const AldEntry *entry = &node->entries[kind];

                if (entry->present && !ald_kinds[kind].local && entry->stamp.epoch > node->epoch)
                        return true;
        }
        return false;
}

static gboolean collect_node(AldNode *node, void *userdata)
{
        g_ptr_array_add(userdata, node);
        return FALSE;
}

static void add_unknown(AldStore *store, const AldId *id, uint64_t since_usec, uint64_t now)
{
        const AldPresence unknown = {
                .state = ald_presence_state_to_string(ALD_PRESENCE_STATE_UNKNOWN),
                .since_usec = since_usec,
                .clock_offset_usec = ALD_ABSENT_INT64,
        };
        g_autoptr(AldRecord) record = NULL;

        if (ald_record_new(ALD_KIND_PRESENCE, &unknown, &record) < 0)
                g_assert_not_reached();
        ald_store_put_about(store, id, ALD_KIND_PRESENCE, record, since_usec, now);
}

/* The sinks of this node's links may have no other record: its links survive a restart, other nodes do not.
 * */
static void add_unknown_sinks(AldStore *store, uint64_t since_usec, uint64_t now)
{
        for (AldEntry *entry = ald_node_after(store->local, NULL); entry;
                entry = ald_node_after(store->local, entry)) {
                AldId sink;

                if (entry->key && entry->record && ald_key_parse(entry->kind, entry->key, &sink) >= 0 &&
                        !ald_store_find_node(store, &sink))
                        add_unknown(store, &sink, since_usec, now);
        }
}

void ald_store_lose_presences(AldStore *store, uint64_t since_usec, uint64_t now)
{
        AldEntry *own = &store->local->entries[ALD_KIND_PRESENCE];
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();

        if (own->present)
                ald_store_forget_entry(store, own);
        ald_store_foreach_node(store, collect_node, nodes);
        for (guint i = 0; i < nodes->len; i++) {
                const AldNode *node = nodes->pdata[i];

                if (!node->local && !node->bare && !ald_node_is_unknown(node))
                        add_unknown(store, &node->id, since_usec, now);
        }
        add_unknown_sinks(store, since_usec, now);
}
