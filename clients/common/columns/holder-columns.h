/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "record/schema.h"

/* Lists the holders of a device as rows below it. */

typedef enum AldHolderColumn {
        ALD_HOLDER_COLUMN_NAME,
        ALD_HOLDER_COLUMN_MEMORY,
        ALD_HOLDER_COLUMN_LOAD,
        ALD_HOLDER_COLUMN_PROCESSES,
        ALD_HOLDER_N_COLUMNS,
} AldHolderColumn;

/* Rows are AldHolder. */
extern const AldListColumn ald_holder_columns[ALD_HOLDER_N_COLUMNS];

/* Returns the program, else what the processes belong to: "job 4711", "a user's session". Safe text. */
char *ald_holder_name(const AldHolder *holder);
