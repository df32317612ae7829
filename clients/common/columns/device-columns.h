/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/node-summary.h"

/* A compute device of a node, as a row. It is valid as long as the records of the node are. */
typedef struct AldDeviceRow {
        AldNodeDevice device;
        bool counts; /* whether the node counts */
        AldNodeFigures figures;
        const AldEntity *node;
        const AldHeldDevice *held; /* NULL: it is not known who holds it */
        const AldRows *holders;    /* of all devices of the node, as far as they may be shown; or NULL */

        /* The members below are set in the list of all devices; see device-rows.h. */
        double now_usec;       /* CLOCK_REALTIME */
        const char *exclusion; /* why the node does not count, or NULL */
        bool is_stale;         /* see ald_node_is_stale() */
        double free_bytes;     /* what programs can still have on it; see ald_device_rows_add() */
        bool is_part;          /* of the device above it, such as a MIG instance */
        guint n_parts;         /* number of rows after this one that are parts of it */
        guint place;           /* while the list is sorted: where it was before */
} AldDeviceRow;

/* Makes the row of a device without a list. If the node does not count, its samples are absent, such as free
 * memory, load, temperature, power and holders. */
AldDeviceRow ald_device_row(const AldEntity *node, const AldNodeDevice *device, bool counts);

/* Returns a text like "3 processes hold 41.0 GiB", or "2 compute processes" of a node that does not say who
 * holds the device; NULL if it is not in use, or that is not known. */
char *ald_device_row_processes(const AldDeviceRow *row);

/* Returns the AldHolders of the device, those with most memory first. They belong to the row's list. */
GPtrArray *ald_device_row_holders(const AldDeviceRow *row);

/* The columns are in the order in which a window shows them. */
typedef enum AldDeviceColumn {
        ALD_DEVICE_COLUMN_NAME,
        ALD_DEVICE_COLUMN_NODE,
        ALD_DEVICE_COLUMN_STATE,
        ALD_DEVICE_COLUMN_USED_MEMORY,
        ALD_DEVICE_COLUMN_FREE,
        ALD_DEVICE_COLUMN_LOAD,
        ALD_DEVICE_COLUMN_TEMPERATURE,
        ALD_DEVICE_COLUMN_POWER,
        ALD_DEVICE_COLUMN_HOLDERS,
        ALD_DEVICE_COLUMN_HELD_BY,
        ALD_DEVICE_COLUMN_THROTTLED,
        ALD_DEVICE_COLUMN_TFLOPS,
        ALD_DEVICE_COLUMN_BANDWIDTH,
        ALD_DEVICE_COLUMN_AGE,
        ALD_DEVICE_COLUMN_CLOCK,
        ALD_DEVICE_COLUMN_MEMORY_CLOCK,
        ALD_DEVICE_COLUMN_FAN,
        ALD_DEVICE_COLUMN_DRIVER,
        ALD_DEVICE_COLUMN_CLASS,
        ALD_DEVICE_COLUMN_MEMORY,
        ALD_DEVICE_COLUMN_TOTAL_MEMORY,
        ALD_DEVICE_COLUMN_USED,
        ALD_DEVICE_COLUMN_HELD,
        ALD_DEVICE_COLUMN_POWER_LIMIT,
        ALD_DEVICE_COLUMN_MEMORY_TEMPERATURE,
        ALD_DEVICE_COLUMN_FAN_RPM,
        ALD_DEVICE_COLUMN_ENCODER,
        ALD_DEVICE_COLUMN_DECODER,
        ALD_DEVICE_COLUMN_ID,
        ALD_DEVICE_COLUMN_NODE_ID,
        ALD_DEVICE_N_COLUMNS,
} AldDeviceColumn;

/* Rows are AldDeviceRow; those below are AldHolder. */
extern const AldListColumn ald_device_columns[ALD_DEVICE_N_COLUMNS];
extern const AldColumnList ald_device_column_list;
