/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/column.h"
#include "record/figure-text.h"

char *ald_list_column_text(const AldListColumn *column, const void *row)
{
        char *text = column->text     ? column->text(row)
                     : column->format ? column->format(column->number(row))
                                      : ald_format_figure(ald_unit_of_name(column->key), column->number(row));

        return text ?: g_strdup(ALD_ABSENT_TEXT);
}

AldTone ald_share_tone(double share)
{
        if (isnan(share))
                return ALD_TONE_PLAIN;
        return share < ALD_SHARE_NEARLY_FULL ? ALD_TONE_GOOD : ALD_TONE_WARNING;
}
