/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/links/device-joins.h"
#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/command-line/table.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"

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

/* Both directions, the first of which begins at a device. */
typedef struct Join {
        const AldEdgeRow *there, *back;
} Join;

static bool is_of_node(const AldEdgeRow *edge, const char *node)
{
        return ald_edge_is_within_node(edge) && g_strcmp0(edge->source, node) == 0;
}

static bool is_reverse(const AldEdgeRow *a, const AldEdgeRow *b)
{
        return g_strcmp0(a->source_port, b->sink_port) == 0 && g_strcmp0(a->sink_port, b->source_port) == 0 &&
               g_strcmp0(a->source_type, b->source_type) == 0;
}

/* The edge that leads to the host, or to the greater Id: as the record names the ends. */
static bool is_first(const AldEdgeRow *edge)
{
        return edge->source_port && edge->sink_port && strcmp(edge->source_port, "host") != 0 &&
               (strcmp(edge->sink_port, "host") == 0 || strcmp(edge->source_port, edge->sink_port) < 0);
}

static gint compare_joins(gconstpointer a, gconstpointer b)
{
        const AldEdgeRow *x = ((const Join *) a)->there, *y = ((const Join *) b)->there;
        int to_host = (strcmp(y->sink_port, "host") == 0) - (strcmp(x->sink_port, "host") == 0);
        int r = to_host != 0 ? to_host : strcmp(x->source_port, y->source_port);

        return r != 0 ? r : strcmp(x->sink_port, y->sink_port);
}

static GArray *joins_of(const AldTopology *topology, const char *node)
{
        GArray *joins = g_array_new(FALSE, FALSE, sizeof(Join));
        g_autoptr(GPtrArray) edges = g_ptr_array_new();

        for (guint i = 0; i < topology->edges->len; i++)
                if (is_of_node(topology->edges->pdata[i], node))
                        g_ptr_array_add(edges, topology->edges->pdata[i]);
        for (guint i = 0; i < edges->len; i++) {
                Join join = { .there = edges->pdata[i] };

                if (!is_first(join.there))
                        continue;
                for (guint k = 0; k < edges->len && !join.back; k++)
                        if (is_reverse(join.there, edges->pdata[k]))
                                join.back = edges->pdata[k];
                g_array_append_val(joins, join);
        }
        g_array_sort(joins, compare_joins);
        return joins;
}

/* "Radeon RX 7900 XTX (0000:03:00.0)", "host". Safe text. */
static char *describe_end(const AldBackends *backends, const char *id)
{
        const AldBackend *device = backends ? ald_rows_find(&backends->devices, id) : NULL;
        g_autofree char *safe = ald_text_safe(id);
        g_autofree char *name = device && device->name ? ald_text_safe(device->name) : NULL;

        return name ? g_strdup_printf("%s (%s)", name, safe) : g_steal_pointer(&safe);
}

/* "pcie ×16", "nvlink ×18 through switch". */
static char *describe_join(const AldEdgeRow *edge)
{
        uint64_t n = edge->lanes != ALD_ABSENT_UINT64 ? edge->lanes : edge->links;
        g_autofree char *type = ald_text_safe(edge->source_type ?: ALD_ABSENT_TEXT);
        g_autofree char *through = ald_text_safe_or_null(edge->through);
        g_autofree char *number = n == ALD_ABSENT_UINT64 ? g_strdup("")
                                                         : g_strdup_printf(" ×%" G_GUINT64_FORMAT, n);

        return g_strdup_printf("%s%s%s%s", type, number, through ? " through " : "", through ?: "");
}

void ald_device_joins_list(
        GString *out, const AldEntity *node, const AldTopology *topology, unsigned columns, double now_usec)
{
        g_autoptr(AldTable) table = ald_table_new(columns_of_joins, G_N_ELEMENTS(columns_of_joins));
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        g_autoptr(GArray) joins = joins_of(topology, node->id);

        if (joins->len == 0) {
                g_string_append(out, "No connections between the devices of this node are known.\n");
                return;
        }
        for (guint i = 0; i < joins->len; i++) {
                const Join *join = &g_array_index(joins, Join, i);
                uint64_t back = join->back ? join->back->bits_per_second : ALD_ABSENT_UINT64;
                g_autofree char *state = NULL;
                AldTone tone;

                state = ald_edge_state_words(join->there, &tone);
                ald_table_add(table, describe_end(backends, join->there->source_port));
                ald_table_add(table, describe_end(backends, join->there->sink_port));
                ald_table_add(table, describe_join(join->there));
                ald_table_add(table, ald_topology_rate(join->there->negotiated_bits_per_second, false));
                ald_table_add(table, ald_topology_rate(join->there->bits_per_second, false));
                ald_table_add(table, ald_topology_rate(back, false));
                ald_table_add(table,
                        ald_format_age(ald_figure(join->there->measured_usec), ald_node_now(node, now_usec)));
                ald_table_add(table, ald_text_toned(tone, state));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}
