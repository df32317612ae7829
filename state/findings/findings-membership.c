/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"

/* What nodes report about their membership in the cluster: certificates that expire, and what brokers refuse.
 */

#define SOON_USEC (UINT64_C(30) * 24 * 3600 * G_USEC_PER_SEC)

static bool is_soon(const AldReport *report, uint64_t end)
{
        return end != ALD_ABSENT_UINT64 && report->clock_is_set &&
               (end < report->now_realtime || end - report->now_realtime <= SOON_USEC);
}

static bool has_ended(const AldReport *report, uint64_t end)
{
        return is_soon(report, end) && end <= report->now_realtime;
}

static void find_expiry(
        AldReport *report, const AldNode *node, uint64_t end, AldFindingRowId id, const char *cluster_name)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        bool ended = has_ended(report, end);

        if (!is_soon(report, end) || ald_report_full(report, id))
                return;
        row.cluster_name = cluster_name;
        row.remaining_usec = ended ? 0 : end - report->now_realtime;
        ald_report_add(report, ended ? ALD_FINDING_ROW_SEVERITY_ERROR : ALD_FINDING_ROW_SEVERITY_WARNING, id,
                &node->id, 1, &row);
}

static void find_refused(AldReport *report, const AldNode *host, const AldRefusedPublisher *row)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;
        AldId nodes[2] = { host->id, host->id };

        if (ald_id_parse(row->id, &nodes[0]) < 0 || row->refused_messages == ALD_ABSENT_UINT64 ||
                row->kept_bytes == ALD_ABSENT_UINT64 ||
                ald_report_full(report, ALD_FINDING_ROW_ID_BROKER_REFUSES_NODE))
                return;
        finding.kept_bytes = row->kept_bytes;
        finding.refused_messages = row->refused_messages;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_BROKER_REFUSES_NODE,
                nodes, 2, &finding);
}

/* An expired certificate is reported for an offline node, too, since it may be the reason. */
static gboolean find_in_node(AldNode *node, void *userdata)
{
        AldReport *report = userdata;
        const AldMembership *membership = ald_record_as(
                ald_node_record(node, ALD_KIND_MEMBERSHIP), MEMBERSHIP, AldMembership);

        if (!membership)
                return FALSE;
        if (ald_node_counts(node) || has_ended(report, membership->certificate_expiry_usec))
                find_expiry(report, node, membership->certificate_expiry_usec,
                        ALD_FINDING_ROW_ID_CERTIFICATE_EXPIRES, NULL);
        if (!ald_node_counts(node))
                return FALSE;
        find_expiry(report, node, membership->broker_expiry_usec,
                ALD_FINDING_ROW_ID_BROKER_CERTIFICATE_EXPIRES, NULL);
        find_expiry(report, node, membership->bridge_expiry_usec,
                ALD_FINDING_ROW_ID_BRIDGE_CERTIFICATE_EXPIRES, NULL);
        /* All nodes of the cluster have the same authority, so this machine reports it for all. */
        if (node->local)
                find_expiry(report, node, membership->authority_expiry_usec,
                        ALD_FINDING_ROW_ID_AUTHORITY_CERTIFICATE_EXPIRES, membership->cluster_name);
        for (size_t i = 0; i < membership->refused_publishers.n; i++)
                find_refused(report, node, ald_rows_at(&membership->refused_publishers, i));
        return FALSE;
}

void ald_find_in_memberships(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_node, report);
}
