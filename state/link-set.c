/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/link-set.h"

typedef struct Item {
        guint hash;
        AldEntry *entry;
} Item;

struct AldLinkSet {
        GArray *items;
};

static guint hash_of(AldKind kind, const char *key)
{
        return g_str_hash(key) ^ (guint) kind;
}

static int compare(const AldEntry *entry, AldKind kind, const char *key)
{
        if (entry->kind != kind)
                return entry->kind < kind ? -1 : 1;
        return strcmp(entry->key, key);
}

static Item *item_at(const AldLinkSet *links, size_t i)
{
        return &g_array_index(links->items, Item, i);
}

/* How many entries are at or before (kind, key). */
static size_t position_after(const AldLinkSet *links, AldKind kind, const char *key)
{
        size_t low = 0, high = links->items->len;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (compare(item_at(links, middle)->entry, kind, key) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void entry_free(AldEntry *entry)
{
        g_clear_pointer(&entry->record, ald_record_unref);
        g_free(entry->key);
        g_free(entry);
}

AldLinkSet *ald_link_set_new(void)
{
        AldLinkSet *links = g_new(AldLinkSet, 1);

        links->items = g_array_new(false, false, sizeof(Item));
        return links;
}

void ald_link_set_free(AldLinkSet *links)
{
        for (size_t i = 0; i < links->items->len; i++)
                entry_free(item_at(links, i)->entry);
        g_array_unref(links->items);
        g_free(links);
}

size_t ald_link_set_count(const AldLinkSet *links)
{
        return links->items->len;
}

AldEntry *ald_link_set_find(const AldLinkSet *links, AldKind kind, const char *key)
{
        guint hash = hash_of(kind, key);

        for (size_t i = 0; i < links->items->len; i++) {
                const Item *item = item_at(links, i);

                if (item->hash == hash && compare(item->entry, kind, key) == 0)
                        return item->entry;
        }
        return NULL;
}

AldEntry *ald_link_set_after(const AldLinkSet *links, AldKind kind, const char *key)
{
        size_t i = key ? position_after(links, kind, key) : 0;

        return i < links->items->len ? item_at(links, i)->entry : NULL;
}

AldEntry *ald_link_set_add(AldLinkSet *links, AldNode *node, AldKind kind, const char *key)
{
        AldEntry *entry = g_new(AldEntry, 1);
        const Item item = { .hash = hash_of(kind, key), .entry = entry };

        *entry = (AldEntry){ .node = node, .kind = kind, .key = g_strdup(key) };
        g_array_insert_val(links->items, (guint) position_after(links, kind, key), item);
        return entry;
}

void ald_link_set_remove(AldLinkSet *links, AldEntry *entry)
{
        g_array_remove_index(links->items, (guint) position_after(links, entry->kind, entry->key) - 1);
        entry_free(entry);
}
