/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/export/star-address.h"
#include "placement/plan/export-words.h"

int ald_export_check_client(const AldExportPlan *plan, char **ret_reason)
{
        return plan->plan->client
                       ? 0
                       : ald_export_fail(-ENODATA, ret_reason, "The plan is broken: it names no client");
}

int ald_export_server_address(const AldExportPlan *plan, guint stage, const char **ret, char **ret_reason)
{
        const AldPlanStageRow *row = &plan->stages[stage];
        const AldPlanHopRow *hop = ald_export_find_hop(plan, stage, plan->plan->client, row->node);

        if (hop && ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_RDMA))
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "The hop to %s is over RDMA, which the format cannot express",
                        ald_export_stage_name(row));
        if (!hop || !hop->sink_address)
                return ald_export_fail(-EINVAL, ret_reason,
                        "The address at which the client reaches %s is unknown", ald_export_stage_name(row));
        if (!ald_export_is_ipv4(hop->sink_address))
                return ald_export_fail(-EINVAL, ret_reason,
                        "The client reaches %s at %s; the format takes IPv4 addresses only",
                        ald_export_stage_name(row), hop->sink_address);
        *ret = hop->sink_address;
        return 0;
}
