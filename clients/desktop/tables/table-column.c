/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/desktop/tables/table-column.h"
#include "record/figure-text.h"

char *ald_data_column_text(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        char *text, *phrase;

        if (!column->column) {
                text = column->text ? column->text(item, cluster) : column->format(column->number(item));
                return text ?: g_strdup(ALD_ABSENT_TEXT);
        }
        text = ald_list_column_text(column->column, column->row(item, cluster));
        /* If the number is absent, the text may still show the total that it is a part of, without the
         * phrase. */
        if (!column->phrase || strcmp(text, ALD_ABSENT_TEXT) == 0 ||
                (ald_data_column_has_number(column) && isnan(ald_data_column_number(column, item, cluster))))
                return text;
        phrase = g_strdup_printf(_(column->phrase), text);
        g_free(text);
        return phrase;
}

bool ald_data_column_has_number(const AldDataColumn *column)
{
        return column->column ? !!column->column->number : !!column->number;
}

double ald_data_column_number(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        return column->column ? column->column->number(column->row(item, cluster)) : column->number(item);
}

double ald_data_column_level(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        return column->level->share(column->row(item, cluster));
}

bool ald_data_column_is_strong(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        return column->column && column->column->is_strong &&
               column->column->is_strong(column->row(item, cluster));
}

AldTone ald_data_column_tone(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        AldTone tone = column->column && column->column->tone && !column->symbol
                               ? column->column->tone(column->row(item, cluster))
                               : ALD_TONE_PLAIN;

        return tone == ALD_TONE_WARNING || tone == ALD_TONE_ERROR ? tone : ALD_TONE_PLAIN;
}

const char *ald_data_column_long_title(const AldDataColumn *column)
{
        return _(column->long_title ?: column->title);
}
