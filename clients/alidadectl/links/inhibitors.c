/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <string.h>

#include "clients/alidadectl/links/inhibitors.h"
#include "clients/command-line/fields.h"
#include "clients/command-line/table.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"

/* What stays fits into 20 columns. */
static const AldColumn columns_of_list[] = {
        { "WHO", .least = 9, .flexible = true },
        { "USER", .priority = 2 },
        { "PID", .right = true, .priority = 3 },
        { "LOCK", .right = true, .priority = 2 },
        { "WHAT", .priority = 1 },
        { "WHY", .least = 9, .flexible = true },
};

static int read_all(sd_bus_message *m, json_t *rows)
{
        const char *what, *who, *why;
        uint32_t uid, pid, number;
        int r = sd_bus_message_has_signature(m, "a(sssuuu)") > 0 ? 0 : -EBADMSG;

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(sssuuu)");
        while (r >= 0 && (r = sd_bus_message_read(m, "(sssuuu)", &what, &who, &why, &uid, &pid, &number)) > 0)
                if (json_array_size(rows) < ALD_INHIBITORS_SHOWN_MAX)
                        json_array_append_new(
                                rows, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "What", what, "Who", who,
                                              "Why", why, "Uid", (json_int_t) uid, "Pid", (json_int_t) pid,
                                              "Number", (json_int_t) number));
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_inhibitors_read(sd_bus *bus, json_t *rows, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_call_method(bus, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH, ALD_LINK_PROBE_INTERFACE,
                "ListInhibitors", error, &reply, "");
        if (r >= 0)
                r = read_all(reply, rows);
        if (r < 0)
                ald_bus_ensure_error(error, r);
        return r;
}

bool ald_inhibitor_holds(const json_t *row, const char *kind)
{
        const char *what = ald_field_text(row, "What");
        g_auto(GStrv) words = g_strsplit(what ? what : "", ":", -1);

        return g_strv_contains((const char *const *) words, kind);
}

static char *safe_field(const json_t *row, const char *name)
{
        const char *text = ald_field_text(row, name);

        return ald_text_safe(text && text[0] ? text : ALD_ABSENT_TEXT);
}

static char *user_of(const json_t *row, bool local)
{
        double uid = ald_field_number(row, "Uid");
        const struct passwd *user = local && uid >= 0 ? getpwuid((uid_t) uid) : NULL;

        return user ? ald_text_safe(user->pw_name) : ald_format_count(uid);
}

void ald_inhibitors_describe(GString *out, const json_t *rows, bool local, unsigned columns)
{
        g_autoptr(AldTable) table = ald_table_new(columns_of_list, G_N_ELEMENTS(columns_of_list));
        size_t i;
        json_t *row;

        json_array_foreach(rows, i, row) {
                ald_table_add(table, safe_field(row, "Who"));
                ald_table_add(table, user_of(row, local));
                ald_table_add(table, ald_format_count(ald_field_number(row, "Pid")));
                ald_table_add(table, ald_format_count(ald_field_number(row, "Number")));
                ald_table_add(table, safe_field(row, "What"));
                ald_table_add(table, safe_field(row, "Why"));
        }
        if (ald_table_rows(table) == 0) {
                g_string_append(out, "No inhibitors.\n");
                return;
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}
