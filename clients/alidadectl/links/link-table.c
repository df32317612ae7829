/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/command-line/terminal-text.h"

int ald_link_table_choose(const AldCtl *ctl, AldColumnChoice *choice)
{
        static const unsigned usual[] = { ALD_LINK_COLUMN_LINK, ALD_LINK_COLUMN_PROTOCOL,
                ALD_LINK_COLUMN_ADDRESS, ALD_LINK_COLUMN_TYPE, ALD_LINK_COLUMN_INTERFACE,
                ALD_LINK_COLUMN_UPLOAD, ALD_LINK_COLUMN_UPLOAD_INTERVAL, ALD_LINK_COLUMN_DOWNLOAD,
                ALD_LINK_COLUMN_DOWNLOAD_INTERVAL, ALD_LINK_COLUMN_RTT, ALD_LINK_COLUMN_JITTER,
                ALD_LINK_COLUMN_AGE, ALD_LINK_COLUMN_VERDICT };

        return ald_column_table_choose(ctl, &ald_link_column_list, usual, G_N_ELEMENTS(usual), choice);
}

AldTable *ald_link_table_new(const GPtrArray *links, guint n, unsigned columns, unsigned *floors)
{
        static const AldCtl no_options;
        g_auto(AldColumnChoice) choice = {};
        AldTable *table;

        (void) ald_link_table_choose(&no_options, &choice);
        table = ald_column_table_new(&choice);
        for (guint i = 0; i < n; i++)
                ald_column_table_add(table, &choice, links->pdata[i]);
        ald_table_layout(table, columns, floors);
        return table;
}

void ald_describe_links(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, unsigned max, double now_usec)
{
        g_autoptr(GPtrArray) links = ald_link_summaries(model, node, now_usec);
        guint shown = max > 0 ? MIN(links->len, max) : links->len;
        g_autoptr(AldTable) table = NULL;

        if (links->len == 0)
                return;
        g_string_append(out, "\n" ALD_STYLE_BOLD "Links" ALD_STYLE_NORMAL "\n");
        table = ald_link_table_new(links, shown, columns, NULL);
        ald_table_append(out, table);
        if (shown < links->len)
                g_string_append_printf(out, "… %u more\n", links->len - shown);
}
