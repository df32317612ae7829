/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"
#include "state/link/link-quality.h"
#include "state/link/link.h"
#include "state/link/path-end.h"
#include "state/topology/rdma-problem.h"

/* Compares what links deliver with what they negotiated and with the other direction. */

/* Makes the row of a link, with its path. */
static AldFindingRow link_row(const AldLink *link)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        *(link->rdma ? &row.port : &row.interface) = link->from;
        *(link->rdma ? &row.sink_port : &row.address) = link->to;
        row.interface_type = link->rdma ? NULL : ald_path_type(link->source_type, link->sink_type);
        return row;
}

static bool is_full(
        AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id, const AldLink *link)
{
        const AldId ends[2] = { link->source, link->sink };

        return ald_report_full(report, severity, id, &link->source, ends, 2);
}

static void add_finding(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldLink *link, const AldFindingRow *row)
{
        const AldId ends[2] = { link->source, link->sink };

        ald_report_add(report, severity, id, &link->source, ends, 2, row);
}

static void add_sink_facts(AldReport *report, AldLink *link)
{
        const AldNode *node = ald_store_find_node(report->store, &link->sink);

        if (node)
                ald_link_add_sink(
                        link, ald_node_as(node, NETWORK, AldNetwork), ald_node_as(node, FABRIC, AldFabric));
}

static bool is_limited(const char *limiter)
{
        return limiter &&
               strcmp(limiter, ald_link_direction_limiter_to_string(ALD_LINK_DIRECTION_LIMITER_NETWORK)) !=
                       0 &&
               strcmp(limiter, ald_link_direction_limiter_to_string(ALD_LINK_DIRECTION_LIMITER_LOSS)) != 0;
}

/* Returns what limited the direction that falls short, if that is not the network. */
static const char *limiter_of(const AldLink *link)
{
        for (size_t i = 0; i < G_N_ELEMENTS(link->directions); i++)
                if (ald_link_direction_falls_short(link, &link->directions[i]) &&
                        is_limited(link->directions[i].limiter))
                        return link->directions[i].limiter;
        return NULL;
}

static void find_shortfall(AldReport *report, AldLink link)
{
        AldFindingRow row;

        if (!ald_link_falls_short(&link))
                return;
        add_sink_facts(report, &link);
        if (!ald_link_falls_short(&link) || is_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                                                    ALD_FINDING_ROW_ID_LINK_BELOW_NEGOTIATED, &link))
                return;

        row = link_row(&link);
        row.negotiated_bits_per_second = link.negotiated_bits_per_second;
        for (size_t i = 0; i < G_N_ELEMENTS(link.directions); i++)
                if (ald_link_direction_falls_short(&link, &link.directions[i]))
                        row.directions[i].bits_per_second = link.directions[i].bits_per_second;
        row.limiter = limiter_of(&link);
        add_finding(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_LINK_BELOW_NEGOTIATED, &link,
                &row);
}

/* Both ends measure a link, and it may have several paths: each pair is reported once per direction. */
static bool was_reported(AldReport *report, const AldLink *link)
{
        bool up = link->upload.bits_per_second > link->download.bits_per_second;
        const AldId *from = up ? &link->source : &link->sink, *to = up ? &link->sink : &link->source;
        char from_text[ALD_ID_STRING_SIZE], to_text[ALD_ID_STRING_SIZE];
        g_autofree char *pair = NULL;

        ald_id_format(from, from_text);
        ald_id_format(to, to_text);
        pair = g_strconcat(from_text, " ", to_text, NULL);
        return !g_hash_table_add(report->asymmetric, g_steal_pointer(&pair));
}

static void find_asymmetry(AldReport *report, const AldLink *link)
{
        uint64_t up = link->upload.bits_per_second, down = link->download.bits_per_second;
        AldFindingRow row;

        if (!ald_link_rates_are_asymmetric(up, link->upload.interval, down, link->download.interval) ||
                was_reported(report, link) ||
                is_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_LINK_ASYMMETRIC, link))
                return;
        row = link_row(link);
        row.upload.bits_per_second = up;
        row.download.bits_per_second = down;
        add_finding(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_LINK_ASYMMETRIC, link, &row);
}

static void find_unsteadiness(AldReport *report, const AldLink *link)
{
        AldFindingRow row;

        if ((!ald_link_is_unsteady(&link->upload) && !ald_link_is_unsteady(&link->download)) ||
                is_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_LINK_UNSTEADY, link))
                return;
        row = link_row(link);
        for (size_t i = 0; i < G_N_ELEMENTS(link->directions); i++) {
                const AldLinkDirection *direction = &link->directions[i];

                if (ald_link_is_unsteady(direction))
                        row.directions[i] = (AldFindingDirection){
                                .bits_per_second = direction->bits_per_second,
                                .interval = direction->interval,
                                .spread = direction->spread,
                        };
        }
        add_finding(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_LINK_UNSTEADY, link, &row);
}

/* Reports a direction that could not be measured, since it may be too slow as well. */
static void find_missing_direction(AldReport *report, const AldLink *link)
{
        AldFindingRow row;

        if (!link->failure || !g_str_has_prefix(link->failure, ALD_LINK_PARTIAL) ||
                is_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_LINK_PARTLY_MEASURED,
                        link))
                return;
        row = link_row(link);
        row.upload.bits_per_second = link->upload.bits_per_second;
        row.download.bits_per_second = link->download.bits_per_second;
        row.reason = link->failure + strlen(ALD_LINK_PARTIAL);
        add_finding(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_LINK_PARTLY_MEASURED, link,
                &row);
}

/* The last success on any path from one node to another, over sockets or over RDMA. */
typedef struct Success {
        AldId source, sink;
        bool rdma;
        uint64_t usec; /* the last success of the paths that do not fail; absent if all do */
} Success;

/* Each link is read once, however many others ask about it, since a member may publish thousands. */
typedef struct Successes {
        GHashTable *nodes; /* AldNode: the nodes whose links are in the table */
        GHashTable *table; /* of Success, each its own key by its ends and whether it is over RDMA */
} Successes;

static guint hash_success(gconstpointer key)
{
        const Success *success = key;

        return 2 * (31 * ald_id_table_hash(&success->source) + ald_id_table_hash(&success->sink)) +
               success->rdma;
}

static gboolean equal_successes(gconstpointer a, gconstpointer b)
{
        const Success *left = a, *right = b;

        return left->rdma == right->rdma && ald_id_equal(&left->source, &right->source) &&
               ald_id_equal(&left->sink, &right->sink);
}

static uint64_t last_success(const AldLink *link)
{
        uint64_t measured = link->measured_usec, answered = link->rtt_measured_usec;

        if (measured == ALD_ABSENT_UINT64 || answered == ALD_ABSENT_UINT64)
                return MIN(measured, answered);
        return MAX(measured, answered);
}

static void note_success(Successes *successes, const AldLink *link)
{
        const Success wanted = {
                .source = link->source, .sink = link->sink, .rdma = link->rdma, .usec = ALD_ABSENT_UINT64
        };
        Success *success = g_hash_table_lookup(successes->table, &wanted);

        if (!success) {
                success = g_memdup2(&wanted, sizeof wanted);
                g_hash_table_add(successes->table, success);
        }
        if (!ald_link_has_failed(link) &&
                (success->usec == ALD_ABSENT_UINT64 || last_success(link) > success->usec))
                success->usec = last_success(link);
}

/* Returns NULL if the source has never measured a path to the sink. */
static const Success *find_success(Successes *successes, AldNode *source, const AldId *sink, bool rdma)
{
        const Success wanted = { .source = source->id, .sink = *sink, .rdma = rdma };

        if (g_hash_table_add(successes->nodes, source))
                for (AldEntry *entry = ald_node_after(source, NULL); entry;
                        entry = ald_node_after(source, entry)) {
                        AldLink link;

                        if (!entry->key || !entry->record)
                                continue;
                        link = ald_link_of(entry);
                        if (link.measured_usec != ALD_ABSENT_UINT64)
                                note_success(successes, &link);
                }
        return g_hash_table_lookup(successes->table, &wanted);
}

/* Returns true if the sink measures the pair, and did so after the source last could, for example because
 * only one of them can be reached, behind NAT or a firewall. */
static bool is_measured_by_sink(Successes *successes, AldNode *sink, const AldLink *link)
{
        const Success *success = find_success(successes, sink, &link->source, link->rdma);
        uint64_t before = last_success(link);

        return success && success->usec != ALD_ABSENT_UINT64 &&
               (before == ALD_ABSENT_UINT64 || success->usec > before);
}

static void find_failing_probe(
        AldReport *report, Successes *successes, AldNode *source, AldNode *sink, const AldLink *link)
{
        bool never = link->measured_usec == ALD_ABSENT_UINT64, by_sink;
        char sink_id[ALD_ID_STRING_SIZE];
        AldFindingRowSeverity severity;
        AldFindingRow row;

        /* A problem of a port is reported once, not for each peer. */
        if (!ald_link_has_failed(link) || (link->rdma && ald_rdma_failure_is_own(link->failure)))
                return;
        /* A network of one end is not always within reach of the other. */
        by_sink = is_measured_by_sink(successes, sink, link);
        /* The same node may have measured another path to the same sink. */
        severity = by_sink || (never && find_success(successes, source, &link->sink, link->rdma))
                           ? ALD_FINDING_ROW_SEVERITY_NOTICE
                           : ALD_FINDING_ROW_SEVERITY_WARNING;
        if (is_full(report, severity, ALD_FINDING_ROW_ID_LINK_PROBE_FAILING, link))
                return;
        row = link_row(link);
        row.reason = link->failure;
        row.measured_by = by_sink ? ald_id_format(&link->sink, sink_id) : NULL;
        if (!link->rdma)
                (void) ald_link_closed_ports(link->failure, &row.first_port, &row.last_port);
        row.measured_usec = link->measured_usec;
        if (!never && link->measured_usec <= report->context.real)
                row.duration_usec = report->context.real - link->measured_usec;
        add_finding(report, severity, ALD_FINDING_ROW_ID_LINK_PROBE_FAILING, link, &row);
}

typedef struct LinkSearch {
        AldReport *report;
        Successes successes;
} LinkSearch;

static gboolean find_in_link(AldEntry *entry, void *userdata)
{
        LinkSearch *search = userdata;
        AldReport *report = search->report;
        AldLink link = ald_link_of(entry);
        AldNode *sink = ald_store_find_node(report->store, &link.sink);

        if (!ald_node_counts(entry->node) || !sink || !ald_node_counts(sink))
                return FALSE;
        /* Other traffic may explain a low rate. */
        if (!ald_link_has_flag(link.flags, ALD_LINK_DISTURBED)) {
                find_shortfall(report, link);
                find_asymmetry(report, &link);
                find_unsteadiness(report, &link);
                find_missing_direction(report, &link);
        }
        find_failing_probe(report, &search->successes, entry->node, sink, &link);
        return FALSE;
}

void ald_find_in_links(AldReport *report)
{
        g_autoptr(GHashTable) nodes = g_hash_table_new(NULL, NULL);
        g_autoptr(GHashTable) table = g_hash_table_new_full(hash_success, equal_successes, NULL, g_free);
        LinkSearch search = { .report = report, .successes = { nodes, table } };

        ald_store_foreach_link(report->store, find_in_link, &search);
}
