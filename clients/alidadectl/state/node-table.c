/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/state/node-table.h"
#include "clients/common/columns/device-columns.h"

#define COMMON_COLUMNS                                                                            \
        ALD_NODE_COLUMN_NAME, ALD_NODE_COLUMN_STATE, ALD_NODE_COLUMN_MEMORY, ALD_NODE_COLUMN_CPU, \
                ALD_NODE_COLUMN_GPU, ALD_NODE_COLUMN_TEMPERATURE, ALD_NODE_COLUMN_POWER,          \
                ALD_NODE_COLUMN_TFLOPS, ALD_NODE_COLUMN_BANDWIDTH, ALD_NODE_COLUMN_ADDRESSES

int ald_node_table_choose(const AldCtl *ctl, AldNodeTableKind kind, AldColumnChoice *choice)
{
        static const unsigned in_list[] = { COMMON_COLUMNS, ALD_NODE_COLUMN_ID };
        static const unsigned live[] = { COMMON_COLUMNS, ALD_NODE_COLUMN_USED };

        return kind == ALD_NODE_TABLE_LIST ? ald_column_table_choose(ctl, &ald_node_column_list, in_list,
                                                     G_N_ELEMENTS(in_list), choice)
                                           : ald_column_table_choose(ctl, &ald_node_column_list, live,
                                                     G_N_ELEMENTS(live), choice);
}

GArray *ald_node_table_rows(AldModel *model, guint first, guint n, double now_usec)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        GArray *rows = g_array_sized_new(FALSE, FALSE, sizeof(AldNodeRow), n);

        for (guint i = first; i < first + n; i++) {
                AldNodeRow row = ald_node_row(model, nodes->pdata[i], now_usec);

                g_array_append_val(rows, row);
        }
        return rows;
}

GArray *ald_node_table_devices(const AldEntity *node)
{
        GArray *devices = ald_node_devices(node);

        for (guint i = devices->len; i > 0; i--)
                if (ald_node_device_is_processor(&g_array_index(devices, AldNodeDevice, i - 1)))
                        g_array_remove_index(devices, i - 1);
        return devices;
}

void ald_node_table_add_devices(AldTable *table, const AldColumnChoice *choice, const AldNodeRow *row)
{
        g_autoptr(GArray) devices = ald_node_table_devices(row->node);

        for (guint i = 0; i < devices->len; i++) {
                AldDeviceRow below = ald_device_row(
                        row->node, &g_array_index(devices, AldNodeDevice, i), row->counts);

                ald_column_table_add_below(table, choice, &below);
        }
}
