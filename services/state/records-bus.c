/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/json.h"
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
        const AldUpdate update = ald_entry_update(entry);

        return ald_update_bus_append(message, &update);
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

/* Collects the entries of a page and their size on the bus. *ret_next is the cursor of the page after it. */
static int find_page(
        AldStore *store, const AldPageRequest *request, GPtrArray *page, size_t *ret_bytes, char **ret_next)
{
        const uint64_t max = request->max == 0 ? PAGE_RECORDS_DEFAULT : MIN(request->max, PAGE_RECORDS_MAX);
        AldEntry *entry;
        size_t bytes = 0;
        int r;

        r = first_entry(store, request->only, request->cursor, &entry);
        if (r < 0)
                return r;
        for (; entry; entry = next_entry(store, request->only, entry)) {
                if (request->kind >= 0 ? entry->kind != (AldKind) request->kind
                                       : request->only && ald_kinds[entry->kind].local)
                        continue;
                if (page->len >= max || bytes > PAGE_BYTES)
                        break;
                bytes += ald_records_bus_size(entry);
                g_ptr_array_add(page, entry);
        }
        *ret_bytes = bytes;
        *ret_next = entry && page->len > 0 ? format_cursor(page->pdata[page->len - 1]) : g_strdup("");
        return 0;
}

static int append_structs(sd_bus_message *message, const GPtrArray *page)
{
        int r = sd_bus_message_open_container(message, 'a', ALD_UPDATE_SIGNATURE);

        for (size_t i = 0; r >= 0 && i < page->len; i++)
                r = ald_records_bus_append(message, page->pdata[i]);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* The text of a record may be longer than its size on the bus, so that the page ends earlier. */
static int append_lines(sd_bus_message *message, const GPtrArray *page, char **next)
{
        g_autoptr(GString) lines = g_string_new(NULL);
        int r;

        for (size_t i = 0; i < page->len; i++) {
                const AldUpdate update = ald_entry_update(page->pdata[i]);

                if (lines->len > PAGE_BYTES) {
                        g_free(*next);
                        *next = format_cursor(page->pdata[i - 1]);
                        break;
                }
                ald_update_append_text(lines, &update, true);
                g_string_append_c(lines, '\n');
        }
        r = sd_bus_message_append(message, "s", *next);
        return r < 0 ? r : sd_bus_message_append_array(message, 'y', lines->str, lines->len);
}

int ald_records_bus_append_page(
        sd_bus_message *message, AldStore *store, const AldPageRequest *request, size_t *ret_bytes)
{
        g_autoptr(GPtrArray) page = g_ptr_array_new();
        g_autofree char *next = NULL;
        int r;

        r = find_page(store, request, page, ret_bytes, &next);
        if (r < 0)
                return r;
        if (request->as_lines)
                return append_lines(message, page, &next);
        r = append_structs(message, page);
        return r < 0 ? r : sd_bus_message_append(message, "s", next);
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
