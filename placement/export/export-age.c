/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/export/export-age.h"
#include "record/figure-text.h"

/* Clocks of nodes differ a little; a figure from further in the future has no known age. */
#define FUTURE_USEC_MAX (UINT64_C(600) * 1000 * 1000)

static int check_age(const AldExportPlan *plan, uint64_t usec, uint64_t usec_max, const char *what,
        const char *of, char **ret_reason)
{
        uint64_t now = plan->options->now_usec;
        g_autofree char *age = NULL, *most = NULL;

        if (usec == ALD_ABSENT_UINT64)
                return ald_export_fail(
                        -ESTALE, ret_reason, "It is unknown when the %s of %s was measured", what, of);
        if (usec > now + FUTURE_USEC_MAX)
                return ald_export_fail(-ESTALE, ret_reason,
                        "The %s of %s was measured in the future, by the clock of this machine", what, of);
        if (usec > now || now - usec <= usec_max)
                return 0;
        age = ald_format_duration((double) (now - usec));
        most = ald_format_duration((double) usec_max);
        return ald_export_fail(
                -ESTALE, ret_reason, "The %s of %s is from %s ago, more than %s", what, of, age, most);
}

static int check_stage_ages(const AldExportPlan *plan, char **ret_reason)
{
        int r = 0;

        for (guint i = 0; i < plan->n_stages && r >= 0 && ald_export_has_layers(plan); i++) {
                const AldPlanStageRow *stage = &plan->stages[i];
                g_autofree char *of = g_strdup_printf(
                        "%s on %s", stage->device, ald_export_stage_name(stage));

                if (stage->flags && g_strv_contains(stage->flags, "busy"))
                        return ald_export_fail(
                                -ESTALE, ret_reason, "The speed of %s was measured beside other work", of);
                r = check_age(plan, stage->measured_usec, ALD_EXPORT_RATE_USEC_MAX, "speed", of, ret_reason);
                if (r >= 0)
                        r = check_age(plan, stage->free_usec, ALD_EXPORT_FREE_USEC_MAX, "free memory", of,
                                ret_reason);
        }
        return r;
}

static int check_hop(const AldExportPlan *plan, const AldPlanHopRow *hop, char **ret_reason)
{
        g_autofree char *of = g_strdup_printf(
                "%s → %s", hop->source_name ?: hop->source, hop->sink_name ?: hop->sink);
        int r;

        if (ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_INNER))
                return 0;
        if (ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_ASSUMED))
                return ald_export_fail(-ENOKEY, ret_reason, "The path %s was assumed, never measured", of);
        r = check_age(plan, hop->measured_usec, ALD_EXPORT_RATE_USEC_MAX, "rate", of, ret_reason);
        if (r < 0 || hop->rtt_measured_usec == ALD_ABSENT_UINT64)
                return r;
        return check_age(
                plan, hop->rtt_measured_usec, ALD_EXPORT_RATE_USEC_MAX, "round trip", of, ret_reason);
}

/* Returns whether the plan contains measured figures; a ring of ranks within one node does not. */
static bool has_figures(const AldExportPlan *plan)
{
        const GArray *hops = plan->report->hops;

        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0 && !ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_INNER))
                        return true;
        }
        return ald_export_has_layers(plan);
}

int ald_export_check_figures(const AldExportPlan *plan, char **ret_reason)
{
        const GArray *hops = plan->report->hops;
        int r = 0;

        for (guint i = 0; i < hops->len && r >= 0; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0)
                        r = check_hop(plan, hop, ret_reason);
        }
        if (r >= 0 && plan->plan->unmeasured != ALD_ABSENT_UINT64 && plan->plan->unmeasured > 0)
                r = ald_export_fail(-ENOKEY, ret_reason, "The plan assumes paths that were never measured");
        if (r >= 0)
                r = check_stage_ages(plan, ret_reason);
        if (r >= 0 && has_figures(plan))
                r = check_age(plan, plan->plan->oldest_usec, ALD_EXPORT_RATE_USEC_MAX, "oldest figure",
                        "the plan", ret_reason);
        return r;
}
