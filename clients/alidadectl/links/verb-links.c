/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "state-client/model-json.h"

static int print_as_json(const AldCtl *ctl, AldModel *model, const AldEntity *node)
{
        g_autoptr(GPtrArray) links = ald_links_of(model, node);
        json_t *object = json_object();
        int r;

        json_object_set_new(object, "Names", ald_model_names_to_json(model));
        json_object_set_new(object, "Links", ald_entities_to_json(links));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, const AldEntity *node)
{
        g_autoptr(GPtrArray) links = ald_link_summaries(model, node, ald_now());
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        if (links->len == 0)
                return ald_print(ctl, &info, "No link has been measured yet.\n");
        ald_link_table_append(out, links, info.columns, 0);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_links(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        const AldEntity *node = NULL;
        int r;

        session.with_edges = !ctl->json;
        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK && ctl->args[0])
                r = ald_session_find_node(&session, ctl->args[0], &node);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, node) : print_as_text(ctl, session.model, node);
}
