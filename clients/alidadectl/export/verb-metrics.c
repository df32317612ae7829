/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/open-metrics.h"

int ald_verb_metrics(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldMetricSet) set = NULL;
        GString *text;
        int r;

        if (ctl->json) {
                ald_print_error("metrics has no JSON; use nodes, links or findings with --json");
                return ALD_EXIT_USAGE;
        }
        r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        set = ald_open_metrics_new(session.model);
        text = ald_metric_set_write(set, ALD_METRIC_FORMAT_TEXT);
        fputs(text->str, stdout);
        g_string_free(text, TRUE);
        return ald_print_finish();
}
