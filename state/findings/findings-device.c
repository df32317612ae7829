/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"
#include "state/planner/planner-path.h"

/* Compute devices that are never free to be measured. */

#define TIMES_TO_LIVE 3u /* that figures may be overdue */

/* A device without any figure is reported sooner. */
static bool waits_too_long(const AldComputeDevice *row, uint64_t now)
{
        uint64_t ttl = ald_planner_ttl(ALD_KIND_COMPUTE);
        uint64_t most = row->measured_usec == ALD_ABSENT_UINT64 ? ttl : TIMES_TO_LIVE * ttl;

        return row->waiting_since_usec != ALD_ABSENT_UINT64 && row->waiting_reason &&
               row->waiting_since_usec < now && now - row->waiting_since_usec > most;
}

static void find_never_free(
        AldReport *report, const AldNode *node, const AldBackend *backend, const AldComputeDevice *row)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;

        if (!waits_too_long(row, report->now_realtime) ||
                ald_report_full(report, ALD_FINDING_ROW_ID_DEVICE_NEVER_FREE))
                return;
        finding.device = backend->id;
        finding.device_name = backend->name;
        finding.measured_usec = row->measured_usec;
        finding.duration_usec = report->now_realtime - row->waiting_since_usec;
        finding.reason = row->waiting_reason;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_DEVICE_NEVER_FREE,
                &node->id, 1, &finding);
}

void ald_find_in_devices(AldReport *report, const AldNode *node)
{
        const AldBackends *backends = ald_record_as(
                ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends);
        const AldCompute *compute = ald_record_as(
                ald_node_record(node, ALD_KIND_COMPUTE), COMPUTE, AldCompute);

        for (size_t i = 0; backends && compute && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);
                const AldComputeDevice *row = ald_rows_find(&compute->devices, backend->id);

                if (row)
                        find_never_free(report, node, backend, row);
        }
}
