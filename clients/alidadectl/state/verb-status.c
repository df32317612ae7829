/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "state-client/model-json.h"

#define LINKS_MAX 8u

static int print_as_json(const AldCtl *ctl, AldModel *model, const AldEntity *node)
{
        const char *id = node ? node->id : ald_model_node_id(model);
        json_t *object = json_object();
        int r;

        if (id)
                json_object_set_new(object, "NodeId", json_string(id));
        json_object_set(object, "Totals", ald_model_totals_json(model));
        json_object_set_new(object, "Node", node ? ald_entity_to_json(node) : json_object());
        json_object_set(object, "Findings", ald_model_findings_json(model));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, const AldEntity *node)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        double now = ald_now();

        if (node) {
                ald_describe_node(out, model, node, info.columns, now);
                ald_describe_links(out, model, node, info.columns, LINKS_MAX, now);
        } else
                g_string_append(out, "This machine has not reported anything yet.\n");
        g_string_append_c(out, '\n');
        ald_describe_cluster(out, model, info.columns);
        ald_describe_brokerless(out, model, info.columns);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_status(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        const AldEntity *node;
        int r;

        session.with_edges = !ctl->json;
        session.with_history = true;
        r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        node = ald_model_get(session.model, ald_model_node_id(session.model));
        if (ctl->args[0])
                r = ald_session_find_node(&session, ctl->args[0], &node);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, node) : print_as_text(ctl, session.model, node);
}
