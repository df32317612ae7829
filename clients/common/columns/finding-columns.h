/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/finding-display.h"

/* A row of the list of findings, present or past. */
typedef struct AldFindingListRow {
        AldModel *model; /* has the names of nodes; NULL: the finding has them */
        const AldFindingRow *finding;
        const AldHistoryEvent *times; /* when it began and ended; NULL: unknown */
        const AldSilenceRow *silence; /* NULL: it is not silent */
        AldFindingTime format_time;   /* for people; NULL: in UTC, as for other programs */
        uint64_t now_usec;            /* CLOCK_REALTIME; only with `times` */
} AldFindingListRow;

typedef enum AldFindingColumn {
        ALD_FINDING_COLUMN_ID,
        ALD_FINDING_COLUMN_SEVERITY,
        ALD_FINDING_COLUMN_NODES,
        ALD_FINDING_COLUMN_TEXT,
        ALD_FINDING_COLUMN_REMEDY,
        ALD_FINDING_COLUMN_BEGAN,
        ALD_FINDING_COLUMN_ENDED,
        ALD_FINDING_COLUMN_LASTED,
        ALD_FINDING_COLUMN_SILENCED,
        ALD_FINDING_COLUMN_REPORTER,
        ALD_FINDING_COLUMN_LEFT_OUT,
        ALD_FINDING_N_COLUMNS,
} AldFindingColumn;

/* Rows are AldFindingListRow. */
extern const AldListColumn ald_finding_columns[ALD_FINDING_N_COLUMNS];
extern const AldColumnList ald_finding_column_list;

/* Returns an AldFindingListRow for each of ald_findings_sorted(), with times in this form. Findings that one
 * of `silences` (AldSilenceRow; may be NULL) covers are silent. */
GArray *ald_finding_list_rows(
        AldModel *model, const char *node_id, const GPtrArray *silences, AldFindingTime format_time);
