/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/state/describe.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"

int ald_verb_findings(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        json_t *object;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        if (!ctl->json) {
                ald_describe_findings(out, session.model, NULL, info.columns);
                return ald_print(ctl, &info, out->len > 0 ? out->str : "No findings.\n");
        }
        object = json_object();
        json_object_set(object, "Findings", ald_model_findings_json(session.model));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}
