/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/devices/device-table.h"

int ald_device_table_choose(const AldCtl *ctl, AldColumnChoice *choice)
{
        static const unsigned usual[] = { ALD_DEVICE_COLUMN_NODE, ALD_DEVICE_COLUMN_NAME,
                ALD_DEVICE_COLUMN_USED_MEMORY, ALD_DEVICE_COLUMN_FREE, ALD_DEVICE_COLUMN_LOAD,
                ALD_DEVICE_COLUMN_TEMPERATURE, ALD_DEVICE_COLUMN_POWER, ALD_DEVICE_COLUMN_HOLDERS,
                ALD_DEVICE_COLUMN_TFLOPS, ALD_DEVICE_COLUMN_BANDWIDTH, ALD_DEVICE_COLUMN_AGE,
                ALD_DEVICE_COLUMN_THROTTLED, ALD_DEVICE_COLUMN_STATE };

        return ald_column_table_choose(ctl, &ald_device_column_list, usual, G_N_ELEMENTS(usual), choice);
}

GArray *ald_device_table_rows(AldModel *model, const GPtrArray *nodes, double now_usec, guint *ret_n_unlisted)
{
        GArray *rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));

        *ret_n_unlisted = 0;
        for (guint i = 0; i < nodes->len; i++)
                *ret_n_unlisted += ald_device_rows_add(rows, model, nodes->pdata[i], now_usec);
        return rows;
}

void ald_device_table_add_holders(AldTable *table, const AldColumnChoice *choice, const AldDeviceRow *row)
{
        g_autoptr(GPtrArray) holders = ald_device_row_holders(row);

        for (guint i = 0; i < holders->len; i++)
                ald_column_table_add_below(table, choice, holders->pdata[i]);
}
