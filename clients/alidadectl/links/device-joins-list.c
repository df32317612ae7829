/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/device-joins-list.h"
#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/device-joins.h"
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

void ald_device_joins_list(
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
                ald_table_add(table,
                        ald_format_age(ald_figure(join->there->measured_usec), ald_node_now(node, now_usec)));
                ald_table_add(table, ald_text_toned(tone, state));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}
