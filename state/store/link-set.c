/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/store/link-set.h"

typedef struct Item {
        guint hash;
        AldEntry *entry;
} Item;

/* It has room for as many items as the next power of two. */
struct AldLinkSet {
        size_t n;
        Item items[];
};

#define ITEMS_MIN 4u

static guint hash_key(AldKind kind, const char *key)
{
        return g_str_hash(key) ^ (guint) kind;
}

static int compare_to_key(const AldEntry *entry, AldKind kind, const char *key)
{
        if (entry->kind != kind)
                return entry->kind < kind ? -1 : 1;
        return strcmp(entry->key, key);
}

/* Returns how many entries are at or before (kind, key). */
static size_t position_after(const AldLinkSet *links, AldKind kind, const char *key)
{
        size_t low = 0, high = links->n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (compare_to_key(links->items[middle].entry, kind, key) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void entry_free(AldEntry *entry)
{
        g_clear_pointer(&entry->record, ald_record_unref);
        g_free(entry);
}

void ald_link_set_free(AldLinkSet *links)
{
        for (size_t i = 0; i < links->n; i++)
                entry_free(links->items[i].entry);
        g_free(links);
}

size_t ald_link_set_count(const AldLinkSet *links)
{
        return links ? links->n : 0;
}

AldEntry *ald_link_set_find(const AldLinkSet *links, AldKind kind, const char *key)
{
        guint hash = hash_key(kind, key);

        for (size_t i = 0; i < ald_link_set_count(links); i++) {
                const Item *item = &links->items[i];

                if (item->hash == hash && compare_to_key(item->entry, kind, key) == 0)
                        return item->entry;
        }
        return NULL;
}

void ald_link_set_fetch(const AldLinkSet *links, AldKind kind, const char *key)
{
        guint hash = hash_key(kind, key);

        for (size_t i = 0; i < ald_link_set_count(links); i++)
                if (links->items[i].hash == hash)
                        __builtin_prefetch(links->items[i].entry);
}

AldEntry *ald_link_set_after(const AldLinkSet *links, AldKind kind, const char *key)
{
        size_t i = links && key ? position_after(links, kind, key) : 0;

        return i < ald_link_set_count(links) ? links->items[i].entry : NULL;
}

/* Allocates an entry with its key behind it, so that both come from memory together. */
static AldEntry *entry_new(AldNode *node, AldKind kind, const char *key)
{
        size_t size = strlen(key) + 1;
        AldEntry *entry = g_malloc(sizeof *entry + size);

        *entry = (AldEntry){ .node = node, .kind = kind, .key = memcpy(entry + 1, key, size) };
        return entry;
}

static AldLinkSet *grow_items(AldLinkSet *links)
{
        size_t n = ald_link_set_count(links);

        if (n > 0 && (n < ITEMS_MIN || (n & (n - 1)) != 0))
                return links;
        links = g_realloc(links, sizeof *links + MAX(2 * n, ITEMS_MIN) * sizeof(Item));
        links->n = n;
        return links;
}

AldEntry *ald_link_set_add(AldLinkSet **links, AldNode *node, AldKind kind, const char *key)
{
        AldLinkSet *grown = grow_items(*links);
        size_t at = position_after(grown, kind, key);
        Item *item = &grown->items[at];

        memmove(item + 1, item, (grown->n - at) * sizeof *item);
        *item = (Item){ .hash = hash_key(kind, key), .entry = entry_new(node, kind, key) };
        grown->n++;
        *links = grown;
        return item->entry;
}

void ald_link_set_remove(AldLinkSet *links, AldEntry *entry)
{
        size_t at = position_after(links, entry->kind, entry->key) - 1;

        links->n--;
        memmove(&links->items[at], &links->items[at + 1], (links->n - at) * sizeof links->items[0]);
        entry_free(entry);
}
