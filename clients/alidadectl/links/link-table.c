/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"

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

static char *format_verdict(const AldLinkSummary *link)
{
        AldTone tone;
        g_autofree char *words = ald_link_verdict_words(link, &tone);

        return ald_text_toned(tone, words);
}

static void add(AldTable *table, const AldLinkSummary *link)
{
        ald_table_add(table, g_strdup_printf("%s → %s", link->source, link->sink));
        ald_table_add(table, g_strdup(link->rdma ? "rdma" : "socket"));
        ald_table_add(table, g_strdup(link->path));
        ald_table_add(table, g_strdup(link->type ? link->type : ALD_ABSENT_TEXT));
        ald_table_add(table, g_strdup(link->interface ? link->interface : ALD_ABSENT_TEXT));
        ald_table_add(table, ald_format_bits_per_second(link->upload.rate));
        ald_table_add(table, ald_format_interval(link->upload.interval));
        ald_table_add(table, ald_format_bits_per_second(link->download.rate));
        ald_table_add(table, ald_format_interval(link->download.interval));
        ald_table_add(table, ald_format_nsec(link->rtt / 2));
        ald_table_add(table, ald_format_nsec(link->jitter / 2));
        ald_table_add(table, ald_format_age(link->measured, link->now));
        ald_table_add(table, format_verdict(link));
}

AldTable *ald_link_table_new(const GPtrArray *links, guint n, unsigned columns, unsigned *floors)
{
        const AldColumn *described = columns == 0 || columns >= WIDE ? wide_columns
                                     : columns < NARROW              ? narrow_columns
                                                                     : medium_columns;
        AldTable *table = ald_table_new(described, ALD_LINK_TABLE_COLUMNS);

        for (guint i = 0; i < n; i++)
                add(table, links->pdata[i]);
        ald_table_layout(table, columns, floors);
        return table;
}

void ald_link_table_append(GString *out, const GPtrArray *links, unsigned columns, unsigned max)
{
        guint shown = max > 0 ? MIN(links->len, max) : links->len;
        g_autoptr(AldTable) table = ald_link_table_new(links, shown, columns, NULL);

        ald_table_append(out, table);
        if (shown < links->len)
                g_string_append_printf(out, "… %u more\n", links->len - shown);
}

void ald_link_describe(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, unsigned max, double now_usec)
{
        g_autoptr(GPtrArray) links = ald_link_summaries(model, node, now_usec);

        if (links->len == 0)
                return;
        g_string_append(out, "\n" ALD_STYLE_BOLD "Links" ALD_STYLE_NORMAL "\n");
        ald_link_table_append(out, links, columns, max);
}
