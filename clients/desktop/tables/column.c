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

const char *ald_tone_class(AldTone tone)
{
        switch (tone) {
        case ALD_TONE_PLAIN:
                return NULL;
        case ALD_TONE_FAINT:
                return "dim-label";
        case ALD_TONE_GOOD:
                return "success";
        case ALD_TONE_WARNING:
                return "warning";
        case ALD_TONE_ERROR:
                return "error";
        }
        g_assert_not_reached();
}
