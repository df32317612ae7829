/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "clients/common/shown-series.h"

/* A row of the list of figures over time. Values are scaled for people: the recorded values times
 * AldShownSeries.scale; NaN if unknown. */
typedef struct AldSeriesRow {
        AldModel *model;
        const AldShownSeries *series;
        double least, mean, greatest, last;
        double count; /* number of samples or measurements */
} AldSeriesRow;

typedef enum AldSeriesColumn {
        ALD_SERIES_COLUMN_FIGURE,
        ALD_SERIES_COLUMN_OF,
        ALD_SERIES_COLUMN_MIN,
        ALD_SERIES_COLUMN_MEAN,
        ALD_SERIES_COLUMN_MAX,
        ALD_SERIES_COLUMN_LAST,
        ALD_SERIES_COLUMN_COUNT,
        ALD_SERIES_COLUMN_NODE,
        ALD_SERIES_COLUMN_KIND,
        ALD_SERIES_COLUMN_KEY,
        ALD_SERIES_COLUMN_FIELD,
        ALD_SERIES_COLUMN_UNIT,
        ALD_SERIES_N_COLUMNS,
} AldSeriesColumn;

/* Rows are AldSeriesRow. */
extern const AldListColumn ald_series_columns[ALD_SERIES_N_COLUMNS];
extern const AldColumnList ald_series_column_list;
