/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/node-summary.h"

/* A row of the list of nodes. */
typedef struct AldNodeRow {
        AldModel *model;
        const AldEntity *node; /* NULL: it has gone */
        double now_usec;       /* CLOCK_REALTIME; NaN: omit whatever depends on it */
        bool is_own;           /* this machine */
        bool counts;           /* see ald_node_exclusion() */
        AldNodeFigures figures;
        AldGpuSummary gpus;
        double hottest_millicelsius; /* of its processors and devices */
} AldNodeRow;

/* Makes the row of a node. If the node does not count, free memory, load, temperature and power are absent,
 * since they are outdated; measured figures are kept. The row is valid as long as the records of the node
 * are. */
AldNodeRow ald_node_row(AldModel *model, const AldEntity *node, double now_usec);

/* Makes a row with everything that was last known, whether the node counts or not, and without what needs a
 * model or the time, such as its state. */
AldNodeRow ald_node_row_last_known(const AldEntity *node);

/* The columns are in the order in which a window shows them: the most important come first, as the last ones
 * may be out of sight. */
typedef enum AldNodeColumn {
        ALD_NODE_COLUMN_NAME,
        ALD_NODE_COLUMN_STATE,
        ALD_NODE_COLUMN_MEMORY,
        ALD_NODE_COLUMN_CPU,
        ALD_NODE_COLUMN_TFLOPS,
        ALD_NODE_COLUMN_BANDWIDTH,
        ALD_NODE_COLUMN_ADDRESSES,
        ALD_NODE_COLUMN_GPUS,
        ALD_NODE_COLUMN_GPU_LOAD,
        ALD_NODE_COLUMN_TEMPERATURE,
        ALD_NODE_COLUMN_POWER,
        ALD_NODE_COLUMN_MODEL,
        ALD_NODE_COLUMN_PROCESSOR,
        ALD_NODE_COLUMN_SYSTEM,
        ALD_NODE_COLUMN_VERSION,
        ALD_NODE_COLUMN_ID,
        ALD_NODE_COLUMN_TOTAL_MEMORY,
        ALD_NODE_COLUMN_USED,
        ALD_NODE_COLUMN_GPU,
        ALD_NODE_COLUMN_TFLOPS_FP32,
        ALD_NODE_COLUMN_CPU_TEMPERATURE,
        ALD_NODE_COLUMN_DEVICE_MEMORY,
        ALD_NODE_COLUMN_RDMA,
        ALD_NODE_COLUMN_POWER_OF,
        ALD_NODE_N_COLUMNS,
} AldNodeColumn;

/* Rows are AldNodeRow; those below are AldDeviceRow. */
extern const AldListColumn ald_node_columns[ALD_NODE_N_COLUMNS];
extern const AldColumnList ald_node_column_list;
