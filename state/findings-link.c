/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings-report.h"
#include "state/link.h"
#include "state/network.h"
#include "state/rdma-problem.h"
#include "state/units.h"

/* What links deliver, beside what they negotiated and beside the other direction. */

#define FAIR_SHARE 0.5
#define FAIR_SHARE_WIFI 0.25 /* a radio delivers about half of its bit rate at the best of times */
#define UNEVEN 2.0

/* A link with the names of its ends. */
typedef struct Subject {
        AldReport *report;
        AldLink link;
        AldId ends[2];
        char *source;
        char *sink;
        char *path; /* " (eth0 to 192.0.2.1)", or "" */
} Subject;

static char *describe_path(const AldLink *link)
{
        if (link->from && link->to)
                return g_strdup_printf(" (%s to %s)", link->from, link->to);
        if (link->from || link->to)
                return g_strdup_printf(" (%s)", link->from ?: link->to);
        return g_strdup("");
}

static void subject_init(Subject *subject, AldReport *report, const AldLink *link)
{
        *subject = (Subject){
                .report = report,
                .link = *link,
                .ends = { link->source, link->sink },
                .source = ald_report_name(report, &link->source),
                .sink = ald_report_name(report, &link->sink),
                .path = describe_path(link),
        };
}

static void subject_clear(Subject *subject)
{
        g_free(subject->source);
        g_free(subject->sink);
        g_free(subject->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Subject, subject_clear)

/* A fast port that talks to a slow one is not at fault: both ends count. */
static void heed_sink_port(AldReport *report, AldLink *link)
{
        const AldNode *node = ald_store_find_node(report->store, &link->sink);
        const AldFabric *fabric;
        const AldRdmaPort *port;

        if (!node || !link->to)
                return;
        fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        port = fabric ? ald_rows_find(&fabric->rdma_ports, link->to) : NULL;
        if (port)
                link->negotiated_bits_per_second = MIN(
                        link->negotiated_bits_per_second, port->rate_bits_per_second);
}

static void heed_sink_interface(AldReport *report, AldLink *link)
{
        const AldNode *node = ald_store_find_node(report->store, &link->sink);
        const AldNetwork *network;
        const AldInterface *interface;

        if (!node || !link->to)
                return;
        network = ald_record_as(ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);
        interface = network ? ald_network_find_address(network, link->to) : NULL;
        if (!interface)
                return;
        link->negotiated_bits_per_second = MIN(
                link->negotiated_bits_per_second, interface->speed_bits_per_second);
        if (interface->type &&
                strcmp(interface->type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) == 0)
                link->wifi = true;
}

static bool is_below(const AldLink *link, uint64_t rate)
{
        double share = link->wifi ? FAIR_SHARE_WIFI : FAIR_SHARE;

        return rate != ALD_ABSENT_UINT64 && link->negotiated_bits_per_second != ALD_ABSENT_UINT64 &&
               (double) rate < share * (double) link->negotiated_bits_per_second;
}

static bool falls_short(const AldLink *link)
{
        return is_below(link, link->upload_bits_per_second) || is_below(link, link->download_bits_per_second);
}

/* "13 Gb/s measured from a to b", "… and 14 Gb/s from b to a". */
static char *describe_shortfall(const Subject *subject)
{
        const AldLink *link = &subject->link;
        bool up = is_below(link, link->upload_bits_per_second);
        bool down = is_below(link, link->download_bits_per_second);
        g_autofree char *upload = ald_units_rate(link->upload_bits_per_second);
        g_autofree char *download = ald_units_rate(link->download_bits_per_second);

        if (up && down)
                return g_strdup_printf("%s measured from %s to %s and %s from %s to %s", upload,
                        subject->source, subject->sink, download, subject->sink, subject->source);
        return g_strdup_printf("%s measured from %s to %s", up ? upload : download,
                up ? subject->source : subject->sink, up ? subject->sink : subject->source);
}

static char *advise_on_shortfall(const AldLink *link)
{
        if (link->limiter && strcmp(link->limiter,
                                     ald_link_socket_limiter_to_string(ALD_LINK_SOCKET_LIMITER_NETWORK)) != 0)
                return g_strdup_printf(
                        "It was held down by the %s, not by the network: look at its load, its "
                        "interrupts and the slot of its adapter.",
                        link->limiter);
        if (link->wifi)
                return g_strdup("Bring the antennas closer, change the channel, or use a cable.");
        return g_strdup("Check the cable, the MTU at both ends and the slot of each adapter.");
}

static void find_shortfall(AldReport *report, AldLink link)
{
        g_auto(Subject) subject = { 0 };
        g_autofree char *negotiated = NULL, *shortfall = NULL;

        if (!falls_short(&link))
                return;
        if (link.rdma)
                heed_sink_port(report, &link);
        else
                heed_sink_interface(report, &link);
        if (!falls_short(&link) || ald_report_full(report, "link-below-negotiated"))
                return;

        subject_init(&subject, report, &link);
        negotiated = ald_units_rate(link.negotiated_bits_per_second);
        shortfall = describe_shortfall(&subject);
        ald_report_add(report, ALD_SEVERITY_WARNING, "link-below-negotiated", subject.ends, 2,
                g_strdup_printf("The link from %s to %s%s falls short: %s negotiated, %s.", subject.source,
                        subject.sink, subject.path, negotiated, shortfall),
                advise_on_shortfall(&link));
}

static void find_unevenness(AldReport *report, const AldLink *link)
{
        uint64_t up = link->upload_bits_per_second, down = link->download_bits_per_second;
        g_auto(Subject) subject = { 0 };
        g_autofree char *upload = NULL, *download = NULL;

        if (up == ALD_ABSENT_UINT64 || down == ALD_ABSENT_UINT64 ||
                (double) MAX(up, down) <= UNEVEN * (double) MIN(up, down) ||
                ald_report_full(report, "link-asymmetric"))
                return;
        subject_init(&subject, report, link);
        upload = ald_units_rate(up);
        download = ald_units_rate(down);
        ald_report_add(report, ALD_SEVERITY_NOTICE, "link-asymmetric", subject.ends, 2,
                g_strdup_printf("The link from %s to %s%s is uneven: %s from %s to %s, %s from %s to %s.",
                        subject.source, subject.sink, subject.path, upload, subject.source, subject.sink,
                        download, subject.sink, subject.source),
                g_strdup("Compare duplex, offload settings and load of both ends."));
}

/* How much its figures can still be trusted. */
static char *describe_age(const AldLink *link, uint64_t now_realtime)
{
        g_autofree char *age = NULL;

        if (link->measured_usec == ALD_ABSENT_UINT64)
                return g_strdup("it was never measured");
        if (link->measured_usec > now_realtime)
                return g_strdup("its figures are of no known age");
        age = ald_units_duration(now_realtime - link->measured_usec);
        return g_strdup_printf("its figures are %s old", age);
}

/* Whether the same node has measured another path to the same sink. */
static bool works_otherwise(const AldReport *report, const AldLink *link)
{
        AldNode *node = ald_store_find_node(report->store, &link->source);

        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                AldLink other;

                if (!entry->key || !entry->record)
                        continue;
                other = ald_link_of(entry);
                if (other.rdma == link->rdma && ald_id_equal(&other.sink, &link->sink) &&
                        other.measured_usec != ALD_ABSENT_UINT64)
                        return true;
        }
        return false;
}

static void find_failing_probe(AldReport *report, const AldLink *link)
{
        g_auto(Subject) subject = { 0 };
        g_autofree char *age = NULL;
        bool never = link->measured_usec == ALD_ABSENT_UINT64;
        bool failed = never ? link->failure || link->failed_usec != ALD_ABSENT_UINT64
                            : link->failed_usec != ALD_ABSENT_UINT64 &&
                                      link->failed_usec > link->measured_usec;

        /* What is wrong with a port is told once, not of each peer. */
        if (!failed || (link->rdma && ald_rdma_failure_is_own(link->failure)) ||
                ald_report_full(report, "link-probe-failing"))
                return;
        subject_init(&subject, report, link);
        age = describe_age(link, report->now_realtime);
        /* Not every net that one end is in can be reached from the other. */
        ald_report_add(report,
                never && works_otherwise(report, link) ? ALD_SEVERITY_NOTICE : ALD_SEVERITY_WARNING,
                "link-probe-failing", subject.ends, 2,
                g_strdup_printf("The last probe of the link from %s to %s%s failed: %s; %s.", subject.source,
                        subject.sink, subject.path, link->failure ?: "for no known reason", age),
                g_strdup_printf("Check that %s is up and that no firewall between the two is in the way.",
                        subject.sink));
}

static gboolean find_in_link(AldEntry *entry, void *userdata)
{
        AldReport *report = userdata;
        AldLink link = ald_link_of(entry);
        const AldNode *sink = ald_store_find_node(report->store, &link.sink);

        if (!ald_node_counts(entry->node) || !sink || !ald_node_counts(sink))
                return FALSE;
        find_shortfall(report, link);
        find_unevenness(report, &link);
        find_failing_probe(report, &link);
        return FALSE;
}

void ald_find_in_links(AldReport *report)
{
        ald_store_foreach_link(report->store, find_in_link, report);
}
