/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "clients/alidadectl/verbs.h"
#include "clients/alidadectl/view.h"
#include "clients/alidadectl/watch/watch.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "state-client/model-json.h"

static int print_lines(const AldCtl *ctl, AldModel *model)
{
        AldStyleInfo info = ald_style_info();
        AldView view = {
                .model = model, .now_usec = ald_now(), .columns = info.columns > 0 ? info.columns : 80
        };
        g_autoptr(GPtrArray) lines = ald_view_lines(&view);
        g_autoptr(GString) out = g_string_new(NULL);
        AldCtl unpaged = *ctl;

        unpaged.pager = false;
        for (guint i = 0; i < lines->len; i++)
                g_string_append_printf(out, "%s\n", (const char *) lines->pdata[i]);
        return ald_print(&unpaged, &info, out->str);
}

static int print_once(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        json_t *object;
        int r;

        r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        if (!ctl->json)
                return print_lines(ctl, session.model);
        object = ald_model_to_json(session.model);
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

int ald_verb_watch(const AldCtl *ctl)
{
        if (ctl->once)
                return print_once(ctl);
        if (ctl->json) {
                ald_complain("watch --json needs --once; monitor --json follows the changes");
                return ALD_EXIT_USAGE;
        }
        return ald_watch_run(ctl);
}
