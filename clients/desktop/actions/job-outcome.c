/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/probes/job-words.h"
#include "clients/desktop/actions/job-outcome.h"

char *ald_job_outcome(const AldProbeWords *words, const char *subject, const AldProbeJob *job, json_t *json)
{
        g_autofree char *reason = NULL;

        switch ((AldProbeJobState) ald_probe_job_state_from_string(job->state ?: "")) {
        case ALD_PROBE_JOB_STATE_DONE:
                return words->outcome(words, subject, json)
                               ?: g_strdup_printf(_("Cannot measure %s: %s"), subject,
                                          _("the result has no figures"));
        case ALD_PROBE_JOB_STATE_FAILED:
                reason = ald_job_reason(job->error);
                return g_strdup_printf(_("Cannot measure %s: %s"), subject, reason);
        default:
                return g_strdup_printf(_("The measurement of %s was canceled"), subject);
        }
}
