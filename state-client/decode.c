/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/json.h"
#include "record/record-bus.h"
#include "record/update-bus.h"
#include "state-client/decode.h"
#include "state-client/value.h"

#define INTERFACE_PREFIX "org.alidade."
#define CURSOR_MAX 4096
#define FINDINGS_MAX (32u * 1024 * 1024) /* bytes of the rows in memory; the service sends less */

/* The most bytes that the rows of a reply of 16 MiB take in memory. */
#define TOPOLOGY_MAX ((size_t) 256 * 1024 * 1024)
#define TOPOLOGY_SIGNATURE "ttba(ssa{sv})a(tssssssssa{sv})asat"
#define PAIRS_SIGNATURE "ttba(sssa{sv})a(ss)"

/*
 * Collects the unknown fields of a record while it is read from a message: fields of the record by name,
 * fields of rows as {list: [{"Id", …}]} for the rows that have any.
 */
typedef struct RawFields {
        json_t *before; /* borrowed: the raw fields that the record had before; NULL: none */
        size_t space;   /* bytes that they may take */
        json_t *fields, *absent, *lists, *row;
} RawFields;

static json_t *ensure_json(json_t **value, json_t *(*make)(void) )
{
        if (!*value)
                *value = make();
        return *value;
}

static int read_unknown_field(sd_bus_message *message, const char *name, bool in_row, void *userdata)
{
        RawFields *raw = userdata;

        if (in_row)
                return ald_value_read_field_within(
                        message, &raw->space, name, true, ensure_json(&raw->row, json_object), NULL);
        return ald_value_read_field_within(message, &raw->space, name, false,
                ensure_json(&raw->fields, json_object), ensure_json(&raw->absent, json_array));
}

/* Returns the list of this name, new if there is none. A list is always sent in full, so one that had unknown
 * fields before may have none now. */
static json_t *ensure_list(RawFields *raw, const char *name)
{
        json_t *list = json_object_get(ensure_json(&raw->lists, json_object), name);

        if (list)
                return list;
        list = json_array();
        json_object_set_new(raw->lists, name, list);
        return list;
}

static void end_row(const AldField *list, const void *row, void *userdata)
{
        RawFields *raw = userdata;
        const char *id = *(const char *const *) row; /* the first field of every row of a record */
        json_t *rows;

        if (!raw->row && !json_object_get(raw->before, list->name))
                return;
        rows = ensure_list(raw, list->name);
        if (raw->row && id && json_object_size(raw->row) > 0 && json_array_size(rows) < ALD_VALUE_ROWS_MAX) {
                json_object_set_new(raw->row, "Id", json_string(id));
                json_array_append(rows, raw->row);
        }
        g_clear_pointer(&raw->row, json_decref);
}

/* Drops the raw value of a field that was just read with its known type. The raw value exists if the field
 * had another type before, or was a list whose rows had unknown fields. */
static void drop_known_field(const AldField *field, void *userdata)
{
        RawFields *raw = userdata;

        if (json_object_get(raw->before, field->name))
                json_array_append_new(ensure_json(&raw->absent, json_array), json_string(field->name));
}

/* Applies the collected fields to `fields`, which may be NULL and is owned. Returns NULL if none are left. */
static json_t *apply_raw_fields(json_t *fields, const RawFields *raw)
{
        const char *name;
        json_t *value;
        size_t i;

        if (!fields)
                fields = json_object();
        json_object_update(fields, raw->fields);
        json_array_foreach(raw->absent, i, value)
                json_object_del(fields, json_string_value(value));
        json_object_foreach(raw->lists, name, value) {
                if (json_array_size(value) > 0)
                        json_object_set(fields, name, value);
                else
                        json_object_del(fields, name);
        }
        if (json_object_size(fields) == 0)
                g_clear_pointer(&fields, json_decref);
        return fields;
}

/* Returns the raw fields after a message with the whole record: a new reference, or NULL for none. */
static json_t *raw_fields_all(RawFields *raw)
{
        return raw->fields || raw->lists ? apply_raw_fields(NULL, raw) : NULL;
}

/* Returns the raw fields after a message with changes only, in the same way. */
static json_t *raw_fields_merged(RawFields *raw)
{
        return raw->before || raw->fields || raw->lists ? apply_raw_fields(json_copy(raw->before), raw)
                                                        : NULL;
}

static void raw_fields_clear(RawFields *raw)
{
        json_decref(raw->fields);
        json_decref(raw->absent);
        json_decref(raw->lists);
        json_decref(raw->row);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RawFields, raw_fields_clear)

static int check_signature(sd_bus_message *m, const char *signature)
{
        return sd_bus_message_has_signature(m, signature) > 0 ? 0 : -EBADMSG;
}

/* Returns the kind of record of an interface, or NULL. */
static const char *kind_of_interface(const char *interface)
{
        const char *kind;

        if (!g_str_has_prefix(interface, INTERFACE_PREFIX))
                return NULL;
        kind = interface + strlen(INTERFACE_PREFIX);
        return g_str_has_prefix(kind, "Node1.") || g_str_has_prefix(kind, "Link1.") ? kind : NULL;
}

/* Returns the id of the node or link of an object, or NULL. */
static char *id_of_path(const char *path)
{
        static const char node_prefix[] = ALD_STATE_PATH "/node/";
        g_autofree char *type = NULL, *source = NULL, *key = NULL;

        if (g_str_has_prefix(path, node_prefix))
                return g_strdup(path + strlen(node_prefix));
        if (sd_bus_path_decode_many(path, ALD_STATE_PATH "/link/%/%/%", &type, &source, &key) > 0)
                return g_strconcat(source, "/", key, NULL);
        return NULL;
}

/* Returns the id of the node or link of a record. */
static char *id_of_record(const char *node, const char *key)
{
        return key[0] ? g_strconcat(node, "/", key, NULL) : g_strdup(node);
}

int ald_decode_totals(sd_bus_message *m, AldModel *model)
{
        size_t space = ald_model_space(model);
        json_t *fields = json_object();
        int r = check_signature(m, "a{sv}");

        if (r >= 0)
                r = ald_value_read_dict_within(m, &space, fields, NULL);
        if (r >= 0) {
                ald_model_set_node_id(model, json_string_value(json_object_get(fields, "NodeId")));
                json_object_del(fields, "NodeId");
                r = ald_model_update_totals(model, fields, NULL);
        }
        json_decref(fields);
        return r;
}

/* Reads a{sv} of a known kind. A record that is too large is ignored. */
static int read_known(
        sd_bus_message *m, const char *id, AldKind kind, bool changes_only, uint64_t updated, AldModel *model)
{
        const AldEntity *entity = ald_model_get(model, id);
        g_auto(RawFields) raw = { .before = ald_entity_raw(entity, ald_kinds[kind].name),
                .space = ald_model_space(model) };
        const AldUnknownFields unknown = {
                .read = read_unknown_field, .end_row = end_row, .known = drop_known_field, .userdata = &raw
        };
        const AldRecord *base = changes_only ? ald_entity_record(entity, kind) : NULL;
        g_autoptr(AldRecord) record = NULL;
        json_t *kept;
        int r;

        r = ald_record_bus_read_all(m, kind, base, &unknown, &record, NULL);
        if (r < 0)
                return r == -E2BIG ? 0 : r;
        if (updated > 0)
                record->updated_usec = updated;
        if (record->updated_usec > (uint64_t) ALD_INTEGER_MAX)
                record->updated_usec = 0;
        if (record->revision > (uint64_t) ALD_INTEGER_MAX)
                record->revision = 0;
        kept = changes_only ? raw_fields_merged(&raw) : raw_fields_all(&raw);
        r = ald_model_put(model, id, record, kept);
        json_decref(kept);
        return r == -EDQUOT ? r : 0;
}

/* Reads a{sv} of a kind that only a newer peer knows. */
static int read_unknown(sd_bus_message *m, const char *id, const char *kind, bool changes_only,
        uint64_t updated, AldModel *model)
{
        json_t *before = changes_only ? ald_entity_raw(ald_model_get(model, id), kind) : NULL;
        json_t *fields = before ? json_copy(before) : json_object(), *absent = json_array(), *name;
        size_t i, space = ald_model_space(model);
        int r;

        r = ald_value_read_dict_within(m, &space, fields, absent);
        if (updated > 0 && updated <= INT64_MAX)
                json_object_set_new(fields, "UpdatedUSec", json_integer((json_int_t) updated));
        json_array_foreach(absent, i, name)
                json_object_del(fields, json_string_value(name));
        if (r >= 0)
                r = ald_model_put_raw(model, id, kind, fields) == -EDQUOT ? -EDQUOT : 0;
        json_decref(fields);
        json_decref(absent);
        return r;
}

static int read_fields(sd_bus_message *m, const char *id, const char *kind, bool changes_only,
        uint64_t updated, AldModel *model)
{
        int known = ald_kind_from_name(kind);

        return known >= 0 ? read_known(m, id, (AldKind) known, changes_only, updated, model)
                          : read_unknown(m, id, kind, changes_only, updated, model);
}

/* Reads {sa{sv}}: an interface and its properties. */
static int read_interface(sd_bus_message *m, const char *id, AldModel *model)
{
        const char *interface, *kind;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface);
        if (r < 0)
                return r;
        kind = id ? kind_of_interface(interface) : NULL;
        return kind ? read_fields(m, id, kind, false, 0, model) : sd_bus_message_skip(m, "a{sv}");
}

/* Reads oa{sa{sv}}: an object and its interfaces. */
static int read_object(sd_bus_message *m, AldModel *model)
{
        g_autofree char *id = NULL;
        const char *path;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_OBJECT_PATH, &path);
        if (r < 0)
                return r;
        id = id_of_path(path);
        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sa{sv}}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sa{sv}")) > 0) {
                r = read_interface(m, id, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_decode_managed_objects(sd_bus_message *m, AldModel *model)
{
        int r = check_signature(m, "a{oa{sa{sv}}}");

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{oa{sa{sv}}}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "oa{sa{sv}}")) > 0) {
                r = read_object(m, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads the contents of one update. */
static int read_update(sd_bus_message *m, AldModel *model)
{
        g_autofree char *id = NULL;
        const char *node, *kind, *key;
        uint64_t updated;
        int deleted, r;

        r = sd_bus_message_read(m, "ssstttb", &node, &kind, &key, NULL, NULL, &updated, &deleted);
        if (r < 0)
                return r;
        if (deleted)
                return sd_bus_message_skip(m, "a{sv}");
        id = id_of_record(node, key);
        return read_fields(m, id, kind, false, updated, model);
}

static int read_cursor(sd_bus_message *m, char **ret)
{
        const char *cursor;
        int r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &cursor);

        if (r < 0)
                return r;
        if (strlen(cursor) > CURSOR_MAX)
                return -EBADMSG;
        *ret = g_strdup(cursor);
        return 0;
}

int ald_decode_records(sd_bus_message *m, AldModel *model, char **ret_cursor)
{
        int r = check_signature(m, ALD_UPDATES_SIGNATURE "s");

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, ALD_UPDATE_SIGNATURE);
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_STRUCT, "ssstttba{sv}")) > 0) {
                r = read_update(m, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        return r < 0 ? r : read_cursor(m, ret_cursor);
}

/* Reads one record. One that is too large is ignored. */
static int read_description(const char *text, size_t n, AldModel *model)
{
        g_autofree char *key = NULL, *id = NULL;
        g_autoptr(AldRecord) record = NULL;
        char node[ALD_ID_STRING_SIZE];
        AldJsonFault fault;
        AldUpdate update;
        int r;

        r = ald_update_from_text(text, n, true, &update, &key, &fault);
        if (r < 0)
                return r == -E2BIG ? 0 : -EOPNOTSUPP;
        record = update.record;
        if (fault.has_unknown)
                return -EOPNOTSUPP;
        if (!record)
                return 0;
        record->updated_usec = update.updated_usec;
        ald_id_format(&update.node, node);
        id = id_of_record(node, key);
        r = ald_model_put(model, id, record, NULL);
        return r == -EDQUOT ? r : 0;
}

int ald_decode_descriptions_cursor(sd_bus_message *m, char **ret)
{
        int r = check_signature(m, "say");

        return r < 0 ? r : read_cursor(m, ret);
}

int ald_decode_descriptions(sd_bus_message *m, AldModel *model)
{
        const char *at, *end;
        const void *lines;
        size_t n;
        int r;

        r = sd_bus_message_read_array(m, 'y', &lines, &n);
        for (at = lines; r >= 0 && n > 0; n -= (size_t) (end + 1 - at), at = end + 1) {
                end = memchr(at, '\n', n);
                if (!end)
                        return -EBADMSG;
                r = read_description(at, (size_t) (end - at), model);
        }
        return r < 0 ? r : 0;
}

/* Owns the memory of findings. The strings of their rows point into the message. */
typedef struct FindingsOwner {
        GPtrArray *owned;
        AldMessage *message;
} FindingsOwner;

static void findings_free(void *data)
{
        FindingsOwner *findings = data;

        g_ptr_array_unref(findings->owned);
        sd_bus_message_unref(findings->message);
        g_free(findings);
}

int ald_decode_findings(sd_bus_message *m, AldModel *model)
{
        size_t space = ald_model_space(model), max = MIN(space, FINDINGS_MAX);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        json_t *json = json_array();
        FindingsOwner *findings;
        AldRows rows;
        int r = check_signature(m, "aa{sv}");

        if (r >= 0)
                r = ald_record_bus_read_rows(m, &ald_finding_row_struct, max, owned, &rows);
        if (r == -E2BIG && space < SIZE_MAX)
                r = -EDQUOT;
        if (r >= 0)
                r = sd_bus_message_rewind(m, true);
        if (r >= 0)
                r = ald_value_read_rows_within(m, &space, json);
        if (r >= 0) {
                findings = g_new0(FindingsOwner, 1);
                findings->owned = g_steal_pointer(&owned);
                findings->message = sd_bus_message_ref(m);
                rows.n = MIN(rows.n, json_array_size(json));
                ald_model_set_findings(model, &rows, json, findings, findings_free);
        }
        json_decref(json);
        return r;
}

static int read_gone_nodes(sd_bus_message *m, GHashTable *gone)
{
        const char *id;
        int r = sd_bus_message_enter_container(m, 'a', "s");

        while (r >= 0 && (r = sd_bus_message_read_basic(m, 's', &id)) > 0)
                g_hash_table_add(gone, g_strdup(id));
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_gone_edges(sd_bus_message *m, GHashTable *gone)
{
        uint64_t id;
        int r = sd_bus_message_enter_container(m, 'a', "t");

        while (r >= 0 && (r = sd_bus_message_read_basic(m, 't', &id)) > 0)
                g_hash_table_add(gone, g_strdup_printf("%" G_GUINT64_FORMAT, id));
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_gone_pairs(sd_bus_message *m, GHashTable *gone)
{
        const char *node, *peer;
        int r = sd_bus_message_enter_container(m, 'a', "(ss)");

        while (r >= 0 && (r = sd_bus_message_read(m, "(ss)", &node, &peer)) > 0)
                g_hash_table_add(gone, g_strdup_printf("%s %s", node, peer));
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_graph_page(sd_bus_message *m, size_t max, AldTopologyPage *page)
{
        int r;

        r = ald_record_bus_read_rows(m, &ald_graph_node_row_struct, max, page->owned, &page->nodes);
        if (r >= 0)
                r = ald_record_bus_read_rows(m, &ald_edge_row_struct, max, page->owned, &page->edges);
        if (r >= 0)
                r = read_gone_nodes(m, page->gone_nodes);
        return r < 0 ? r : read_gone_edges(m, page->gone_edges);
}

static int read_pairs_page(sd_bus_message *m, size_t max, AldTopologyPage *page)
{
        int r = ald_record_bus_read_rows(m, &ald_node_pair_row_struct, max, page->owned, &page->pairs);

        return r < 0 ? r : read_gone_pairs(m, page->gone_pairs);
}

int ald_decode_topology(sd_bus_message *m, AldModel *model, bool of_pairs, bool first, uint64_t *ret_next)
{
        g_auto(AldTopologyPage) page = ald_topology_page_new();
        AldTopology *topology = ald_model_topology(model);
        size_t space = ald_model_space(model), max = MIN(space, TOPOLOGY_MAX);
        int whole, r = check_signature(m, of_pairs ? PAIRS_SIGNATURE : TOPOLOGY_SIGNATURE);

        if (r >= 0)
                r = sd_bus_message_read(m, "ttb", &page.revision, &page.next, &whole);
        if (r >= 0)
                r = of_pairs ? read_pairs_page(m, max, &page) : read_graph_page(m, max, &page);
        if (r < 0)
                return r == -E2BIG && space < SIZE_MAX ? -EDQUOT : r;
        page.of_pairs = of_pairs;
        page.whole = whole;
        r = ald_topology_apply_page(
                topology, &page, first, space < SIZE_MAX ? topology->bytes + space : SIZE_MAX);
        if (r >= 0)
                *ret_next = page.next;
        return r;
}

int ald_decode_interfaces_added(sd_bus_message *m, AldModel *model)
{
        int r = check_signature(m, "oa{sa{sv}}");

        return r < 0 ? r : read_object(m, model);
}

int ald_decode_interfaces_removed(sd_bus_message *m, AldModel *model)
{
        g_autofree char *id = NULL;
        const char *path, *interface;
        int r = check_signature(m, "oas");

        if (r >= 0)
                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_OBJECT_PATH, &path);
        if (r < 0)
                return r;
        id = id_of_path(path);
        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface)) > 0) {
                const char *kind = kind_of_interface(interface);

                if (id && kind)
                        ald_model_remove(model, id, kind);
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_changed_totals(sd_bus_message *m, AldModel *model)
{
        json_t *fields = json_object(), *absent = json_array();
        size_t space = ald_model_space(model);
        int r = ald_value_read_dict_within(m, &space, fields, absent);

        if (r >= 0)
                r = ald_model_update_totals(model, fields, absent);
        json_decref(fields);
        json_decref(absent);
        return r;
}

static int read_changed(sd_bus_message *m, const char *interface, AldModel *model)
{
        const char *path = sd_bus_message_get_path(m), *kind = kind_of_interface(interface);
        g_autofree char *id = id_of_path(path);

        if (id && kind)
                return read_fields(m, id, kind, true, 0, model);
        if (strcmp(path, ALD_STATE_PATH) == 0 && strcmp(interface, ALD_STATE_INTERFACE) == 0)
                return read_changed_totals(m, model);
        return sd_bus_message_skip(m, "a{sv}");
}

int ald_decode_properties_changed(sd_bus_message *m, AldModel *model)
{
        const char *interface, *name;
        int r = check_signature(m, "sa{sv}as"), stale = 0;

        if (r >= 0)
                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface);
        if (r >= 0)
                r = read_changed(m, interface, model);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &name)) > 0)
                stale = 1;
        return r < 0 ? r : stale;
}
