/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/device-joins.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "record/json.h"

/* Adds the names of the nodes beside their ids. */
static json_t *row_to_json(const AldStruct *type, const void *row, const AldTopology *topology)
{
        static const char *const ids[] = { "Source", "Sink", "Prober", "Node", "Peer" };
        json_t *object = ald_struct_to_json(type, row);

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                const char *id = json_string_value(json_object_get(object, ids[i]));
                const AldGraphNodeRow *node = ald_topology_find_node(topology, id);
                g_autofree char *name = g_strdup_printf("%sName", ids[i]);

                if (node && node->name)
                        json_object_set_new(object, name, json_string(node->name));
        }
        return object;
}

static json_t *rows_to_json(const GPtrArray *rows, const AldStruct *type, const AldTopology *topology)
{
        json_t *array = json_array();

        for (guint i = 0; i < rows->len; i++)
                json_array_append_new(array, row_to_json(type, rows->pdata[i], topology));
        return array;
}

static int print_as_json(const AldCtl *ctl, const AldTopology *topology)
{
        json_auto_t *object = json_object();

        json_object_set_new(object, "Revision", json_integer((json_int_t) topology->revision));
        json_object_set_new(
                object, "Nodes", rows_to_json(topology->nodes, &ald_graph_node_row_struct, topology));
        json_object_set_new(object, "Edges", rows_to_json(topology->edges, &ald_edge_row_struct, topology));
        json_object_set_new(
                object, "Pairs", rows_to_json(topology->pairs, &ald_node_pair_row_struct, topology));
        return ald_print_json(ctl, object);
}

static int print_inside_as_json(const AldCtl *ctl, const AldTopology *topology, const AldEntity *node)
{
        json_auto_t *object = json_object();
        json_t *edges = json_array();

        for (guint i = 0; i < topology->edges->len; i++) {
                const AldEdgeRow *edge = topology->edges->pdata[i];

                if (ald_edge_is_within_node(edge) && g_strcmp0(edge->source, node->id) == 0)
                        json_array_append_new(edges, row_to_json(&ald_edge_row_struct, edge, topology));
        }
        json_object_set_new(object, "Revision", json_integer((json_int_t) topology->revision));
        json_object_set_new(object, "Edges", edges);
        return ald_print_json(ctl, object);
}

static const AldColumn columns_of_joins[] = {
        { "DEVICE", .least = 8, .flexible = true },
        { "PEER", .least = 6, .flexible = true },
        { "JOIN", .least = 8, .priority = 3, .flexible = true },
        { "LIMIT", .right = true, .priority = 4 },
        { "→", .right = true, .priority = 1 },
        { "←", .right = true, .priority = 1 },
        { "AGE", .right = true, .priority = 5 },
        { "STATE", .least = 9, .priority = 6, .flexible = true },
};

/* Appends what joins the compute devices of a node to its host and to each other, with one line for both
 * directions. now_usec is CLOCK_REALTIME. */
static void append_device_joins(
        GString *out, const AldEntity *node, const AldTopology *topology, unsigned columns, double now_usec)
{
        g_autoptr(AldTable) table = ald_table_new(columns_of_joins, G_N_ELEMENTS(columns_of_joins));
        g_autoptr(GArray) joins = ald_device_joins(topology, node->id);

        if (joins->len == 0) {
                g_string_append(out, "No connections between the devices of this node are known.\n");
                return;
        }
        for (guint i = 0; i < joins->len; i++) {
                const AldJoinEdges *join = &g_array_index(joins, AldJoinEdges, i);
                uint64_t back = join->back ? join->back->bits_per_second : ALD_ABSENT_UINT64;
                g_autofree char *state = NULL;
                AldTone tone;

                state = ald_edge_state_words(join->there, &tone);
                ald_table_add(table, ald_device_join_end(node, join->there->source_port));
                ald_table_add(table, ald_device_join_end(node, join->there->sink_port));
                ald_table_add(table, ald_device_join_words(join->there));
                ald_table_add(table, ald_topology_rate(join->there->negotiated_bits_per_second, false));
                ald_table_add(table, ald_topology_rate(join->there->bits_per_second, false));
                ald_table_add(table, ald_topology_rate(back, false));
                ald_table_add(table, ald_format_age(ald_uint64_to_double(join->there->measured_usec),
                                             ald_node_now(node, now_usec)));
                ald_table_add(table, ald_text_toned(tone, state));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}

static int print_inside(const AldCtl *ctl, AldStateSession *session, const AldTopology *topology)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        const AldEntity *node;
        int r = ald_session_find_node(session, ctl->inside, &node);

        if (r != ALD_EXIT_OK)
                return r;
        if (ctl->json)
                return print_inside_as_json(ctl, topology, node);
        append_device_joins(out, node, topology, info.columns, ald_now());
        return ald_print(ctl, &info, out->str);
}

/* Rejects options that cannot be combined. */
static int check_options(const AldCtl *ctl)
{
        const char *first = ctl->json ? "--json" : ctl->inside ? "--inside" : NULL;

        if (ctl->dot && first) {
                ald_print_error("%s and --dot exclude each other", first);
                return ALD_EXIT_USAGE;
        }
        if (ctl->inside && ctl->all) {
                ald_print_error("--inside and --all exclude each other");
                return ALD_EXIT_USAGE;
        }
        return ALD_EXIT_OK;
}

int ald_verb_topology(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldTopologySummary) summary = NULL;
        const AldTopology *topology;
        g_autoptr(GString) out = NULL;
        AldStyleInfo info;
        int r = check_options(ctl);

        if (r != ALD_EXIT_OK)
                return r;
        session.with_topology = true;
        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        topology = ald_model_topology(session.model);
        if (topology->failure) {
                ald_print_error("Cannot read the topology: %s", topology->failure);
                return ALD_EXIT_ERROR;
        }
        if (ctl->inside)
                return print_inside(ctl, &session, topology);
        if (ctl->json)
                return print_as_json(ctl, topology);
        summary = ald_topology_summarize(topology);
        out = g_string_new(NULL);
        info = ald_style_info();
        if (ctl->dot)
                ald_topology_write_dot(out, topology, summary, ctl->all);
        else if (ctl->all)
                ald_topology_list(out, session.model, topology, summary, info.columns, ald_now());
        else
                ald_topology_draw(out, summary, info.columns);
        return ald_print(ctl, &info, out->str);
}
