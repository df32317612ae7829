/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/item-list.h"

struct AldItemList {
        const AldItemListType *type;
        GListStore *store;
        GHashTable *by_key; /* key → item, which the store owns */
};

AldItemList *ald_item_list_new(GType item_type, const AldItemListType *type)
{
        AldItemList *list = g_new0(AldItemList, 1);

        list->type = type;
        list->store = g_list_store_new(item_type);
        list->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return list;
}

void ald_item_list_free(AldItemList *list)
{
        if (!list)
                return;
        g_hash_table_unref(list->by_key);
        g_object_unref(list->store);
        g_free(list);
}

/* Returns the key of the source, made different from those that are taken. */
static char *unique_key(const AldItemList *list, const void *source, GHashTable *taken)
{
        char *key = list->type->key_of(source);

        while (g_hash_table_contains(taken, key)) {
                char *next = g_strconcat(key, "\n", NULL);

                g_free(key);
                key = next;
        }
        return key;
}

/* Returns an item for each source, a new one or the one that was there, and adds all to `taken` by their
 * keys. */
static GPtrArray *collect_items(
        AldItemList *list, const GPtrArray *sources, GHashTable *taken, void *userdata)
{
        GPtrArray *items = g_ptr_array_new_full(sources->len, g_object_unref);

        for (guint i = 0; i < sources->len; i++) {
                char *key = unique_key(list, sources->pdata[i], taken);
                gpointer item = g_hash_table_lookup(list->by_key, key);

                if (item) {
                        g_object_ref(item);
                        list->type->update(item, sources->pdata[i], userdata);
                } else {
                        item = list->type->make(sources->pdata[i], userdata);
                }
                g_ptr_array_add(items, item);
                g_hash_table_insert(taken, key, item);
        }
        return items;
}

static bool is_at(GListStore *store, guint position, gpointer expected)
{
        g_autoptr(GObject) item = g_list_model_get_item(G_LIST_MODEL(store), position);

        return item == expected;
}

/* Replaces only items that differ, so that a view keeps its place. */
static void splice_items(GListStore *store, const GPtrArray *items)
{
        guint old = g_list_model_get_n_items(G_LIST_MODEL(store)), first = 0, last = 0;

        while (first < MIN(old, items->len) && is_at(store, first, items->pdata[first]))
                first++;
        while (last < MIN(old, items->len) - first &&
                is_at(store, old - 1 - last, items->pdata[items->len - 1 - last]))
                last++;
        if (first + last == MAX(old, items->len))
                return;
        if (items->len == 0)
                g_list_store_remove_all(store);
        else
                g_list_store_splice(
                        store, first, old - first - last, items->pdata + first, items->len - first - last);
}

void ald_item_list_update(AldItemList *list, const GPtrArray *sources, void *userdata)
{
        GHashTable *taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GPtrArray) items = collect_items(list, sources, taken, userdata);

        g_hash_table_unref(list->by_key);
        list->by_key = taken;
        splice_items(list->store, items);
}

gpointer ald_item_list_get(AldItemList *list, const char *key)
{
        return g_hash_table_lookup(list->by_key, key);
}

GListModel *ald_item_list_model(AldItemList *list)
{
        return G_LIST_MODEL(list->store);
}
