/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/state/node-table.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/node-summary.h"
#include "state-client/model-json.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD replaces unsafe characters */

static int print_as_json(const AldCtl *ctl, AldModel *model)
{
        json_t *object = json_object();
        int r;

        json_object_set_new(object, "Nodes", ald_entities_to_json(ald_model_nodes(model)));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(
        const AldCtl *ctl, AldModel *model, const AldColumnChoice *choice, const GArray *rows)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        ald_column_table_append(out, choice, rows, info.columns);
        ald_describe_brokerless(out, model, info.columns);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_nodes(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_auto(AldColumnChoice) choice = {};
        g_autoptr(GArray) rows = NULL;
        int r;

        r = ald_node_table_choose(ctl, ALD_NODE_TABLE_LIST, &choice);
        if (r < 0)
                r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK || !choice.shown)
                return r;
        rows = ald_node_table_rows(session.model, 0, ald_model_nodes(session.model)->len, ald_now());
        r = ald_column_table_sort(ctl, &ald_node_column_list, rows);
        if (r >= 0)
                return r;
        if (ald_column_table_is_exported(ctl))
                return ald_column_table_export(ctl, "Nodes", &choice, rows);
        return ctl->json ? print_as_json(ctl, session.model)
                         : print_as_text(ctl, session.model, &choice, rows);
}

/* Returns a word that `show` accepts for a node: its name if that is plain text and unique, else its id. */
static char *name_for_show(AldModel *model, const AldEntity *node)
{
        g_autoptr(GPtrArray) others = g_ptr_array_new();
        g_autofree char *label = ald_entity_label(node);
        const AldEntity *found;

        return label[0] != '-' && !strstr(label, REPLACEMENT) &&
                               ald_model_find(model, label, &found, others) == 0
                       ? g_steal_pointer(&label)
                       : g_strdup(node->id);
}

/* Prints the names for shell completion, one per line. */
int ald_verb_names(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        const GPtrArray *nodes;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        nodes = ald_model_nodes(session.model);
        for (guint i = 0; i < nodes->len; i++) {
                g_autofree char *name = name_for_show(session.model, nodes->pdata[i]);

                puts(name);
        }
        return ald_print_finish();
}
