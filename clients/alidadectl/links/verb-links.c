/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/node-summary.h"
#include "state-client/model-json.h"

/* The choice of links: those between both nodes; without a peer, all links of the node; without a node, all
 * links. */
typedef struct LinkChoice {
        const AldEntity *node, *peer;
} LinkChoice;

static int print_as_json(const AldCtl *ctl, AldModel *model, const LinkChoice *choice)
{
        g_autoptr(GPtrArray) links = ald_links_of(model, choice->node);
        g_autoptr(GPtrArray) of_peer = ald_links_of(model, choice->peer);
        json_t *object = json_object();
        int r;

        for (guint i = links->len; choice->peer && i-- > 0;)
                if (!g_ptr_array_find(of_peer, links->pdata[i], NULL))
                        g_ptr_array_remove_index(links, i);
        json_object_set_new(object, "Names", ald_model_names_to_json(model));
        json_object_set_new(object, "Links", ald_entities_to_json(links));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static GPtrArray *find_summaries(AldModel *model, const LinkChoice *choice)
{
        GPtrArray *links = ald_link_summaries(model, choice->node, ald_now());

        for (guint i = links->len; choice->peer && i-- > 0;) {
                const AldLinkSummary *link = links->pdata[i];

                if (g_strcmp0(link->source_id, choice->peer->id) != 0 &&
                        g_strcmp0(link->sink_id, choice->peer->id) != 0)
                        g_ptr_array_remove_index(links, i);
        }
        return links;
}

static void append_none(GString *out, const LinkChoice *choice)
{
        g_autofree char *node = choice->node ? ald_entity_label(choice->node) : NULL;
        g_autofree char *peer = choice->peer ? ald_entity_label(choice->peer) : NULL;

        if (peer)
                g_string_append_printf(out, "No link between %s and %s has been measured yet.\n", node, peer);
        else
                g_string_append(out, "No link has been measured yet.\n");
}

static int print_rows(
        const AldCtl *ctl, AldModel *model, const LinkChoice *choice, const AldColumnChoice *columns)
{
        g_autoptr(GPtrArray) links = find_summaries(model, choice);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldLinkSummary));
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        int r;

        for (guint i = 0; i < links->len; i++)
                g_array_append_vals(rows, links->pdata[i], 1);
        r = ald_column_table_sort(ctl, &ald_link_column_list, rows);
        if (r >= 0)
                return r;
        if (ald_column_table_is_exported(ctl))
                return ald_column_table_export(ctl, "Links", columns, rows);
        if (links->len == 0)
                append_none(out, choice);
        else
                ald_column_table_append(out, columns, rows, info.columns);
        return ald_print(ctl, &info, out->str);
}

static int find_nodes(const AldCtl *ctl, AldStateSession *session, LinkChoice *choice)
{
        int r = ctl->args[0] ? ald_session_find_node(session, ctl->args[0], &choice->node) : ALD_EXIT_OK;

        if (r == ALD_EXIT_OK && ctl->args[0] && ctl->args[1])
                r = ald_session_find_node(session, ctl->args[1], &choice->peer);
        if (r != ALD_EXIT_OK || !choice->peer || choice->node != choice->peer)
                return r;
        ald_print_error("A link joins two different nodes");
        return ALD_EXIT_USAGE;
}

int ald_verb_links(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_auto(AldColumnChoice) columns = {};
        LinkChoice choice = { NULL, NULL };
        bool records = ctl->json && !ald_column_table_is_exported(ctl);
        int r;

        r = ald_link_table_choose(ctl, &columns);
        if (r >= 0)
                return r;
        session.with_edges = !records;
        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK)
                r = find_nodes(ctl, &session, &choice);
        if (r != ALD_EXIT_OK)
                return r;
        return records ? print_as_json(ctl, session.model, &choice)
                       : print_rows(ctl, session.model, &choice, &columns);
}
