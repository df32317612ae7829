/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/links/fabric.h"
#include "clients/alidadectl/links/link.h"
#include "clients/alidadectl/table.h"
#include "clients/alidadectl/text.h"

/* How many neighbours of a port are named. */
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

/* What can be cut is cut as little as may be before a column goes. */
static const AldColumn narrow_columns[N_COLUMNS] = { COLUMNS(4, 4, 8) };
static const AldColumn wide_columns[N_COLUMNS] = { COLUMNS(8, 8, 24) };

/* A port that is a member of one segment and maybe of a candidate. */
typedef struct Places {
        const json_t *sure, *candidate;
} Places;

typedef struct Fabric {
        AldModel *model;
        const AldEntity *only;
        GHashTable *places; /* "KIND NODE PORT" → Places */
        AldTable *table;
} Fabric;

static bool is(const char *text, const char *value)
{
        return text && strcmp(text, value) == 0;
}

/* "ID PORT", of which the port may be anything; NULL where it is neither. */
static char *split_member(const char *member, const char **ret_port)
{
        const char *space = member ? strchr(member, ' ') : NULL;

        if (!space || space == member || space[1] == '\0')
                return NULL;
        *ret_port = space + 1;
        return g_strndup(member, (gsize) (space - member));
}

/* Which kind of ports the segment is of: several kinds may use one name. */
static const char *kind_of(const json_t *segment)
{
        const char *how = ald_field_text(segment, "How");

        return is(how, "thunderbolt") || is(how, "lldp") ? how : "rdma";
}

static Places *places_of(Fabric *fabric, const char *kind, const char *member)
{
        g_autofree char *key = g_strdup_printf("%s %s", kind, member);
        Places *places = g_hash_table_lookup(fabric->places, key);

        if (!places) {
                places = g_new0(Places, 1);
                g_hash_table_insert(fabric->places, g_steal_pointer(&key), places);
        }
        return places;
}

static void place_members(Fabric *fabric, const json_t *segment)
{
        bool candidate = json_is_true(json_object_get(segment, "Candidate"));
        json_t *member;
        size_t i;

        json_array_foreach(ald_field_array(segment, "Members"), i, member) {
                const char *text = json_string_value(member);
                Places *places = text ? places_of(fabric, kind_of(segment), text) : NULL;

                if (places && candidate)
                        places->candidate = segment;
                else if (places)
                        places->sure = segment;
        }
}

typedef struct Peers {
        GString *text;
        GHashTable *told;
        unsigned n;
} Peers;

/* Those of other nodes; with a question mark where nobody knows. */
static void add_peers(Fabric *fabric, Peers *peers, const json_t *segment, const char *own, const char *mark)
{
        json_t *member;
        size_t i;

        json_array_foreach(ald_field_array(segment, "Members"), i, member) {
                const char *text = json_string_value(member), *port;
                g_autofree char *node = split_member(text, &port), *name = NULL, *safe = NULL;

                if (peers->n == PEERS_MAX)
                        return;
                if (!node || is(own, node) || !g_hash_table_add(peers->told, (gpointer) text))
                        continue;
                peers->n++;
                name = ald_link_node_name(fabric->model, node);
                safe = ald_text_safe(port);
                g_string_append_printf(peers->text, "%s%s %s%s", peers->n > 1 ? ", " : "", name, safe, mark);
        }
}

/* Looked at for each port of as many: nothing is taken apart, nor kept. */
static unsigned count_peers(const json_t *segment, const char *own)
{
        const json_t *members = ald_field_array(segment, "Members");
        size_t length = strlen(own), i;
        unsigned n = 0;
        json_t *member;

        json_array_foreach(members, i, member) {
                const char *text = json_string_value(member);

                n += text && (strncmp(text, own, length) != 0 || text[length] != ' ');
        }
        return n;
}

static char *describe_peers(Fabric *fabric, const Places *places, const char *own)
{
        g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
        Peers peers = { .text = g_string_new(NULL), .told = told };
        unsigned all = 0;

        if (places) {
                add_peers(fabric, &peers, places->sure, own, "");
                add_peers(fabric, &peers, places->candidate, own, "?");
                /* A candidate has all that is sure, too. */
                all = count_peers(places->candidate ? places->candidate : places->sure, own);
        }
        if (peers.n == PEERS_MAX && all > peers.n)
                g_string_append_printf(peers.text, ", %u more", all - peers.n);
        if (peers.n == 0)
                g_string_append(peers.text, ALD_ABSENT_TEXT);
        return g_string_free(peers.text, FALSE);
}

static char *describe_problem(const json_t *port)
{
        const char *reason = ald_field_text(port, "Reason"), *word = ald_field_text(port, "Problem");
        g_autofree char *safe = ald_text_safe(reason ? reason : word);

        return g_strdup_printf(ALD_STYLE_WARNING "unusable: %s" ALD_STYLE_NORMAL, safe);
}

static char *safe_or_absent(const char *text)
{
        return text ? ald_text_safe(text) : g_strdup(ALD_ABSENT_TEXT);
}

static const char *kind_shown(const json_t *port)
{
        const char *kind = ald_field_text(port, "Kind"), *layer = ald_field_text(port, "LinkLayer");

        return is(layer, "infiniband")   ? "InfiniBand"
               : is(layer, "ethernet")   ? "RoCE"
               : is(kind, "thunderbolt") ? "Thunderbolt"
                                         : "RDMA";
}

static void add_port(Fabric *fabric, const json_t *port)
{
        const char *node = ald_field_text(port, "Node"), *name = ald_field_text(port, "Port");
        const char *kind = ald_field_text(port, "Kind");
        g_autofree char *key = g_strdup_printf(
                "%s %s %s", kind ? kind : "", node ? node : "", name ? name : "");

        if (!node || !name)
                return;
        ald_table_add(fabric->table, ald_link_node_name(fabric->model, node));
        ald_table_add(fabric->table, ald_text_safe(name));
        ald_table_add(fabric->table, g_strdup(kind_shown(port)));
        ald_table_add(fabric->table, safe_or_absent(ald_field_text(port, "State")));
        ald_table_add(fabric->table, ald_format_bits_per_second(ald_field_number(port, "RateBitsPerSecond")));
        ald_table_add(fabric->table, safe_or_absent(ald_field_text(port, "Interface")));
        ald_table_add(fabric->table,
                ald_field_text(port, "Problem")
                        ? describe_problem(port)
                        : describe_peers(fabric, g_hash_table_lookup(fabric->places, key), node));
}

/* Interfaces are ports of LLDP alone, and have a row where they hear, or are heard. */
static void add_lldp(Fabric *fabric, const json_t *segment)
{
        json_t *member;
        size_t i;

        json_array_foreach(ald_field_array(segment, "Members"), i, member) {
                const char *port;
                g_autofree char *node = split_member(json_string_value(member), &port);
                const Places *places;

                if (!node || (fabric->only && !is(fabric->only->id, node)))
                        continue;
                places = places_of(fabric, "lldp", json_string_value(member));
                /* Once, where it is in a candidate as well. */
                if (places->sure && places->sure != segment)
                        continue;
                ald_table_add(fabric->table, ald_link_node_name(fabric->model, node));
                ald_table_add(fabric->table, ald_text_safe(port));
                ald_table_add(fabric->table, g_strdup("LLDP"));
                for (unsigned k = 0; k < 3; k++)
                        ald_table_add(fabric->table, g_strdup(ALD_ABSENT_TEXT));
                ald_table_add(fabric->table, describe_peers(fabric, places, node));
        }
}

void ald_fabric_append(
        GString *out, AldModel *model, const AldFabricRows *rows, const AldEntity *node, unsigned columns)
{
        g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autoptr(AldTable) table = ald_table_new(
                columns > 0 && columns < NARROW ? narrow_columns : wide_columns, N_COLUMNS);
        Fabric fabric = { .model = model, .only = node, .places = places, .table = table };
        json_t *row;
        size_t i;

        json_array_foreach(rows->segments, i, row)
                place_members(&fabric, row);
        json_array_foreach(rows->ports, i, row)
                add_port(&fabric, row);
        json_array_foreach(rows->segments, i, row)
                if (is(ald_field_text(row, "How"), "lldp"))
                        add_lldp(&fabric, row);
        ald_table_layout(table, columns, NULL);
        for (int line = -1; ald_table_rows(table) > 0 && line < (int) ald_table_rows(table); line++) {
                g_autofree char *text = ald_table_line(table, line);

                g_string_append_printf(out, "%s\n", text);
        }
}
