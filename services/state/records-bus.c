/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/record-bus.h"
#include "record/record-key.h"
#include "record/update-bus.h"
#include "services/state/records-bus.h"

/* A page ends at this number of records or bytes, whichever comes first. */
#define PAGE_RECORDS_DEFAULT 1000u
#define PAGE_RECORDS_MAX 10000u
#define PAGE_BYTES (8u * 1024 * 1024)

/* The size of an entry of a map without its fields, at most. */
#define WIRE_PER_ENTRY 512u

size_t ald_records_bus_size(const AldEntry *entry)
{
        return WIRE_PER_ENTRY + (entry->record ? entry->record->wire_size : 0);
}

int ald_records_bus_append(sd_bus_message *message, const AldEntry *entry)
{
        return ald_update_bus_append(message, &(AldUpdate){ .node = entry->node->id,
                                                      .kind = entry->kind,
                                                      .key = entry->key ? entry->key : "",
                                                      .stamp = entry->stamp,
                                                      .updated_usec = entry->updated_usec,
                                                      .record = entry->record });
}

/* A cursor is the last record that was sent: "NODE KIND KEY". */
typedef struct Cursor {
        AldId node;
        AldKind kind;
        const char *key;
} Cursor;

static int parse_cursor(char *text, Cursor *ret)
{
        char *kind, *key;
        int r;

        kind = strchr(text, ' ');
        key = kind ? strchr(kind + 1, ' ') : NULL;
        if (!key)
                return -EINVAL;
        *kind++ = '\0';
        *key++ = '\0';
        r = ald_kind_from_name(kind);
        if (r < 0 || ald_id_parse(text, &ret->node) < 0)
                return -EINVAL;
        ret->kind = (AldKind) r;
        ret->key = key;
        return 0;
}

static char *format_cursor(const AldEntry *entry)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strdup_printf("%s %s %s", ald_id_format(&entry->node->id, id), ald_kinds[entry->kind].name,
                entry->key ? entry->key : "");
}

static AldEntry *next_entry(AldStore *store, AldNode *only, const AldEntry *entry)
{
        if (only)
                return ald_node_after(only, entry);
        return ald_store_after(store, &entry->node->id, entry->kind, entry->key);
}

static int first_entry(AldStore *store, AldNode *only, const char *cursor, AldEntry **ret)
{
        g_autofree char *text = g_strdup(cursor);
        Cursor after;
        int r;

        if (*cursor == '\0') {
                *ret = only ? ald_node_after(only, NULL) : ald_store_after(store, NULL, 0, NULL);
                return 0;
        }
        r = parse_cursor(text, &after);
        if (r < 0)
                return r;
        *ret = ald_store_after(store, &after.node, after.kind, after.key);
        if (only && *ret && (*ret)->node != only)
                *ret = NULL;
        return 0;
}

int ald_records_bus_append_page(sd_bus_message *message, AldStore *store, AldNode *only, int kind,
        const char *cursor, uint64_t max, size_t *ret_bytes)
{
        g_autofree char *next = NULL;
        AldEntry *entry, *last = NULL;
        size_t bytes = 0;
        int r;

        max = max == 0 ? PAGE_RECORDS_DEFAULT : MIN(max, PAGE_RECORDS_MAX);
        r = first_entry(store, only, cursor, &entry);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(message, 'a', ALD_UPDATE_SIGNATURE);
        for (; r >= 0 && entry; entry = next_entry(store, only, entry)) {
                if (kind >= 0 ? entry->kind != (AldKind) kind : only && ald_kinds[entry->kind].local)
                        continue;
                if (max == 0 || bytes > PAGE_BYTES)
                        break;
                r = ald_records_bus_append(message, entry);
                bytes += ald_records_bus_size(entry);
                last = entry;
                max--;
        }
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        next = entry && last ? format_cursor(last) : g_strdup("");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", next);
        if (r < 0)
                return r;
        *ret_bytes = bytes;
        return 0;
}

/* A map under construction. Once there is an error, nothing more is appended. */
typedef struct Map {
        sd_bus_message *message;
        AldStore *store; /* for a map of links */
        AldKind kind;
        size_t bytes;
        int r;
} Map;

static gboolean append_to_map(Map *map, const char *key, const AldEntry *entry)
{
        map->bytes += ald_records_bus_size(entry);
        if (map->r >= 0 && map->bytes > ALD_REPLY_MAX)
                map->r = -E2BIG;
        if (map->r >= 0)
                map->r = sd_bus_message_open_container(map->message, 'e', "sa{sv}");
        if (map->r >= 0)
                map->r = sd_bus_message_append_basic(map->message, 's', key);
        if (map->r >= 0)
                map->r = ald_record_bus_append(map->message, entry->record, entry->updated_usec);
        if (map->r >= 0)
                map->r = sd_bus_message_close_container(map->message);
        return map->r < 0;
}

static gboolean append_node(AldNode *node, void *userdata)
{
        Map *map = userdata;
        char id[ALD_ID_STRING_SIZE];

        if (!node->entries[map->kind].record)
                return FALSE;
        return append_to_map(map, ald_id_format(&node->id, id), &node->entries[map->kind]);
}

/* Returns whether a link leads to a known node. Links to a node that was forgotten are kept in case it
 * returns. */
static bool leads_to_a_node(AldStore *store, const AldEntry *link)
{
        const AldNode *sink;
        AldId id;

        if (ald_key_parse(link->kind, link->key, &id) < 0)
                return false;
        sink = ald_store_find_node(store, &id);
        return sink && (sink->local || sink->n_records > 0);
}

static gboolean append_link(AldEntry *entry, void *userdata)
{
        char name[ALD_ID_STRING_SIZE + 256], id[ALD_ID_STRING_SIZE];
        Map *map = userdata;

        if (!leads_to_a_node(map->store, entry))
                return FALSE;
        g_snprintf(name, sizeof name, "%s/%s", ald_id_format(&entry->node->id, id), entry->key);
        return append_to_map(map, name, entry);
}

static int open_map(Map *map)
{
        return sd_bus_message_open_container(map->message, 'a', "{sa{sv}}");
}

static int close_map(Map *map, size_t *ret_bytes)
{
        int r = map->r < 0 ? map->r : sd_bus_message_close_container(map->message);

        if (r < 0)
                return r;
        *ret_bytes = map->bytes;
        return 0;
}

int ald_records_bus_append_nodes(sd_bus_message *message, AldStore *store, AldKind kind, size_t *ret_bytes)
{
        Map map = { .message = message, .kind = kind };

        map.r = open_map(&map);
        ald_store_foreach_node(store, append_node, &map);
        return close_map(&map, ret_bytes);
}

int ald_records_bus_append_links(sd_bus_message *message, AldStore *store, size_t *ret_bytes)
{
        Map map = { .message = message, .store = store };

        map.r = open_map(&map);
        ald_store_foreach_link(store, append_link, &map);
        return close_map(&map, ret_bytes);
}

int ald_records_bus_append_profile(sd_bus_message *message, const AldNode *node, size_t *ret_bytes)
{
        Map map = { .message = message };

        map.r = open_map(&map);
        for (unsigned kind = 0; kind < ALD_N_NODE_KINDS; kind++)
                if (node->entries[kind].record)
                        append_to_map(&map, ald_kinds[kind].name, &node->entries[kind]);
        return close_map(&map, ret_bytes);
}
