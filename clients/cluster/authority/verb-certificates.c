/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/command.h"
#include "clients/command-line/print.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"

static const AldColumn columns[] = {
        { "NAME", .least = 9, .flexible = true },
        { "FOR", .priority = 2 },
        { "ID", .priority = 3 },
        { "SERIAL", .priority = 4 },
        { "UNTIL", .priority = 1 },
        { "STATE" },
};

static const char *purpose_of(const AldIssued *issued)
{
        return issued->is_broker ? "broker" : issued->node[0] ? "node" : "bridge";
}

static bool is_revoked(const AldAuthority *authority, const AldIssued *issued)
{
        return ald_pki_crl_contains(authority->crl, issued->facts.serial);
}

/* Compares by the name of the node, then by its id; of each, the newest comes last. */
static gint compare_issued(gconstpointer a, gconstpointer b, gpointer userdata)
{
        const AldIssued *left = *(const AldIssued *const *) a, *right = *(const AldIssued *const *) b;
        const AldAuthority *authority = userdata;
        int r = g_strcmp0(
                ald_authority_name(authority, left->node), ald_authority_name(authority, right->node));

        if (r == 0)
                r = strcmp(left->node, right->node);
        if (r == 0)
                r = strcmp(left->facts.common_name, right->facts.common_name);
        if (r == 0)
                r = (left->facts.not_after > right->facts.not_after) -
                    (left->facts.not_after < right->facts.not_after);
        return r != 0 ? r : strcmp(left->facts.serial, right->facts.serial);
}

static int print_as_json(const AldCtl *ctl, const AldAuthority *authority)
{
        json_t *rows = json_array(), *object = json_pack("{so}", "Certificates", rows);
        int r;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];
                const char *name = ald_authority_name(authority, issued->node);
                json_t *row = json_pack("{ss ss ss sI sI sb}", "For", purpose_of(issued), "CommonName",
                        issued->facts.common_name, "Serial", issued->facts.serial, "NotBeforeUSec",
                        (json_int_t) issued->facts.not_before, "NotAfterUSec",
                        (json_int_t) issued->facts.not_after, "Revoked", is_revoked(authority, issued));

                if (issued->node[0])
                        json_object_set_new(row, "Id", json_string(issued->node));
                if (name)
                        json_object_set_new(row, "Name", json_string(name));
                json_array_append_new(rows, row);
        }
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static char *format_state(const AldAuthority *authority, const AldIssued *issued)
{
        if (is_revoked(authority, issued))
                return g_strdup(ALD_STYLE_ERROR "revoked" ALD_STYLE_NORMAL);
        return g_strdup(ald_authority_is_valid(authority, issued) ? "valid"
                                                                  : ALD_STYLE_WARNING
                                "expired" ALD_STYLE_NORMAL);
}

static int print_as_text(const AldCtl *ctl, const AldAuthority *authority)
{
        g_autoptr(AldTable) table = ald_table_new(columns, G_N_ELEMENTS(columns));
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];
                const char *name = issued->node[0] ? ald_authority_name(authority, issued->node)
                                                   : issued->facts.common_name;

                ald_table_add(table, name ? ald_text_safe(name) : g_strdup(ALD_ABSENT_TEXT));
                ald_table_add(table, g_strdup(purpose_of(issued)));
                ald_table_add(table, g_strdup(issued->node[0] ? issued->node : ALD_ABSENT_TEXT));
                ald_table_add(table, g_strdup(issued->facts.serial));
                ald_table_add(table, ald_report_day(issued->facts.not_after));
                ald_table_add(table, format_state(authority, issued));
        }
        ald_table_layout(table, info.columns, NULL);
        ald_table_append(out, table);
        return ald_print(ctl, &info, out->str);
}

int ald_cluster_certificates(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        int r;

        if (geteuid() != 0) {
                ald_print_error("Only root can read what was signed here");
                return ALD_EXIT_DENIED;
        }
        r = ald_files_open(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = ald_authority_read(&files, &authority);
        if (r != ALD_EXIT_OK)
                return r;
        g_ptr_array_sort_with_data(authority.issued, compare_issued, &authority);
        return command->ctl.json ? print_as_json(&command->ctl, &authority)
                                 : print_as_text(&command->ctl, &authority);
}
