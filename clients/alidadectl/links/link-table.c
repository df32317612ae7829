/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/text.h"

#define NARROW 60
#define WIDE 100

/* Priorities: what is dropped first on a narrow terminal. The two that stay fit into 20 columns. */
#define COLUMNS(link_least, address_least, verdict_least)                               \
        { "LINK", .least = link_least, .flexible = true }, { "PATH", .priority = 9 },   \
                { "ADDRESS", .least = address_least, .priority = 3, .flexible = true }, \
                { "TYPE", .priority = 7 }, { "INTERFACE", .priority = 10 },             \
                { "UP", .right = true, .least = 9, .priority = 1 },                     \
                { "±", .right = true, .least = 6, .priority = 6 },                      \
                { "DOWN", .right = true, .least = 9, .priority = 2 },                   \
                { "±", .right = true, .least = 6, .priority = 6 },                      \
                { "RTT/2", .right = true, .least = 7, .priority = 4 },                  \
                { "JITTER/2", .right = true, .least = 8, .priority = 8 },               \
                { "AGE", .right = true, .least = 8, .priority = 5 },                    \
        {                                                                               \
                "VERDICT", .least = verdict_least, .flexible = true                     \
        }

/* By how much room there is; what can be cut is cut as little as may be before a column goes. */
static const AldColumn narrow_columns[] = { COLUMNS(13, 10, 5) };
static const AldColumn medium_columns[] = { COLUMNS(16, 15, 9) };
static const AldColumn wide_columns[] = { COLUMNS(18, 15, 18) };

G_STATIC_ASSERT(G_N_ELEMENTS(wide_columns) == ALD_LINK_TABLE_COLUMNS);

static void add(AldTable *table, const AldLinkInfo *info)
{
        ald_table_add(table, g_strdup_printf("%s → %s", info->source, info->sink));
        ald_table_add(table, g_strdup(info->rdma ? "rdma" : "socket"));
        ald_table_add(table, g_strdup(info->path));
        ald_table_add(table, g_strdup(info->type ? info->type : ALD_ABSENT_TEXT));
        ald_table_add(table, g_strdup(info->interface ? info->interface : ALD_ABSENT_TEXT));
        ald_table_add(table, ald_format_bits_per_second(info->upload));
        ald_table_add(table, ald_link_interval_text(info->upload_interval));
        ald_table_add(table, ald_format_bits_per_second(info->download));
        ald_table_add(table, ald_link_interval_text(info->download_interval));
        ald_table_add(table, ald_format_nsec(info->rtt / 2));
        ald_table_add(table, ald_format_nsec(info->jitter / 2));
        ald_table_add(table, ald_format_age(info->measured, info->now));
        ald_table_add(table, ald_link_verdict_text(info));
}

AldTable *ald_link_table_new(const GPtrArray *infos, guint n, unsigned columns, unsigned *floors)
{
        const AldColumn *described = columns == 0 || columns >= WIDE ? wide_columns
                                     : columns < NARROW              ? narrow_columns
                                                                     : medium_columns;
        AldTable *table = ald_table_new(described, ALD_LINK_TABLE_COLUMNS);

        for (guint i = 0; i < n; i++)
                add(table, infos->pdata[i]);
        ald_table_layout(table, columns, floors);
        return table;
}

void ald_link_table_append(GString *out, const GPtrArray *infos, unsigned columns, unsigned max)
{
        guint shown = max > 0 ? MIN(infos->len, max) : infos->len;
        g_autoptr(AldTable) table = ald_link_table_new(infos, shown, columns, NULL);

        for (int row = -1; row < (int) ald_table_rows(table); row++) {
                g_autofree char *line = ald_table_line(table, row);

                g_string_append_printf(out, "%s\n", line);
        }
        if (shown < infos->len)
                g_string_append_printf(out, "… %u more\n", infos->len - shown);
}

void ald_link_describe(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, unsigned max, double now_usec)
{
        g_autoptr(GPtrArray) infos = ald_link_infos(model, node, now_usec);

        if (infos->len == 0)
                return;
        g_string_append(out, "\n" ALD_STYLE_BOLD "Links" ALD_STYLE_NORMAL "\n");
        ald_link_table_append(out, infos, columns, max);
}
