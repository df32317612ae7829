/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/columns/series-columns.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

static const AldShownSeries *series_of(const void *row)
{
        return ((const AldSeriesRow *) row)->series;
}

/* These columns identify the figure. */

static char *figure_text(const void *row)
{
        return g_strdup(series_of(row)->label);
}

static char *node_text(const void *row)
{
        return ald_node_name(((const AldSeriesRow *) row)->model, series_of(row)->node);
}

static char *node_plain(const void *row)
{
        return ald_text_safe(series_of(row)->node);
}

static char *of_text(const void *row)
{
        return series_of(row)->group ? g_strdup(series_of(row)->group) : node_text(row);
}

static char *kind_text(const void *row)
{
        return g_strdup(ald_kinds[series_of(row)->kind].name);
}

static char *key_text(const void *row)
{
        return *series_of(row)->key ? ald_text_safe(series_of(row)->key) : NULL;
}

static char *field_text(const void *row)
{
        return ald_text_safe(series_of(row)->field);
}

static char *unit_text(const void *row)
{
        return g_strdup(ald_shown_series_unit(series_of(row)));
}

/* These columns have its values; as numbers, they are in the unit of the field. */

static char *format_value(const void *row, double value)
{
        return ald_format_figure(series_of(row)->number->unit, value);
}

static char *min_text(const void *row)
{
        return format_value(row, ((const AldSeriesRow *) row)->least);
}

static double min_number(const void *row)
{
        return ((const AldSeriesRow *) row)->least / series_of(row)->scale;
}

static char *mean_text(const void *row)
{
        return format_value(row, ((const AldSeriesRow *) row)->mean);
}

static double mean_number(const void *row)
{
        return ((const AldSeriesRow *) row)->mean / series_of(row)->scale;
}

static char *max_text(const void *row)
{
        return format_value(row, ((const AldSeriesRow *) row)->greatest);
}

static double max_number(const void *row)
{
        return ((const AldSeriesRow *) row)->greatest / series_of(row)->scale;
}

static char *last_text(const void *row)
{
        return format_value(row, ((const AldSeriesRow *) row)->last);
}

static double last_number(const void *row)
{
        return ((const AldSeriesRow *) row)->last / series_of(row)->scale;
}

static double count_number(const void *row)
{
        return ((const AldSeriesRow *) row)->count;
}

const AldListColumn ald_series_columns[ALD_SERIES_N_COLUMNS] = {
        [ALD_SERIES_COLUMN_FIGURE] = { .id = "figure",
                .key = "Figure",
                .heading = "FIGURE",
                .title = N_("Figure"),
                .description = N_("The name of the figure for people"),
                .least = 8,
                .text = figure_text },
        [ALD_SERIES_COLUMN_OF] = { .id = "of",
                .key = "Of",
                .heading = "OF",
                .title = N_("Of"),
                .description = N_("The node, device or link that it is a figure of"),
                .flexible = true,
                .least = 12,
                .priority = 1,
                .text = of_text },
        [ALD_SERIES_COLUMN_MIN] = { .id = "min",
                .key = "Min",
                .heading = "MIN",
                .title = N_("Least"),
                .description = N_("The least value"),
                .is_number = true,
                .least = 9,
                .priority = 3,
                .text = min_text,
                .number = min_number },
        [ALD_SERIES_COLUMN_MEAN] = { .id = "mean",
                .key = "Mean",
                .heading = "MEAN",
                .title = N_("Mean"),
                .description = N_("The mean; of what is measured rarely, that of the measurements"),
                .is_number = true,
                .least = 9,
                .priority = 1,
                .text = mean_text,
                .number = mean_number },
        [ALD_SERIES_COLUMN_MAX] = { .id = "max",
                .key = "Max",
                .heading = "MAX",
                .title = N_("Greatest"),
                .description = N_("The greatest value"),
                .is_number = true,
                .least = 9,
                .priority = 3,
                .text = max_text,
                .number = max_number },
        [ALD_SERIES_COLUMN_LAST] = { .id = "last",
                .key = "Last",
                .heading = "LAST",
                .title = N_("Last"),
                .description = N_("The last known value"),
                .is_number = true,
                .least = 9,
                .priority = 2,
                .text = last_text,
                .number = last_number },
        [ALD_SERIES_COLUMN_COUNT] = { .id = "count",
                .key = "Count",
                .heading = "COUNT",
                .title = N_("Count"),
                .description = N_("The number of known values"),
                .is_number = true,
                .least = 6,
                .priority = 4,
                .number = count_number },
        [ALD_SERIES_COLUMN_NODE] = { .id = "node",
                .key = "Node",
                .heading = "NODE",
                .title = N_("Node"),
                .description = N_("The node that has measured it; in JSON and CSV, its id"),
                .flexible = true,
                .least = 12,
                .priority = 5,
                .text = node_text,
                .plain = node_plain },
        [ALD_SERIES_COLUMN_KIND] = { .id = "kind",
                .key = "Kind",
                .heading = "KIND",
                .title = N_("Kind"),
                .description = N_("The kind of the record that has it"),
                .least = 12,
                .priority = 6,
                .text = kind_text },
        [ALD_SERIES_COLUMN_KEY] = { .id = "key",
                .key = "Key",
                .heading = "KEY",
                .title = N_("Key"),
                .description = N_("The key of the record of a link"),
                .flexible = true,
                .least = 12,
                .priority = 9,
                .text = key_text },
        [ALD_SERIES_COLUMN_FIELD] = { .id = "field",
                .key = "Field",
                .heading = "FIELD",
                .title = N_("Field"),
                .description = N_("The name of the field, as the interfaces have it"),
                .flexible = true,
                .least = 12,
                .priority = 7,
                .text = field_text },
        [ALD_SERIES_COLUMN_UNIT] = { .id = "unit",
                .key = "Unit",
                .heading = "UNIT",
                .title = N_("Unit"),
                .description = N_("The unit of the field, which the values have in JSON and CSV"),
                .least = 8,
                .priority = 8,
                .text = unit_text },
};

const AldColumnList ald_series_column_list = {
        .name = "history", .columns = ald_series_columns, .n_columns = ALD_SERIES_N_COLUMNS
};
