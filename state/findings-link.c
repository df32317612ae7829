/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/units.h"
#include "state/findings-report.h"
#include "state/link-quality.h"
#include "state/link.h"
#include "state/rdma-problem.h"

/* What links deliver, beside what they negotiated and beside the other direction. */

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

static void add_sink(AldReport *report, AldLink *link)
{
        const AldNode *node = ald_store_find_node(report->store, &link->sink);

        if (node)
                ald_link_add_sink(link,
                        ald_record_as(ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork),
                        ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric));
}

/* "13 Gb/s measured from a to b", "… and 14 Gb/s from b to a". */
static char *describe_shortfall(const Subject *subject)
{
        const AldLink *link = &subject->link;
        bool up = ald_link_upload_falls_short(link), down = ald_link_download_falls_short(link);
        g_autofree char *upload = ald_units_rate(link->upload_bits_per_second);
        g_autofree char *download = ald_units_rate(link->download_bits_per_second);

        if (up && down)
                return g_strdup_printf("%s measured from %s to %s and %s from %s to %s", upload,
                        subject->source, subject->sink, download, subject->sink, subject->source);
        return g_strdup_printf("%s measured from %s to %s", up ? upload : download,
                up ? subject->source : subject->sink, up ? subject->sink : subject->source);
}

static bool is_held_down(const char *limiter)
{
        return limiter && strcmp(limiter, ald_link_socket_upload_limiter_to_string(
                                                  ALD_LINK_SOCKET_UPLOAD_LIMITER_NETWORK)) != 0;
}

/* What held down the direction that falls short, where that is not the network. */
static const char *limiter_of(const AldLink *link)
{
        if (ald_link_upload_falls_short(link) && is_held_down(link->upload_limiter))
                return link->upload_limiter;
        return ald_link_download_falls_short(link) && is_held_down(link->download_limiter)
                       ? link->download_limiter
                       : NULL;
}

static char *advise_on_shortfall(const AldLink *link)
{
        const char *limiter = limiter_of(link);

        if (limiter)
                return g_strdup_printf(
                        "It was held down by the %s, not by the network: look at its load, its "
                        "interrupts and the slot of its adapter.",
                        limiter);
        if (ald_link_is_wifi(link))
                return g_strdup("Bring the antennas closer, change the channel, or use a cable.");
        return g_strdup("Check the cable, the MTU at both ends and the slot of each adapter.");
}

static void find_shortfall(AldReport *report, AldLink link)
{
        g_auto(Subject) subject = { 0 };
        g_autofree char *negotiated = NULL, *shortfall = NULL;

        if (!ald_link_falls_short(&link))
                return;
        add_sink(report, &link);
        if (!ald_link_falls_short(&link) || ald_report_full(report, "link-below-negotiated"))
                return;

        subject_init(&subject, report, &link);
        negotiated = ald_units_rate(link.negotiated_bits_per_second);
        shortfall = describe_shortfall(&subject);
        ald_report_add(report, ALD_SEVERITY_WARNING, "link-below-negotiated", subject.ends, 2,
                g_strdup_printf("The link from %s to %s%s falls short: %s negotiated, %s.", subject.source,
                        subject.sink, subject.path, negotiated, shortfall),
                advise_on_shortfall(&link));
}

/* Both ends measure a link, and it may have several paths: one unevenness is told once. */
static bool was_said(AldReport *report, const AldLink *link)
{
        bool up = link->upload_bits_per_second > link->download_bits_per_second;
        const AldId *from = up ? &link->source : &link->sink, *to = up ? &link->sink : &link->source;
        char from_text[ALD_ID_STRING_SIZE], to_text[ALD_ID_STRING_SIZE];
        g_autofree char *pair = NULL;

        ald_id_format(from, from_text);
        ald_id_format(to, to_text);
        pair = g_strconcat(from_text, " ", to_text, NULL);
        return !g_hash_table_add(report->uneven, g_steal_pointer(&pair));
}

static void find_unevenness(AldReport *report, const AldLink *link)
{
        uint64_t up = link->upload_bits_per_second, down = link->download_bits_per_second;
        g_auto(Subject) subject = { 0 };
        g_autofree char *upload = NULL, *download = NULL;

        if (!ald_link_rates_are_uneven(up, link->upload_interval, down, link->download_interval) ||
                was_said(report, link) || ald_report_full(report, "link-asymmetric"))
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

static bool is_unsteady_at(uint64_t rate, double interval, double spread)
{
        return rate != ALD_ABSENT_UINT64 && ald_link_percent_is_unsteady(interval, spread);
}

static bool is_unsteady(const AldLink *link)
{
        return is_unsteady_at(link->upload_bits_per_second, link->upload_interval, link->upload_spread) ||
               is_unsteady_at(link->download_bits_per_second, link->download_interval, link->download_spread);
}

/* "420 Mb/s ±31 % from a to b, with a spread of 40 %"; NULL where the direction is steady. */
static char *describe_unsteadiness(
        const char *from, const char *to, uint64_t rate, double interval, double spread)
{
        g_autofree char *measured = NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        if (!is_unsteady_at(rate, interval, spread))
                return NULL;
        measured = ald_units_rate(rate);
        g_string_append(text, measured);
        if (!isnan(interval))
                g_string_append_printf(text, " ±%.*f %%", interval < 9.5 ? 1 : 0, interval);
        g_string_append_printf(text, " from %s to %s", from, to);
        if (spread > ALD_LINK_UNSTEADY_SPREAD_PERCENT)
                g_string_append_printf(text, ", with a spread of %.0f %%", spread);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void find_unsteadiness(AldReport *report, const AldLink *link)
{
        g_auto(Subject) subject = { 0 };
        g_autofree char *up = NULL, *down = NULL;

        if (!is_unsteady(link) || ald_report_full(report, "link-unsteady"))
                return;
        subject_init(&subject, report, link);
        up = describe_unsteadiness(subject.source, subject.sink, link->upload_bits_per_second,
                link->upload_interval, link->upload_spread);
        down = describe_unsteadiness(subject.sink, subject.source, link->download_bits_per_second,
                link->download_interval, link->download_spread);
        ald_report_add(report, ALD_SEVERITY_NOTICE, "link-unsteady", subject.ends, 2,
                g_strdup_printf("The link from %s to %s%s is unsteady: %s%s%s.", subject.source, subject.sink,
                        subject.path, up ?: "", up && down ? "; " : "", down ?: ""),
                ald_link_is_wifi(link)
                        ? g_strdup("Bring the antennas closer, change the channel, or use a cable.")
                        : g_strdup("Look for lost packets, other traffic and load at both ends and on the "
                                   "way."));
}

/* A direction that could not be measured may be too slow as well. */
static void find_missing_direction(AldReport *report, const AldLink *link)
{
        bool no_upload = link->upload_bits_per_second == ALD_ABSENT_UINT64;
        g_auto(Subject) subject = { 0 };

        if (!link->failure || !g_str_has_prefix(link->failure, ALD_LINK_PARTIAL) ||
                ald_report_full(report, "link-partly-measured"))
                return;
        subject_init(&subject, report, link);
        ald_report_add(report, ALD_SEVERITY_WARNING, "link-partly-measured", subject.ends, 2,
                g_strdup_printf("The rate from %s to %s%s could not be measured: %s.",
                        no_upload ? subject.source : subject.sink, no_upload ? subject.sink : subject.source,
                        subject.path, link->failure + strlen(ALD_LINK_PARTIAL)),
                g_strdup("Look for lost packets and for a very slow line on the way."));
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

        /* What is wrong with a port is told once, not of each peer. */
        if (!ald_link_has_failed(link) || (link->rdma && ald_rdma_failure_is_own(link->failure)) ||
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
        /* Other traffic may explain a low rate. */
        if (!ald_link_has_flag(link.flags, ALD_LINK_DISTURBED)) {
                find_shortfall(report, link);
                find_unevenness(report, &link);
                find_unsteadiness(report, &link);
                find_missing_direction(report, &link);
        }
        find_failing_probe(report, &link);
        return FALSE;
}

void ald_find_in_links(AldReport *report)
{
        ald_store_foreach_link(report->store, find_in_link, report);
}
