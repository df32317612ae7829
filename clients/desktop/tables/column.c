/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/safe-text.h"
#include "clients/desktop/tables/column.h"

char *ald_data_column_text(const AldDataColumn *column, gpointer item, AldLiveCluster *cluster)
{
        char *text = column->text ? column->text(item, cluster) : column->format(column->number(item));

        return text ?: g_strdup(ALD_ABSENT_TEXT);
}

const char *ald_data_column_long_title(const AldDataColumn *column)
{
        return _(column->long_title ?: column->title);
}
