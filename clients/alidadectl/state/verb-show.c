/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/node-summary.h"
#include "state-client/model-json.h"

static int print_as_json(const AldCtl *ctl, AldModel *model, const AldEntity *node)
{
        g_autoptr(GPtrArray) links = ald_links_of(model, node);
        json_t *object = json_object();
        int r;

        json_object_set_new(object, "NodeId", json_string(node->id));
        json_object_set_new(object, "Node", ald_entity_to_json(node));
        json_object_set_new(object, "Links", ald_entities_to_json(links));
        json_object_set_new(object, "Findings", ald_findings_of(model, node->id));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

/* Returns the source of a link, which measured it. The id of a link begins with that of its source. */
static const AldEntity *find_source(AldModel *model, const AldEntity *link)
{
        g_autofree char *id = g_strndup(link->id, strcspn(link->id, "/"));

        return ald_model_get(model, id);
}

static int print_as_text(const AldCtl *ctl, const AldStateSession *session, const AldEntity *node)
{
        AldModel *model = session->model;
        g_autoptr(GPtrArray) links = ald_links_of(model, node);
        g_autoptr(GArray) rows = ald_finding_list_rows(model, node->id, session->silences, ald_event_time);
        g_autoptr(GString) out = g_string_new(NULL), findings = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        double now = ald_now();

        ald_describe_node(out, model, node, info.columns, now);
        ald_describe_links(out, model, node, info.columns, 0, now);
        ald_describe_records(out, node, node, info.columns, now);
        for (guint i = 0; i < links->len; i++) {
                const AldEntity *link = links->pdata[i];
                g_autofree char *label = ald_entity_label(link);

                g_string_append(out, "\nLink ");
                ald_text_wrap(out, label, info.columns, 5);
                ald_describe_records(out, link, find_source(model, link), info.columns, now);
        }
        ald_describe_findings(findings, rows, info.columns);
        if (findings->len > 0)
                g_string_append_printf(
                        out, "\n" ALD_STYLE_BOLD "Findings" ALD_STYLE_NORMAL "\n%s", findings->str);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_show(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        const AldEntity *node;
        int r;

        session.with_edges = !ctl->json;
        session.with_history = true;
        r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_session_find_node(&session, ctl->args[0], &node);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, node) : print_as_text(ctl, &session, node);
}
