/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"

/* Finds figures of compute devices that other measurements contradict. */

static void find_in_figure(AldReport *report, const AldNode *node, const AldDoubt *doubt)
{
        const AldFindingRowSeverity severity = doubt->left_out == 1 ? ALD_FINDING_ROW_SEVERITY_WARNING
                                                                    : ALD_FINDING_ROW_SEVERITY_NOTICE;
        const AldFindingRowId id = ALD_FINDING_ROW_ID_DEVICE_RATE_IMPLAUSIBLE;
        const AldBackends *backends = ald_node_as(node, BACKENDS, AldBackends);
        const AldBackend *backend = backends ? ald_rows_find(&backends->devices, doubt->device) : NULL;
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autofree char *reference = NULL;
        const AldId *reporter;
        AldId peer;
        bool has_peer = doubt->peer && ald_id_parse(doubt->peer, &peer) >= 0;

        /* The reporter is the device's own node if its own limits are exceeded, or a single other node that
         * contradicts it; if several do, there is none. */
        reporter = !doubt->peer ? &node->id : has_peer && doubt->equal_nodes == 1 ? &peer : NULL;
        if (ald_report_full(report, severity, id, reporter, &node->id, 1))
                return;
        if (has_peer)
                row.reference_name = reference = ald_report_name(report, &peer);
        row.device = doubt->device;
        row.device_name = backend ? backend->name : NULL;
        row.field = doubt->field;
        row.problem = doubt->reason;
        row.tflops = doubt->tflops;
        row.limit_tflops = doubt->limit_tflops;
        row.bytes_per_second = doubt->bytes_per_second;
        row.limit_bytes_per_second = doubt->limit_bytes_per_second;
        row.equal_nodes = doubt->equal_nodes;
        ald_report_add(report, severity, id, reporter, &node->id, 1, &row);
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        const AldDoubts *doubts = ald_node_as(node, DOUBTS, AldDoubts);

        for (size_t i = 0; doubts && ald_node_counts(node) && i < doubts->figures.n; i++)
                find_in_figure(userdata, node, ald_rows_at(&doubts->figures, i));
        return FALSE;
}

void ald_find_doubted_figures(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_node, report);
}
