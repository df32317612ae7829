/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/record-key.h"
#include "state/store/link-set.h"
#include "state/store/store-private.h"

/* The most that an object or interface adds to GetManagedObjects() beside its fields: its path, its name and
 * the envelope. */
#define WIRE_PER_NODE 256u
#define WIRE_PER_ENTRY 128u
#define WIRE_PER_LINK 416u
#define WIRE_PER_KEY_BYTE 3u /* the path escapes other bytes than letters and digits, such as _2c */

/* This node may have this many times the links of another one, since it deletes most of them again. */
#define LOCAL_LINKS 4u

static int id_order(gconstpointer a, gconstpointer b, gpointer unused)
{
        return ald_id_compare(a, b);
}

static void node_free(gpointer data)
{
        AldNode *node = data;

        for (unsigned kind = 0; kind < ALD_N_NODE_KINDS; kind++)
                g_clear_pointer(&node->entries[kind].record, ald_record_unref);
        g_clear_pointer(&node->links, ald_link_set_free);
        g_free(node);
}

static AldNode *node_add(AldStore *store, const AldId *id, uint64_t now)
{
        AldNode *node = g_new0(AldNode, 1);

        node->id = *id;
        node->heard = now;
        node->bare_place.data = node;
        for (unsigned kind = 0; kind < ALD_N_NODE_KINDS; kind++) {
                AldEntry *entry = &node->entries[kind];

                entry->node = node;
                entry->kind = kind;
        }
        ald_node_index_add(store->nodes, node);
        g_tree_insert(store->order, &node->id, node);
        return node;
}

AldStore *ald_store_new(const AldId *local, uint64_t epoch, const AldStoreLimits *limits)
{
        AldStore *store = g_new0(AldStore, 1);

        store->limits = *limits;
        store->epoch = epoch;
        store->nodes = ald_node_index_new();
        store->order = g_tree_new_full(id_order, NULL, NULL, node_free);
        g_queue_init(&store->bare);
        store->local = node_add(store, local, 0);
        store->local->local = true;
        return store;
}

void ald_store_free(AldStore *store)
{
        g_tree_unref(store->order);
        ald_node_index_free(store->nodes);
        g_free(store);
}

void ald_store_watch(AldStore *store, AldStoreChanged changed, AldStoreRemoving removing, void *userdata)
{
        store->changed = changed;
        store->removing = removing;
        store->userdata = userdata;
}

AldNode *ald_store_find_node(AldStore *store, const AldId *id)
{
        return ald_node_index_find(store->nodes, id);
}

AldNode *ald_store_local_node(AldStore *store)
{
        return store->local;
}

AldRecord *ald_node_record(const AldNode *node, AldKind kind)
{
        g_assert(!ald_kinds[kind].is_link);
        return node ? node->entries[kind].record : NULL;
}

static bool is_in_state(const AldNode *node, AldPresenceState state)
{
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);

        return presence && g_strcmp0(presence->state, ald_presence_state_to_string(state)) == 0;
}

bool ald_node_is_online(const AldNode *node)
{
        return is_in_state(node, ALD_PRESENCE_STATE_ONLINE);
}

bool ald_node_is_unknown(const AldNode *node)
{
        return is_in_state(node, ALD_PRESENCE_STATE_UNKNOWN);
}

bool ald_node_counts(const AldNode *node)
{
        return node->local || ald_node_is_online(node) || is_in_state(node, ALD_PRESENCE_STATE_STALE);
}

static AldEntry *find_link(const AldNode *node, AldKind kind, const char *key)
{
        return ald_link_set_find(node->links, kind, key);
}

AldEntry *ald_store_find(AldStore *store, const AldId *id, AldKind kind, const char *key)
{
        AldNode *node = ald_store_find_node(store, id);
        AldEntry *entry;

        if (!node)
                return NULL;
        entry = ald_kinds[kind].is_link ? find_link(node, kind, key) : &node->entries[kind];
        return entry && entry->present ? entry : NULL;
}

static size_t wire_size(const AldEntry *entry)
{
        if (!entry->key)
                return entry->record->wire_size + WIRE_PER_ENTRY;
        return entry->record->wire_size + WIRE_PER_LINK + WIRE_PER_KEY_BYTE * strlen(entry->key);
}

/* Hides an entry. A node without any shown interface is no longer an object. */
static void hide_entry(AldStore *store, AldEntry *entry)
{
        AldNode *node = entry->node;

        if (!entry->shown)
                return;
        entry->shown = false;
        store->shown_bytes -= wire_size(entry);
        if (entry->key || --node->n_shown > 0)
                return;
        node->shown = false;
        store->shown_nodes--;
        store->shown_bytes -= WIRE_PER_NODE;
}

/* One place is kept for this node, whose records may come later than those of others. */
static bool may_show_another(const AldStore *store, const AldNode *node)
{
        bool kept = !node->local && !store->local->shown;

        return store->shown_nodes + kept < store->limits.max_shown_nodes;
}

/* A node becomes an object while there is room for one; an interface or link while its bytes fit. */
static void show_entry_if_it_fits(AldStore *store, AldEntry *entry)
{
        size_t size = wire_size(entry);
        AldNode *node = entry->node;
        bool needs_node = !entry->key && !node->shown;

        if (store->shown_bytes + size + (needs_node ? WIRE_PER_NODE : 0) > store->limits.max_shown_bytes)
                return;
        if (needs_node) {
                if (!may_show_another(store, node))
                        return;
                node->shown = true;
                store->shown_nodes++;
                store->shown_bytes += WIRE_PER_NODE;
        }
        entry->shown = true;
        node->n_shown += !entry->key;
        store->shown_bytes += size;
}

/* Maintains the queue of the nodes that may be removed. */
static void update_bare_queue(AldStore *store, AldNode *node)
{
        bool bare = !node->local && node->n_records == 0 && node->n_links == 0;

        if (bare == node->bare)
                return;
        node->bare = bare;
        if (bare)
                g_queue_push_tail_link(&store->bare, &node->bare_place);
        else
                g_queue_unlink(&store->bare, &node->bare_place);
}

/* Maintains the numbers of nodes and links that have a record, and of the hidden links among them. */
static void count_record(AldStore *store, const AldEntry *entry, int sign)
{
        AldNode *node = entry->node;

        if (!entry->record)
                return;
        if (entry->key) {
                store->n_links += (size_t) sign;
                node->n_links += (uint32_t) sign;
                store->n_hidden_links += entry->shown ? 0 : (size_t) sign;
        } else {
                store->n_with_records -= node->n_records > 0;
                node->n_records = (uint8_t) (node->n_records + sign);
                store->n_with_records += node->n_records > 0;
        }
}

void ald_store_set_record(AldStore *store, AldEntry *entry, AldRecord *record)
{
        AldRecord *before = entry->record;

        count_record(store, entry, -1);
        if (before) {
                hide_entry(store, entry);
                store->bytes -= before->size;
        }
        entry->record = record ? ald_record_ref(record) : NULL;
        if (record) {
                store->bytes += record->size;
                show_entry_if_it_fits(store, entry);
        }
        count_record(store, entry, +1);
        update_bare_queue(store, entry->node);
        if (before)
                ald_record_unref(before);
}

static void apply_update(AldStore *store, AldEntry *entry, const AldUpdate *update, uint64_t now)
{
        g_autoptr(AldRecord) before = entry->record ? ald_record_ref(entry->record) : NULL;

        entry->present = true;
        entry->stamp = update->stamp;
        entry->updated_usec = update->updated_usec;
        entry->changed = now;
        if (update->record) {
                /* The revision counts each change of the fields; a record that was sent again does not count.
                 */
                update->record->revision = before ? before->revision + (before->hash != update->record->hash)
                                                  : 1;
                update->record->updated_usec = update->updated_usec;
        }
        ald_store_set_record(store, entry, update->record);
        if (store->changed)
                store->changed(entry, before, store->userdata);
}

/* Compares in the total order of which merging takes the greatest: stamp, deleted, fields, time. */
static int compare_to_entry(const AldUpdate *update, const AldEntry *entry)
{
        int r = ald_stamp_compare(&update->stamp, &entry->stamp);

        if (r == 0)
                r = (update->record == NULL) - (entry->record == NULL);
        if (r == 0 && update->record)
                r = ald_record_compare(update->record, entry->record);
        if (r == 0)
                r = update->updated_usec < entry->updated_usec ? -1
                                                               : update->updated_usec > entry->updated_usec;
        return r;
}

static bool is_representable(const AldUpdate *update)
{
        return update->stamp.epoch <= (uint64_t) ALD_INTEGER_MAX &&
               update->stamp.seq <= (uint64_t) ALD_INTEGER_MAX &&
               update->updated_usec <= (uint64_t) ALD_INTEGER_MAX;
}

size_t ald_store_link_bytes(const char *key)
{
        return sizeof(AldEntry) + strlen(key) + 1;
}

/* Returns whether there is room; an update that is not larger than before always fits. Updates of others do
 * not reduce the room for this node and for its own records about others, which are few. */
static bool has_room(const AldStore *store, const AldUpdate *update, const AldEntry *entry)
{
        size_t before = entry && entry->record ? entry->record->size : 0;
        size_t after = update->record ? update->record->size : 0;

        if (!entry && ald_kinds[update->kind].is_link)
                after += ald_store_link_bytes(update->key);
        return after <= before || ald_kinds[update->kind].local ||
               ald_id_equal(&update->node, &store->local->id) ||
               store->bytes - before + after <= store->limits.max_bytes;
}

static int validate_update(const AldStore *store, const AldUpdate *update, const AldEntry *entry)
{
        if (!is_representable(update))
                return -EINVAL;
        /* The key of an existing link was checked when it was added. */
        if ((!entry || !entry->key) && ald_key_parse(update->kind, update->key, NULL) < 0)
                return -EINVAL;
        if (update->record &&
                (update->record->kind != update->kind ||
                        !ald_key_names(update->kind, update->key, &update->node, update->record)))
                return -EINVAL;
        return has_room(store, update, entry) ? 0 : -ENOSPC;
}

void ald_store_forget_entry(AldStore *store, AldEntry *entry)
{
        if (entry->record)
                ald_store_set_record(store, entry, NULL);
        if (store->removing)
                store->removing(entry, store->userdata);
        entry->present = false;
        if (entry->key) {
                store->bytes -= ald_store_link_bytes(entry->key);
                ald_link_set_remove(entry->node->links, entry);
        }
}

void ald_store_forget_node(AldStore *store, AldNode *node)
{
        AldEntry *entry;

        while ((entry = ald_node_after(node, NULL)))
                ald_store_forget_entry(store, entry);
        if (node->bare)
                g_queue_unlink(&store->bare, &node->bare_place);
        ald_node_index_remove(store->nodes, &node->id);
        g_tree_remove(store->order, &node->id);
}

/* Makes room by removing a node of which only deletions are left, so that an attacker who makes many nodes
 * appear and disappear does not keep others out. */
static bool make_room_for_node(AldStore *store)
{
        if (ald_node_index_count(store->nodes) < store->limits.max_nodes)
                return true;
        if (g_queue_is_empty(&store->bare))
                return false;
        ald_store_forget_node(store, g_queue_peek_head(&store->bare));
        return true;
}

static int add_missing_entry(
        AldStore *store, AldNode *node, const AldUpdate *update, uint64_t now, AldEntry **ret)
{
        size_t max = store->limits.max_links_per_node;

        if (!node) {
                if (!make_room_for_node(store))
                        return -ENOSPC;
                node = node_add(store, &update->node, now);
        }
        if (!ald_kinds[update->kind].is_link) {
                *ret = &node->entries[update->kind];
                return 0;
        }
        if (ald_link_set_count(node->links) >= (node->local ? LOCAL_LINKS * max : max))
                return -ENOSPC;
        *ret = ald_link_set_add(&node->links, node, update->kind, update->key);
        store->bytes += ald_store_link_bytes(update->key);
        return 0;
}

/* Merges an update. A missing entry counts as older than any update. */
static int merge_update(AldStore *store, AldNode *node, const AldUpdate *update, uint64_t now)
{
        AldEntry *entry = NULL;
        int r;

        if (node)
                entry = ald_kinds[update->kind].is_link ? find_link(node, update->kind, update->key)
                                                        : &node->entries[update->kind];
        r = validate_update(store, update, entry);
        if (r < 0)
                return r;
        if (entry && entry->present && compare_to_entry(update, entry) <= 0)
                return ALD_PUT_KNOWN;
        if (!entry) {
                r = add_missing_entry(store, node, update, now, &entry);
                if (r < 0)
                        return r;
        }
        if (!ald_kinds[update->kind].local)
                entry->node->heard = now;
        apply_update(store, entry, update, now);
        return ALD_PUT_TAKEN;
}

int ald_store_put(AldStore *store, const AldUpdate *update, uint64_t now)
{
        AldNode *node = ald_store_find_node(store, &update->node);

        if (ald_kinds[update->kind].local)
                return -EINVAL;
        if (node && update->stamp.epoch < node->announced)
                return ALD_PUT_KNOWN;
        if (!node || !node->local)
                return merge_update(store, node, update, now);
        if (!is_representable(update))
                return -EINVAL;
        return update->stamp.epoch > store->epoch ? ALD_PUT_OWN : ALD_PUT_KNOWN;
}

void ald_store_fetch(AldStore *store, const AldUpdate *update, AldStoreFetch step)
{
        const AldNode *node = ald_store_find_node(store, &update->node);
        bool is_link = ald_kinds[update->kind].is_link;
        const AldEntry *entry;

        if (!node)
                return;
        switch (step) {
        case ALD_STORE_FETCH_NODE:
                __builtin_prefetch(node);
                __builtin_prefetch(is_link ? (const void *) &node->links : &node->entries[update->kind]);
                break;
        case ALD_STORE_FETCH_LINKS:
                if (is_link)
                        __builtin_prefetch(node->links);
                break;
        case ALD_STORE_FETCH_ENTRY:
                if (is_link)
                        ald_link_set_fetch(node->links, update->kind, update->key);
                break;
        case ALD_STORE_FETCH_RECORD:
                entry = is_link ? find_link(node, update->kind, update->key) : &node->entries[update->kind];
                if (entry && entry->record)
                        __builtin_prefetch(entry->record);
                break;
        case ALD_STORE_FETCH_N:
                g_assert_not_reached();
        }
}

int ald_store_put_local(AldStore *store, AldKind kind, const char *key, AldRecord *record,
        uint64_t updated_usec, uint64_t now)
{
        const AldUpdate update = {
                .node = store->local->id,
                .kind = kind,
                .key = key,
                .stamp = { store->epoch, ++store->seq },
                .updated_usec = updated_usec,
                .record = record,
        };

        return merge_update(store, store->local, &update, now);
}

int ald_store_put_about(AldStore *store, const AldId *node, AldKind kind, AldRecord *record,
        uint64_t updated_usec, uint64_t now)
{
        const AldUpdate update = {
                .node = *node,
                .kind = kind,
                .key = "",
                .stamp = { store->epoch, ++store->seq },
                .updated_usec = updated_usec,
                .record = record,
        };

        g_assert(ald_kinds[kind].local);
        return merge_update(store, ald_store_find_node(store, node), &update, now);
}

void ald_store_advance_epoch(AldStore *store, uint64_t epoch, uint64_t now)
{
        ald_store_set_epoch(store, MIN(MAX(store->epoch, epoch) + 1, ALD_EPOCH_MAX), now);
}

void ald_store_set_epoch(AldStore *store, uint64_t epoch, uint64_t now)
{
        store->epoch = epoch;
        store->seq = 0;
        for (AldEntry *entry = ald_node_after(store->local, NULL); entry;
                entry = ald_node_after(store->local, entry)) {
                g_autoptr(AldRecord) record = entry->record ? ald_record_ref(entry->record) : NULL;
                const AldUpdate update = {
                        .stamp = { store->epoch, ++store->seq },
                        .updated_usec = entry->updated_usec,
                        .record = record,
                };

                apply_update(store, entry, &update, now);
        }
}

static AldEntry *first_link_after(AldNode *node, const AldEntry *after)
{
        return after ? ald_link_set_after(node->links, after->kind, after->key)
                     : ald_link_set_after(node->links, 0, NULL);
}

AldUpdate ald_entry_update(const AldEntry *entry)
{
        return (AldUpdate){ .node = entry->node->id,
                .kind = entry->kind,
                .key = entry->key ? entry->key : "",
                .stamp = entry->stamp,
                .updated_usec = entry->updated_usec,
                .record = entry->record };
}

AldEntry *ald_node_after(AldNode *node, const AldEntry *entry)
{
        unsigned kind = entry ? (unsigned) entry->kind + 1 : 0;

        for (; kind < ALD_N_NODE_KINDS; kind++)
                if (node->entries[kind].present)
                        return &node->entries[kind];
        return first_link_after(node, entry && entry->key ? entry : NULL);
}

AldEntry *ald_store_after(AldStore *store, const AldId *id, AldKind kind, const char *key)
{
        GTreeNode *at = id ? g_tree_lower_bound(store->order, id) : g_tree_node_first(store->order);

        for (; at; at = g_tree_node_next(at)) {
                AldNode *node = g_tree_node_value(at);
                const AldEntry after = { .kind = kind, .key = ald_kinds[kind].is_link ? (char *) key : NULL };
                bool inside = id && ald_id_equal(&node->id, id);
                AldEntry *entry = ald_node_after(node, inside ? &after : NULL);

                if (entry)
                        return entry;
        }
        return NULL;
}

typedef struct NodeVisit {
        AldNodeFunc func;
        void *userdata;
} NodeVisit;

static gboolean visit_node(gpointer id, gpointer node, gpointer userdata)
{
        NodeVisit *visit = userdata;

        return visit->func(node, visit->userdata);
}

void ald_store_foreach_node(AldStore *store, AldNodeFunc func, void *userdata)
{
        NodeVisit visit = { func, userdata };

        g_tree_foreach(store->order, visit_node, &visit);
}

typedef struct LinkVisit {
        AldEntryFunc func;
        void *userdata;
} LinkVisit;

static gboolean visit_links(AldNode *node, void *userdata)
{
        LinkVisit *visit = userdata;

        for (AldEntry *entry = first_link_after(node, NULL); entry; entry = first_link_after(node, entry))
                if (entry->record && visit->func(entry, visit->userdata))
                        return TRUE;
        return FALSE;
}

void ald_store_foreach_link(AldStore *store, AldEntryFunc func, void *userdata)
{
        LinkVisit visit = { func, userdata };

        ald_store_foreach_node(store, visit_links, &visit);
}

uint64_t ald_store_epoch(AldStore *store)
{
        return store->epoch;
}

size_t ald_store_n_nodes(AldStore *store)
{
        return ald_node_index_count(store->nodes);
}

size_t ald_store_n_links(AldStore *store)
{
        return store->n_links;
}

size_t ald_store_n_hidden(AldStore *store)
{
        return store->n_with_records - store->shown_nodes + store->n_hidden_links;
}
