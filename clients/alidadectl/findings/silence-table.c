/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pwd.h>

#include "clients/alidadectl/findings/silence-table.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/table.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"

/* The columns that are never dropped fit into 40 columns of the terminal. */
static const AldColumn columns_of_silences[] = {
        { "NODE", .least = 9, .flexible = true },
        { "LINKS TO", .least = 9, .flexible = true },
        { "UNTIL", .priority = 1 },
        { "USER", .priority = 2 },
        { "REASON", .least = 9, .flexible = true },
};

static char *format_user(uint64_t uid, bool local)
{
        const struct passwd *user = local && uid <= UINT32_MAX ? getpwuid((uid_t) uid) : NULL;

        return user ? ald_text_safe(user->pw_name) : ald_format_count(ald_uint64_to_double(uid));
}

static char *format_node(AldModel *model, const char *id)
{
        return ald_node_name(model, id) ?: g_strdup("");
}

void ald_silence_table_append(
        GString *out, const GPtrArray *rows, AldModel *model, bool local, unsigned columns)
{
        g_autoptr(AldTable) table = ald_table_new(columns_of_silences, G_N_ELEMENTS(columns_of_silences));

        for (guint i = 0; i < rows->len; i++) {
                const AldSilenceRow *row = rows->pdata[i];

                ald_table_add(table, format_node(model, row->node));
                ald_table_add(table, format_node(model, row->peer));
                ald_table_add(table, row->until_usec == ALD_ABSENT_UINT64 ? g_strdup("further notice")
                                                                          : ald_event_time(row->until_usec));
                ald_table_add(table, format_user(row->uid, local));
                ald_table_add(table, ald_text_safe(row->reason ?: ""));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}
