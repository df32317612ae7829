/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"

GPtrArray *ald_findings_compute(AldStore *store, uint64_t now_realtime, bool clock_is_set)
{
        AldReport report;

        ald_report_begin(&report, store, now_realtime, clock_is_set);
        ald_find_in_nodes(&report);
        ald_find_in_presences(&report);
        ald_find_in_memberships(&report);
        ald_find_in_groups(&report);
        ald_find_in_links(&report);
        ald_find_in_rdma_ports(&report);
        ald_find_contested_hardware(&report);
        ald_find_bridge_loops(&report);
        return ald_report_end(&report);
}
