/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "record/listed-name.h"
#include "record/record-bus.h"
#include "state-client/model-json.h"
#include "state-client/value.h"
#include "state/topology/segments.h"

/* The number of neighbours of a port that are named. */
#define PEERS_MAX 4u
#define N_COLUMNS 7u
#define NARROW 60u
#define COLUMNS(node_least, port_least, peers_least)                                          \
        { "NODE", .least = node_least, .flexible = true },                                    \
                { "PORT", .least = port_least, .flexible = true }, { "KIND", .priority = 3 }, \
                { "STATE", .priority = 2 }, { "RATE", .right = true, .priority = 4 },         \
                { "INTERFACE", .priority = 5 },                                               \
        {                                                                                     \
                "NEIGHBOURS", .least = peers_least, .flexible = true                          \
        }

/* The limit covers all nodes and kinds, each of which has several rows. */
#define ROWS_MAX 250000u
#define ROWS_BYTES_MAX ((size_t) ROWS_MAX * sizeof(AldPortRow))

/* The reply of GetFabric(): AldPortRow and AldSegmentRow. */
typedef struct FabricReply {
        AldRows ports;
        AldRows segments;
} FabricReply;

/* Flexible columns keep as much width as possible before others are dropped. */
static const AldColumn narrow_columns[N_COLUMNS] = { COLUMNS(4, 4, 8) };
static const AldColumn wide_columns[N_COLUMNS] = { COLUMNS(8, 8, 24) };

/* The segment of which a port is a member, and possibly a candidate segment. */
typedef struct Places {
        const AldSegmentRow *sure, *candidate;
} Places;

typedef struct Fabric {
        AldModel *model;
        const AldEntity *only;
        GHashTable *places; /* "KIND NODE PORT" → Places */
        AldTable *table;
} Fabric;

static bool equals(const char *text, const char *value)
{
        return text && strcmp(text, value) == 0;
}

/* Splits "ID PORT", where the port may be any text; returns the id, or NULL if a part is missing. */
static char *split_member(const char *member, const char **ret_port)
{
        const char *space = strchr(member, ' ');

        if (!space || space == member || space[1] == '\0')
                return NULL;
        *ret_port = space + 1;
        return g_strndup(member, (gsize) (space - member));
}

static bool was_found_by(const AldSegmentRow *segment, AldSegmentHow how)
{
        return equals(segment->how, ald_segment_how_to_string(how));
}

/* Returns the kind of the segment's ports: ports of different kinds may have the same name. */
static const char *port_kind(const AldSegmentRow *segment)
{
        return was_found_by(segment, ALD_SEGMENT_THUNDERBOLT) || was_found_by(segment, ALD_SEGMENT_LLDP)
                       ? segment->how
                       : "rdma";
}

static Places *get_places(Fabric *fabric, const char *kind, const char *member)
{
        g_autofree char *key = g_strdup_printf("%s %s", kind, member);
        Places *places = g_hash_table_lookup(fabric->places, key);

        if (!places) {
                places = g_new0(Places, 1);
                g_hash_table_insert(fabric->places, g_steal_pointer(&key), places);
        }
        return places;
}

static void place_members(Fabric *fabric, const AldSegmentRow *segment)
{
        for (const char *const *member = segment->members; member && *member; member++) {
                Places *places = get_places(fabric, port_kind(segment), *member);

                if (segment->candidate == 1)
                        places->candidate = segment;
                else
                        places->sure = segment;
        }
}

typedef struct Peers {
        GString *text;
        GHashTable *named;
        unsigned n;
} Peers;

/* Adds the members on other nodes, each followed by the mark. The segment may be NULL. */
static void add_peers(
        Fabric *fabric, Peers *peers, const AldSegmentRow *segment, const char *own, const char *mark)
{
        const char *const *member = segment ? segment->members : NULL;

        for (; member && *member && peers->n < PEERS_MAX; member++) {
                const char *port;
                g_autofree char *node = split_member(*member, &port), *name = NULL, *listed = NULL,
                                *safe = NULL;

                if (!node || equals(own, node) || !g_hash_table_add(peers->named, (gpointer) *member))
                        continue;
                peers->n++;
                name = ald_node_name(fabric->model, node);
                listed = ald_listed_name(name);
                safe = ald_text_safe(port);
                g_string_append_printf(
                        peers->text, "%s%s %s%s", peers->n > 1 ? ", " : "", listed, safe, mark);
        }
}

/* This runs for each port of a large segment, so it neither copies nor splits anything. */
static unsigned count_peers(const AldSegmentRow *segment, const char *own)
{
        const char *const *member = segment ? segment->members : NULL;
        size_t length = strlen(own);
        unsigned n = 0;

        for (; member && *member; member++)
                n += strncmp(*member, own, length) != 0 || (*member)[length] != ' ';
        return n;
}

static char *describe_peers(Fabric *fabric, const Places *places, const char *own)
{
        g_autoptr(GHashTable) named = g_hash_table_new(g_str_hash, g_str_equal);
        Peers peers = { .text = g_string_new(NULL), .named = named };
        unsigned all = 0;

        if (places) {
                add_peers(fabric, &peers, places->sure, own, "");
                add_peers(fabric, &peers, places->candidate, own, "?");
                /* A candidate segment includes all certain members, too. */
                all = count_peers(places->candidate ? places->candidate : places->sure, own);
        }
        if (peers.n == PEERS_MAX && all > peers.n)
                g_string_append_printf(peers.text, ", %u more", all - peers.n);
        if (peers.n == 0)
                g_string_append(peers.text, ALD_ABSENT_TEXT);
        return g_string_free(peers.text, FALSE);
}

static char *describe_problem(const AldPortRow *port)
{
        g_autofree char *safe = ald_text_safe(port->reason ?: port->problem);

        return g_strdup_printf(ALD_STYLE_WARNING "unusable: %s" ALD_STYLE_NORMAL, safe);
}

static char *safe_or_absent(const char *text)
{
        return ald_text_safe(text ?: ALD_ABSENT_TEXT);
}

static const char *kind_shown(const AldPortRow *port)
{
        return equals(port->transport, "iwarp")         ? "iWARP"
               : equals(port->transport, "other")       ? "RDMA"
               : equals(port->link_layer, "infiniband") ? "InfiniBand"
               : equals(port->link_layer, "ethernet")   ? "RoCE"
               : equals(port->kind, "thunderbolt")      ? "Thunderbolt"
                                                        : "RDMA";
}

static void add_port(Fabric *fabric, const AldPortRow *port)
{
        g_autofree char *key = g_strdup_printf(
                "%s %s %s", port->kind ?: "", port->node ?: "", port->port ?: "");

        if (!port->node || !port->port)
                return;
        ald_table_add(fabric->table, ald_node_name(fabric->model, port->node));
        ald_table_add(fabric->table, ald_text_safe(port->port));
        ald_table_add(fabric->table, g_strdup(kind_shown(port)));
        ald_table_add(fabric->table, safe_or_absent(port->state));
        ald_table_add(
                fabric->table, ald_format_bits_per_second(ald_uint64_to_double(port->rate_bits_per_second)));
        ald_table_add(fabric->table, safe_or_absent(port->interface));
        ald_table_add(fabric->table,
                port->problem ? describe_problem(port)
                              : describe_peers(fabric, g_hash_table_lookup(fabric->places, key), port->node));
}

/* Adds rows for interfaces, which are ports only for LLDP, if they hear a neighbour or are heard. */
static void add_lldp(Fabric *fabric, const AldSegmentRow *segment)
{
        for (const char *const *member = segment->members; member && *member; member++) {
                const char *port;
                g_autofree char *node = split_member(*member, &port);
                const Places *places;

                if (!node || (fabric->only && !equals(fabric->only->id, node)))
                        continue;
                places = get_places(fabric, segment->how, *member);
                /* The port is listed once, even if it is in a candidate as well. */
                if (places->sure && places->sure != segment)
                        continue;
                ald_table_add(fabric->table, ald_node_name(fabric->model, node));
                ald_table_add(fabric->table, ald_text_safe(port));
                ald_table_add(fabric->table, g_strdup("LLDP"));
                for (unsigned k = 0; k < 3; k++)
                        ald_table_add(fabric->table, g_strdup(ALD_ABSENT_TEXT));
                ald_table_add(fabric->table, describe_peers(fabric, places, node));
        }
}

/* Appends a table of the ports, those known by LLDP last, each with its neighbours or the reason why it
 * cannot be used; nothing if there are none. If `node` is not NULL, only its ports are included. */
static void append_fabric(
        GString *out, AldModel *model, const FabricReply *rows, const AldEntity *node, unsigned columns)
{
        g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autoptr(AldTable) table = ald_table_new(
                columns > 0 && columns < NARROW ? narrow_columns : wide_columns, N_COLUMNS);
        Fabric fabric = { .model = model, .only = node, .places = places, .table = table };

        for (size_t i = 0; i < rows->segments.n; i++)
                place_members(&fabric, ald_rows_at(&rows->segments, i));
        for (size_t i = 0; i < rows->ports.n; i++)
                add_port(&fabric, ald_rows_at(&rows->ports, i));
        for (size_t i = 0; i < rows->segments.n; i++)
                if (was_found_by(ald_rows_at(&rows->segments, i), ALD_SEGMENT_LLDP))
                        add_lldp(&fabric, ald_rows_at(&rows->segments, i));
        ald_table_layout(table, columns, NULL);
        if (ald_table_rows(table) > 0)
                ald_table_append(out, table);
}

static int print_reply_error(const sd_bus_error *error, int r)
{
        g_auto(sd_bus_error) copy = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_copy(&copy, error);
        ald_bus_ensure_error(&copy, r);
        return ald_bus_print_error(&copy, "Cannot read the fabric", ALD_STATE_UNIT);
}

/* Opens a connection of its own, since the session's connection ended with its loop. */
static int get_fabric(const AldCtl *ctl, const char *node, sd_bus_message **ret_reply)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = sd_bus_call_method(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetFabric", &error,
                &reply, "s", node);
        if (r >= 0 && sd_bus_message_has_signature(*&reply, "aa{sv}aa{sv}") <= 0)
                r = -EBADMSG;
        if (r < 0)
                return print_reply_error(&error, r);
        *ret_reply = g_steal_pointer(&reply);
        return ALD_EXIT_OK;
}

/* Prints the reply as the service sent it. */
static int print_as_json(const AldCtl *ctl, AldModel *model, sd_bus_message *reply)
{
        json_t *object = json_object(), *ports = json_array(), *segments = json_array();
        int r;

        json_object_set_new(object, "Names", ald_model_names_to_json(model));
        json_object_set_new(object, "Ports", ports);
        json_object_set_new(object, "Segments", segments);
        r = ald_value_read_list(reply, ROWS_MAX, ports);
        if (r >= 0)
                r = ald_value_read_list(reply, ROWS_MAX, segments);
        r = r < 0 ? print_reply_error(NULL, r) : ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, sd_bus_message *reply, const AldEntity *node)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        FabricReply rows;
        int r;

        r = ald_record_bus_read_rows(reply, &ald_port_row_struct, ROWS_BYTES_MAX, owned, &rows.ports);
        if (r >= 0)
                r = ald_record_bus_read_rows(
                        reply, &ald_segment_row_struct, ROWS_BYTES_MAX, owned, &rows.segments);
        if (r < 0)
                return print_reply_error(NULL, r);
        append_fabric(out, model, &rows, node, info.columns);
        return ald_print(ctl, &info,
                out->len > 0 ? out->str : "No RDMA port, Thunderbolt host or LLDP neighbour is known.\n");
}

int ald_verb_fabric(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldMessage) reply = NULL;
        const AldEntity *node = NULL;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK && ctl->args[0])
                r = ald_session_find_node(&session, ctl->args[0], &node);
        if (r == ALD_EXIT_OK)
                r = get_fabric(ctl, node ? node->id : "", &reply);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, reply)
                         : print_as_text(ctl, session.model, reply, node);
}
