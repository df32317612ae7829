/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/units.h"
#include "state/findings-report.h"

/* What nodes say of their membership in the cluster: certificates that end, and what brokers refuse. */

#define SOON_USEC (UINT64_C(30) * 24 * 3600 * G_USEC_PER_SEC)

/* One kind of certificate. */
typedef struct Certificate {
        const char *id;     /* of the finding */
        const char *what;   /* before the name of the node */
        const char *ended;  /* what that means */
        const char *manual; /* what else helps, before that name and after it */
        const char *manual_end;
} Certificate;

static const Certificate of_node = { "certificate-expires", "The certificate of",
        "no broker accepts it any more", "on",
        "run alidadectl cluster renew USER@HOST, where HOST is that machine, and there without it" };
static const Certificate of_broker = { "broker-certificate-expires", "The certificate of the broker on",
        "no node connects to it any more", "on",
        "run alidadectl cluster renew USER@HOST, where HOST is that machine, and there without it" };
static const Certificate of_bridge = { "bridge-certificate-expires", "The certificate of the bridge on",
        "it connects the sites no longer", "have a new one signed for",
        "by alidadectl cluster sign-bridge; see alidade-cluster(7)" };

static bool is_soon(const AldReport *report, uint64_t end)
{
        return end != ALD_ABSENT_UINT64 && report->clock_is_set &&
               (end < report->now_realtime || end - report->now_realtime <= SOON_USEC);
}

static bool has_ended(const AldReport *report, uint64_t end)
{
        return is_soon(report, end) && end <= report->now_realtime;
}

/* "… ends in 20 days." or "… has ended; …." */
static char *describe_end(const AldReport *report, const char *what, uint64_t end, const char *ended)
{
        g_autofree char *left = NULL;

        if (has_ended(report, end))
                return g_strdup_printf("%s has ended; %s.", what, ended);
        left = ald_units_duration(end - report->now_realtime);
        return g_strdup_printf("%s ends in %s.", what, left);
}

static AldSeverity severity_of(const AldReport *report, uint64_t end)
{
        return has_ended(report, end) ? ALD_SEVERITY_ERROR : ALD_SEVERITY_WARNING;
}

static void find_end(AldReport *report, const AldNode *node, uint64_t end, const Certificate *certificate)
{
        g_autofree char *name = NULL, *what = NULL;

        if (!is_soon(report, end) || ald_report_full(report, certificate->id))
                return;
        name = ald_report_name(report, &node->id);
        what = g_strdup_printf("%s %s", certificate->what, name);
        ald_report_add(report, severity_of(report, end), certificate->id, &node->id, 1,
                describe_end(report, what, end, certificate->ended),
                g_strdup_printf("Check that the machine where the cluster was begun is running, and that "
                                "alidade-cluster-renewal.timer is active on both; or %s %s %s.",
                        certificate->manual, name, certificate->manual_end));
}

/* All nodes of the cluster have the same, so this machine says it once. */
static void find_end_of_authority(AldReport *report, const AldNode *local, const AldMembership *membership)
{
        uint64_t end = membership->authority_expiry_usec;
        g_autofree char *what = NULL;

        if (!is_soon(report, end) || ald_report_full(report, "authority-certificate-expires"))
                return;
        what = g_strdup_printf(
                "The certificate of the authority of cluster %s", membership->cluster_name ?: "?");
        ald_report_add(report, severity_of(report, end), "authority-certificate-expires", &local->id, 1,
                describe_end(report, what, end, "no certificate of the cluster is valid any more"),
                g_strdup("It cannot be renewed: on each node run alidadectl cluster leave, then begin the "
                         "cluster anew on one and join it on the others."));
}

static void find_refused(AldReport *report, const AldNode *host, const AldRefusedPublisher *row)
{
        g_autofree char *name = NULL, *publisher = NULL, *kept = NULL;
        AldId nodes[2] = { host->id, host->id };

        if (ald_id_parse(row->id, &nodes[0]) < 0 || row->refused_messages == ALD_ABSENT_UINT64 ||
                row->kept_bytes == ALD_ABSENT_UINT64 || ald_report_full(report, "broker-refuses-node"))
                return;
        name = ald_report_name(report, &host->id);
        publisher = ald_report_name(report, &nodes[0]);
        kept = ald_units_bytes(row->kept_bytes);
        ald_report_add(report, ALD_SEVERITY_WARNING, "broker-refuses-node", nodes, 2,
                g_strdup_printf("The broker on %s refuses part of what %s publishes, as %s reports: it keeps "
                                "%s of that and has refused %" G_GUINT64_FORMAT " messages.",
                        name, publisher, name, kept, row->refused_messages),
                g_strdup_printf("If the key of %s was stolen, or this does not end, run alidadectl cluster "
                                "revoke %s where the cluster was begun.",
                        publisher, row->id));
}

/* Of a node that is offline the end of its certificate is of interest, since that may be why. */
static gboolean find_in_node(AldNode *node, void *userdata)
{
        AldReport *report = userdata;
        const AldMembership *membership = ald_record_as(
                ald_node_record(node, ALD_KIND_MEMBERSHIP), MEMBERSHIP, AldMembership);

        if (!membership)
                return FALSE;
        if (ald_node_counts(node) || has_ended(report, membership->certificate_expiry_usec))
                find_end(report, node, membership->certificate_expiry_usec, &of_node);
        if (!ald_node_counts(node))
                return FALSE;
        find_end(report, node, membership->broker_expiry_usec, &of_broker);
        find_end(report, node, membership->bridge_expiry_usec, &of_bridge);
        if (node->local)
                find_end_of_authority(report, node, membership);
        for (size_t i = 0; i < membership->refused_publishers.n; i++)
                find_refused(report, node, ald_rows_at(&membership->refused_publishers, i));
        return FALSE;
}

void ald_find_in_memberships(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_node, report);
}
