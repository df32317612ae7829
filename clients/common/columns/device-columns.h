/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/node-summary.h"

/* A compute device of a node, as a row. */
typedef struct AldDeviceRow {
        const AldNodeDevice *device;
        bool counts; /* whether the node counts */
        AldNodeFigures figures;
} AldDeviceRow;

/* If the node does not count, free memory, load, temperature and power are absent. */
AldDeviceRow ald_device_row(const AldNodeDevice *device, bool counts);

typedef enum AldDeviceColumn {
        ALD_DEVICE_COLUMN_NAME,
        ALD_DEVICE_COLUMN_MEMORY,
        ALD_DEVICE_COLUMN_LOAD,
        ALD_DEVICE_COLUMN_TFLOPS,
        ALD_DEVICE_COLUMN_BANDWIDTH,
        ALD_DEVICE_COLUMN_TEMPERATURE,
        ALD_DEVICE_COLUMN_POWER,
        ALD_DEVICE_COLUMN_USED,
        ALD_DEVICE_N_COLUMNS,
} AldDeviceColumn;

/* Rows are AldDeviceRow. */
extern const AldListColumn ald_device_columns[ALD_DEVICE_N_COLUMNS];
