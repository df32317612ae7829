/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/link-summary.h"

/* The columns are in the order in which a window shows them: the most important come first, as the last ones
 * may be out of sight. */
typedef enum AldLinkColumn {
        ALD_LINK_COLUMN_SOURCE,
        ALD_LINK_COLUMN_SINK,
        ALD_LINK_COLUMN_VERDICT,
        ALD_LINK_COLUMN_UPLOAD,
        ALD_LINK_COLUMN_DOWNLOAD,
        ALD_LINK_COLUMN_RTT,
        ALD_LINK_COLUMN_AGE,
        ALD_LINK_COLUMN_PROTOCOL,
        ALD_LINK_COLUMN_ADDRESS,
        ALD_LINK_COLUMN_TYPE,
        ALD_LINK_COLUMN_INTERFACE,
        ALD_LINK_COLUMN_UPLOAD_INTERVAL,
        ALD_LINK_COLUMN_DOWNLOAD_INTERVAL,
        ALD_LINK_COLUMN_JITTER,
        ALD_LINK_COLUMN_LINK,
        ALD_LINK_COLUMN_SOURCE_ID,
        ALD_LINK_COLUMN_SINK_ID,
        ALD_LINK_N_COLUMNS,
} AldLinkColumn;

/* Rows are AldLinkSummary. */
extern const AldListColumn ald_link_columns[ALD_LINK_N_COLUMNS];
extern const AldColumnList ald_link_column_list;
