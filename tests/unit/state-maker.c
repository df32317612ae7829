/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/state-maker.h"
#include "record/json.h"
#include "tests/unit/record-maker.h"

#define MAX_BYTES (1024u * 1024)

AldStore *state_make_of(unsigned node, uint64_t epoch)
{
        static const AldStoreLimits limits = {
                .max_shown_nodes = 10000,
                .max_shown_bytes = SIZE_MAX / 2,
                .max_nodes = 10000,
                .max_links_per_node = 10000,
                .max_bytes = SIZE_MAX / 2,
        };
        AldId local = id_make(node);

        return ald_store_new(&local, epoch, &limits);
}

AldStore *state_make(void)
{
        return state_make_of(1, 1);
}

char *state_id(unsigned node)
{
        AldId id = id_make(node);
        char string[ALD_ID_STRING_SIZE];

        return g_strdup(ald_id_format(&id, string));
}

static json_t *parse(const char *text)
{
        g_autofree char *copy = g_strdelimit(g_strdup(text), "'", '"'), *error = NULL;
        json_t *json = NULL;

        if (ald_json_load(copy, strlen(copy), MAX_BYTES, &json, &error) < 0)
                g_error("%s: %s", text, error);
        return json;
}

static void put(AldStore *store, unsigned node, AldKind kind, const char *key, json_t *json)
{
        AldId id = id_make(node);
        const AldEntry *entry = ald_store_find(store, &id, kind, key);
        g_autoptr(AldRecord) record = NULL;
        const char *field = NULL;
        AldUpdate update = {
                .node = id,
                .kind = kind,
                .key = key,
                .stamp = { 1, entry ? entry->stamp.seq + 1 : 1 },
        };

        if (ald_record_from_json(kind, json, &record, &field) < 0)
                g_error("%s.%s is wrong", ald_kinds[kind].name, field);
        update.record = record;
        if (ald_kinds[kind].local)
                g_assert_cmpint(ald_store_put_about(store, &id, kind, record, 0, 0), ==, ALD_PUT_TAKEN);
        else if (ald_id_equal(&id, &ald_store_local_node(store)->id))
                g_assert_cmpint(ald_store_put_local(store, kind, key, record, 0, 0), ==, ALD_PUT_TAKEN);
        else
                g_assert_cmpint(ald_store_put(store, &update, 0), ==, ALD_PUT_TAKEN);
}

void state_put(AldStore *store, unsigned node, AldKind kind, const char *text)
{
        json_auto_t *json = parse(text);

        put(store, node, kind, "", json);
}

void state_put_online(AldStore *store, unsigned node)
{
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
}

void state_put_link(
        AldStore *store, AldKind kind, unsigned source, unsigned sink, unsigned n, const char *text)
{
        json_auto_t *json = parse(text);
        g_autofree char *source_id = state_id(source), *sink_id = state_id(sink), *key = NULL;
        AldId id = id_make(sink);

        key = key_make(kind, &id, n);
        json_object_set_new(json, "Source", json_string(source_id));
        json_object_set_new(json, "Sink", json_string(sink_id));
        put(store, source, kind, key, json);
}

void state_put_path(AldStore *store, unsigned source, unsigned sink, const char *address, const char *text)
{
        json_auto_t *json = parse(text);
        g_autofree char *source_id = state_id(source), *sink_id = state_id(sink), *key = NULL;

        key = g_strdup_printf("%s,%s", sink_id, address);
        json_object_set_new(json, "Source", json_string(source_id));
        json_object_set_new(json, "Sink", json_string(sink_id));
        json_object_set_new(json, "SinkAddress", json_string(address));
        put(store, source, ALD_KIND_LINK_SOCKET, key, json);
}

void state_put_ports(AldStore *store, unsigned source, const char *source_port, unsigned sink,
        const char *sink_port, const char *text)
{
        json_auto_t *json = parse(text);
        g_autofree char *source_id = state_id(source), *sink_id = state_id(sink), *key = NULL;

        key = g_strdup_printf("%s,%s,%s", source_port, sink_id, sink_port);
        json_object_set_new(json, "Source", json_string(source_id));
        json_object_set_new(json, "Sink", json_string(sink_id));
        json_object_set_new(json, "SourcePort", json_string(source_port));
        json_object_set_new(json, "SinkPort", json_string(sink_port));
        put(store, source, ALD_KIND_LINK_RDMA, key, json);
}

const AldNetwork *state_network(AldStore *store, unsigned node)
{
        AldId id = id_make(node);
        const AldEntry *entry = ald_store_find(store, &id, ALD_KIND_NETWORK, "");

        g_assert_nonnull(entry);
        return ald_record_as(entry->record, NETWORK, AldNetwork);
}
