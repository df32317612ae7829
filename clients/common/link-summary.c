/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/link-summary.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/topology-summary.h"
#include "clients/common/words.h"
#include "record/translate.h"
#include "state/link/link-quality.h"
#include "state/link/link-ttl.h"
#include "state/link/link.h"
#include "state/link/peer-sample.h"

void ald_link_summary_free(AldLinkSummary *summary)
{
        if (!summary)
                return;
        g_free(summary->source_id);
        g_free(summary->sink_id);
        g_free(summary->key);
        g_free(summary->source);
        g_free(summary->sink);
        g_free(summary->path);
        g_free(summary->interface);
        g_free(summary->type);
        g_free(summary->obstacle);
        g_free(summary->failure);
        g_free(summary->changed);
        g_free(summary->other);
        g_free(summary->sort_key);
        g_free(summary);
}

static const char *key_of(const AldEntity *link)
{
        return strchr(link->id, '/') + 1;
}

/* Returns the address of a socket link, which is in its record, or at least in its key. */
static char *describe_address(const AldLinkSummary *summary, const AldEntity *link, const char *address)
{
        const char *comma = strchr(key_of(link), ',');
        g_autofree char *safe = ald_text_safe(address ?: comma ? comma + 1 : ALD_ABSENT_TEXT);

        /* Link-local addresses are unique only within an interface. */
        if (g_str_has_prefix(safe, "fe80:") && summary->interface && !strchr(safe, '%'))
                return g_strdup_printf("%s%%%s", safe, summary->interface);
        return g_steal_pointer(&safe);
}

static char *describe_ports(const AldLinkRdma *link)
{
        g_autofree char *from = ald_text_safe(link->source_port ?: ALD_ABSENT_TEXT);
        g_autofree char *to = ald_text_safe(link->sink_port ?: ALD_ABSENT_TEXT);

        return g_strdup_printf("%s → %s", from, to);
}

/* Returns "ethernet", "wifi 6" or "thunderbolt 4", for example. */
static char *describe_end(const char *type, uint64_t generation)
{
        g_autofree char *safe = ald_text_safe_or_null(type);

        return safe && generation != ALD_ABSENT_UINT64 ? g_strdup_printf("%s %" PRIu64, safe, generation)
                                                       : g_steal_pointer(&safe);
}

/* Returns the type of the source's interface; both types if the sink's differs or is unknown: "ethernet →
 * wifi". */
static char *describe_type(const AldLinkSocket *link)
{
        uint64_t from = link->source_interface_generation, to = link->sink_interface_generation;
        g_autofree char *here = NULL, *there = NULL;

        if (!link->source_interface_type && !link->sink_interface_type)
                return NULL;
        /* Assume one generation for both ends unless the record gives two. */
        if (g_strcmp0(link->source_interface_type, link->sink_interface_type) == 0 &&
                (from == ALD_ABSENT_UINT64 || to == ALD_ABSENT_UINT64 || from == to))
                return describe_end(link->source_interface_type, from == ALD_ABSENT_UINT64 ? to : from);
        here = describe_end(link->source_interface_type, from);
        there = describe_end(link->sink_interface_type, to);
        return g_strdup_printf("%s → %s", here ?: ALD_ABSENT_TEXT, there ?: ALD_ABSENT_TEXT);
}

/* Returns the interface behind an RDMA port, or the port itself if it has none. */
static char *describe_rdma_interface(AldModel *model, const AldLinkSummary *summary, const char *name)
{
        const AldFabric *fabric = ald_entity_as(ald_model_get(model, summary->source_id), FABRIC, AldFabric);
        const AldRdmaPort *port = fabric && name ? ald_rows_find(&fabric->rdma_ports, name) : NULL;

        return ald_text_safe_or_null(port && port->interface ? port->interface : name);
}

static uint64_t greater_of_known(uint64_t a, uint64_t b)
{
        return a == ALD_ABSENT_UINT64 ? b : b == ALD_ABSENT_UINT64 ? a : MAX(a, b);
}

/* These two fill in what is particular to one kind of link. They return how long its figures are valid, in
 * µs. */
static uint64_t describe_socket(AldLinkSummary *summary, const AldEntity *link, const AldLinkSocket *socket)
{
        uint64_t other = greater_of_known(
                socket->upload.other_bits_per_second, socket->download.other_bits_per_second);

        summary->interface = ald_text_safe_or_null(socket->source_interface);
        summary->type = describe_type(socket);
        summary->path = describe_address(summary, link, socket->sink_address);
        summary->jitter = ald_uint64_to_double(socket->jitter_nsec);
        summary->changed = ald_text_safe_or_null(socket->changed);
        if (other != ALD_ABSENT_UINT64)
                summary->other = ald_format_bits_per_second(ald_uint64_to_double(other));
        return socket->time_to_live_usec == ALD_ABSENT_UINT64 ? ald_kind_ttl(ALD_KIND_LINK_SOCKET)
                                                              : socket->time_to_live_usec;
}

static uint64_t describe_rdma(AldModel *model, AldLinkSummary *summary, const AldLinkRdma *rdma)
{
        summary->interface = describe_rdma_interface(model, summary, rdma->source_port);
        summary->type = ald_text_safe(rdma->transport ?: "rdma");
        summary->path = describe_ports(rdma);
        summary->jitter = ald_uint64_to_double(rdma->jitter_nsec);
        return rdma->time_to_live_usec == ALD_ABSENT_UINT64 ? ALD_LINK_TTL_MAX_USEC : rdma->time_to_live_usec;
}

/* A link that was not measured within a whole turn plus its time to live was left out. */
static bool is_overdue(const AldLinkSummary *summary, uint64_t time_to_live, unsigned n_nodes)
{
        double turn = (double) ald_peer_sample_n_periods(n_nodes);

        return summary->now - summary->measured > (turn + 1) * (double) time_to_live;
}

/* Judges the ends of a link, measured or not; ALD_LINK_VERDICT_OK if nothing is wrong with them. */
static AldLinkVerdict verdict_of_ends(const AldLinkSummary *summary)
{
        if (summary->excluded)
                return ALD_LINK_VERDICT_NODE_EXCLUDED;
        if (summary->unusable)
                return ALD_LINK_VERDICT_UNUSABLE;
        return summary->node_stale ? ALD_LINK_VERDICT_NODE_STALE : ALD_LINK_VERDICT_OK;
}

/* A link is unsteady if it is flagged so, or if the finding about it would be made. */
static bool is_unsteady(const AldLink *link)
{
        return ald_link_has_flag(link->flags, ALD_LINK_UNSTEADY) || ald_link_is_unsteady(&link->upload) ||
               ald_link_is_unsteady(&link->download);
}

static AldLinkVerdict verdict_of(const AldLinkSummary *summary, const AldLink *link, bool overdue)
{
        AldLinkVerdict verdict = verdict_of_ends(summary);

        if (verdict != ALD_LINK_VERDICT_OK)
                return verdict;
        if (ald_link_has_failed(link))
                return ALD_LINK_VERDICT_FAILED;
        if (link->measured_usec == ALD_ABSENT_UINT64)
                return ALD_LINK_VERDICT_UNMEASURED;
        if (overdue)
                return ALD_LINK_VERDICT_OVERDUE;
        if (ald_link_has_flag(link->flags, ALD_LINK_DISTURBED))
                return ALD_LINK_VERDICT_DISTURBED;
        if (link->failure && g_str_has_prefix(link->failure, ALD_LINK_PARTIAL))
                return ALD_LINK_VERDICT_PARTIAL;
        if (summary->changed)
                return ALD_LINK_VERDICT_CHANGED;
        if (ald_link_falls_short(link))
                return ALD_LINK_VERDICT_SLOW;
        if (ald_link_rates_are_asymmetric(link->upload.bits_per_second, link->upload.interval,
                    link->download.bits_per_second, link->download.interval))
                return ALD_LINK_VERDICT_ASYMMETRIC;
        if (ald_link_has_flag(link->flags, ALD_LINK_SUSPECT))
                return ALD_LINK_VERDICT_SUSPECT;
        return is_unsteady(link) ? ALD_LINK_VERDICT_UNSTEADY : ALD_LINK_VERDICT_OK;
}

/* The key is made once per summary, since there may be as many links as nodes times nodes. */
static char *make_sort_key(const AldLinkSummary *summary)
{
        g_autofree char *source = g_utf8_collate_key_for_filename(summary->source, -1);
        g_autofree char *sink = g_utf8_collate_key_for_filename(summary->sink, -1);
        g_autofree char *path = g_utf8_collate_key_for_filename(summary->path, -1);

        return g_strdup_printf("%s\n%s\n%d%s", source, sink, summary->rdma, path);
}

/* Sets the members that depend on the presence of the nodes at both ends. */
static void describe_nodes(AldLinkSummary *summary, AldModel *model)
{
        const char *const ids[] = { summary->source_id, summary->sink_id };

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                const AldEntity *node = ald_model_get(model, ids[i]);

                if (!summary->excluded)
                        summary->excluded = ald_node_exclusion(model, node);
                summary->node_stale |= ald_node_is_stale(model, node);
        }
}

/* Marks the path as unusable if the graph says so. A path that is merely not probed is usable. */
static void describe_problem(AldLinkSummary *summary, const AldEdgeRow *edge)
{
        if (!ald_edge_is_unusable(edge))
                return;
        summary->unusable = true;
        summary->obstacle = ald_text_safe_or_null(edge->reason);
}

/* Returns true if the rates belong to an interface that the path does not use any more, according to the
 * graph. */
static bool has_moved(const AldEdgeRow *edge)
{
        return edge->bits_per_second == ALD_ABSENT_UINT64 &&
               g_strcmp0(edge->changed, ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE)) ==
                       0;
}

static const AldDirectionSummary no_rate = { ALD_ABSENT_DOUBLE, ALD_ABSENT_DOUBLE };

static void hide_rates(AldLinkSummary *summary)
{
        summary->upload = summary->download = no_rate;
        summary->share = ALD_ABSENT_DOUBLE;
        g_free(summary->changed);
        summary->changed = g_strdup(ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE));
}

/* The source of a link is in its id; its sink is in its record, or at least in its key. */
static void describe_ends(
        AldLinkSummary *summary, AldModel *model, const AldEntity *link, const AldLink *fields)
{
        static const AldId none;
        const char *key = key_of(link);
        char id[ALD_ID_STRING_SIZE];

        summary->source_id = g_strndup(link->id, (gsize) (key - 1 - link->id));
        summary->key = g_strdup(key);
        summary->sink_id = ald_id_equal(&fields->sink, &none) ? g_strndup(key, strcspn(key, ","))
                                                              : g_strdup(ald_id_format(&fields->sink, id));
        summary->source = ald_node_name(model, summary->source_id);
        summary->sink = ald_node_name(model, summary->sink_id);
        describe_nodes(summary, model);
}

static void add_figures(AldLinkSummary *summary, const AldLink *link)
{
        double slower = fmin(ald_uint64_to_double(link->upload.bits_per_second),
                ald_uint64_to_double(link->download.bits_per_second));
        double negotiated = ald_uint64_to_double(link->negotiated_bits_per_second);

        for (size_t i = 0; i < G_N_ELEMENTS(link->directions); i++)
                summary->directions[i] = (AldDirectionSummary){
                        .rate = ald_uint64_to_double(link->directions[i].bits_per_second),
                        .interval = link->directions[i].interval,
                };
        summary->rtt = ald_uint64_to_double(link->rtt_p50_nsec);
        summary->measured = ald_uint64_to_double(link->measured_usec);
        summary->failure = ald_text_safe_or_null(link->failure);
        summary->share = negotiated > 0 ? slower / negotiated * 100 : (double) NAN;
}

static AldLinkSummary *summary_new(
        AldModel *model, const AldEntity *link, const AldRecord *record, GHashTable *edges, double now_usec)
{
        AldLinkSummary *summary = g_new0(AldLinkSummary, 1);
        AldLink fields = ald_link_of_record(record);
        const AldEntity *sink;
        const AldEdgeRow *edge;
        uint64_t time_to_live;

        summary->rdma = fields.rdma;
        summary->due = ALD_ABSENT_DOUBLE;
        describe_ends(summary, model, link, &fields);
        summary->now = ald_node_now(ald_model_get(model, summary->source_id), now_usec);
        if (fields.rdma)
                time_to_live = describe_rdma(model, summary, ald_record_as(record, LINK_RDMA, AldLinkRdma));
        else
                time_to_live = describe_socket(
                        summary, link, ald_record_as(record, LINK_SOCKET, AldLinkSocket));
        sink = ald_model_get(model, summary->sink_id);
        ald_link_add_sink(
                &fields, ald_entity_as(sink, NETWORK, AldNetwork), ald_entity_as(sink, FABRIC, AldFabric));
        add_figures(summary, &fields);
        edge = g_hash_table_lookup(edges, link->id);
        if (edge)
                describe_problem(summary, edge);
        if (edge && !fields.rdma && has_moved(edge))
                hide_rates(summary);
        summary->verdict = verdict_of(
                summary, &fields, is_overdue(summary, time_to_live, ald_model_nodes(model)->len));
        summary->sort_key = make_sort_key(summary);
        return summary;
}

static int compare_summaries(const void *a, const void *b)
{
        const AldLinkSummary *const *x = a, *const *y = b;

        return strcmp((*x)->sort_key, (*y)->sort_key);
}

/* Returns the id of the record that a probe of this path makes. NULL if the path is within a node, is not
 * probed or is probed from the other end. */
static char *link_id_of(const AldEdgeRow *edge)
{
        if (ald_edge_is_within_node(edge) || !edge->prober || strcmp(edge->prober, edge->source) != 0)
                return NULL;
        if (edge->sink_address)
                return g_strdup_printf("%s/%s,%s", edge->source, edge->sink, edge->sink_address);
        return edge->source_port && edge->sink_port ? g_strdup_printf("%s/%s,%s,%s", edge->source,
                                                              edge->source_port, edge->sink, edge->sink_port)
                                                    : NULL;
}

static AldLinkSummary *summarize_edge(AldModel *model, const AldEdgeRow *edge, double now_usec)
{
        AldLinkSummary *summary = g_new0(AldLinkSummary, 1);
        g_autofree char *port = ald_text_safe_or_null(edge->source_port);

        summary->rdma = !edge->sink_address;
        summary->source_id = g_strdup(edge->source);
        summary->sink_id = g_strdup(edge->sink);
        summary->source = ald_node_name(model, edge->source);
        summary->sink = ald_node_name(model, edge->sink);
        summary->path = edge->sink_address ? ald_text_safe(edge->sink_address) : ald_edge_path_words(edge);
        summary->interface = g_steal_pointer(&port);
        summary->type = ald_edge_type_words(edge);
        summary->upload = summary->download = no_rate;
        summary->rtt = summary->jitter = summary->measured = summary->share = ALD_ABSENT_DOUBLE;
        summary->now = ald_node_now(ald_model_get(model, edge->source), now_usec);
        summary->due = ald_uint64_to_double(edge->due_usec);
        summary->will_be_measured = edge->due_reason != NULL;
        summary->failure = ald_text_safe_or_null(edge->reason);
        describe_nodes(summary, model);
        describe_problem(summary, edge);
        summary->verdict = verdict_of_ends(summary);
        if (summary->verdict == ALD_LINK_VERDICT_OK)
                summary->verdict = ALD_LINK_VERDICT_UNMEASURED;
        summary->sort_key = make_sort_key(summary);
        return summary;
}

static bool touches(const char *source_id, const char *sink_id, const AldEntity *node)
{
        return !node || strcmp(source_id, node->id) == 0 || strcmp(sink_id, node->id) == 0;
}

static bool is_untried(const AldEdgeRow *edge)
{
        return edge->measured_usec == ALD_ABSENT_UINT64 && edge->rtt_measured_usec == ALD_ABSENT_UINT64;
}

/* Returns the AldEdgeRow, by link id, of each path that cannot be used or has no rate; none if the model does
 * not hold the connection graph. */
static GHashTable *find_edges(AldModel *model, const AldEntity *node)
{
        const AldTopology *topology = ald_model_topology(model);
        GHashTable *edges = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; topology && i < topology->edges->len; i++) {
                AldEdgeRow *edge = topology->edges->pdata[i];
                bool matters = ald_edge_is_unusable(edge) || edge->bits_per_second == ALD_ABSENT_UINT64;
                char *id = matters && touches(edge->source, edge->sink, node) ? link_id_of(edge) : NULL;

                if (id)
                        g_hash_table_insert(edges, id, edge);
        }
        return edges;
}

/* Adds the paths without a record that were never tried; the record of one that was tried will arrive
 * soon. */
static void add_untried(GPtrArray *summaries, AldModel *model, GHashTable *edges, double now_usec)
{
        const char *id;
        const AldEdgeRow *edge;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, edges);
        while (g_hash_table_iter_next(&iter, (void **) &id, (void **) &edge)) {
                if (is_untried(edge) && !ald_model_get(model, id) && ald_is_node_id(edge->source) &&
                        ald_is_node_id(edge->sink))
                        g_ptr_array_add(summaries, summarize_edge(model, edge, now_usec));
        }
}

static GPtrArray *summarize(AldModel *model, const AldEntity *node, bool with_untried, double now_usec)
{
        static const AldKind kinds[] = { ALD_KIND_LINK_SOCKET, ALD_KIND_LINK_RDMA };
        GPtrArray *summaries = g_ptr_array_new_with_free_func((GDestroyNotify) ald_link_summary_free);
        const GPtrArray *links = ald_model_shown_links(model);
        g_autoptr(GHashTable) edges = find_edges(model, node);

        for (guint i = 0; i < links->len; i++)
                for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
                        const AldRecord *record = ald_entity_record(links->pdata[i], kinds[k]);
                        g_autoptr(AldLinkSummary) summary = NULL;

                        if (!record)
                                continue;
                        summary = summary_new(model, links->pdata[i], record, edges, now_usec);
                        if (touches(summary->source_id, summary->sink_id, node))
                                g_ptr_array_add(summaries, g_steal_pointer(&summary));
                }
        if (with_untried)
                add_untried(summaries, model, edges, now_usec);
        g_ptr_array_sort(summaries, compare_summaries);
        return summaries;
}

GPtrArray *ald_link_summaries(AldModel *model, const AldEntity *node, double now_usec)
{
        return summarize(model, node, false, now_usec);
}

GPtrArray *ald_link_summaries_with_untried(AldModel *model, double now_usec)
{
        return summarize(model, NULL, true, now_usec);
}

/* If there is a finding about a link that works, the tone matches its severity. */
static AldTone tone_of(AldLinkVerdict verdict)
{
        switch (verdict) {
        case ALD_LINK_VERDICT_OK:
                return ALD_TONE_GOOD;
        case ALD_LINK_VERDICT_UNSTEADY:
        case ALD_LINK_VERDICT_SUSPECT:
        case ALD_LINK_VERDICT_ASYMMETRIC:
                return ALD_TONE_PLAIN;
        case ALD_LINK_VERDICT_UNMEASURED:
                return ALD_TONE_FAINT;
        case ALD_LINK_VERDICT_FAILED:
        case ALD_LINK_VERDICT_UNUSABLE:
        case ALD_LINK_VERDICT_NODE_EXCLUDED:
                return ALD_TONE_ERROR;
        default:
                return ALD_TONE_WARNING;
        }
}

/* Returns "not measured, due now", "not measured, due in 3 min", "not measured: the configuration of …" */
static char *describe_unmeasured(const AldLinkSummary *summary)
{
        double wait = summary->due - summary->now;
        g_autofree char *duration = wait > 0 ? ald_format_duration(wait) : NULL;

        if (!summary->will_be_measured)
                return summary->failure ? g_strdup_printf(_("not measured: %s"), summary->failure)
                                        : g_strdup(_("not measured"));
        return duration ? g_strdup_printf(_("not measured, due in %s"), duration)
                        : g_strdup(_("not measured, due now"));
}

char *ald_link_verdict_words(const AldLinkSummary *summary, AldTone *ret_tone)
{
        g_autofree char *share = NULL;

        *ret_tone = tone_of(summary->verdict);
        switch (summary->verdict) {
        case ALD_LINK_VERDICT_OK:
                return g_strdup(_("ok"));
        case ALD_LINK_VERDICT_UNMEASURED:
                return describe_unmeasured(summary);
        case ALD_LINK_VERDICT_SLOW:
                share = ald_format_percent(summary->share);
                return g_strdup_printf(_("%s of negotiated"), share);
        case ALD_LINK_VERDICT_UNSTEADY:
                return g_strdup(_("unsteady"));
        case ALD_LINK_VERDICT_SUSPECT:
                /* Translators: a measured rate that is probably too low. */
                return g_strdup(_("suspect"));
        case ALD_LINK_VERDICT_ASYMMETRIC:
                return g_strdup(_("asymmetric"));
        case ALD_LINK_VERDICT_CHANGED:
                return g_strdup_printf(_("changed: %s"), ald_word(summary->changed));
        case ALD_LINK_VERDICT_PARTIAL:
                return g_strdup(summary->failure);
        case ALD_LINK_VERDICT_DISTURBED:
                return summary->other ? g_strdup_printf(_("disturbed by %s"), summary->other)
                                      : g_strdup(_("disturbed"));
        case ALD_LINK_VERDICT_OVERDUE:
                return g_strdup(_("overdue"));
        case ALD_LINK_VERDICT_NODE_STALE:
                return g_strdup(_("node stale"));
        case ALD_LINK_VERDICT_UNUSABLE:
                return summary->obstacle ? g_strdup_printf(_("unusable: %s"), summary->obstacle)
                                         : g_strdup(_("unusable"));
        case ALD_LINK_VERDICT_NODE_EXCLUDED:
                return g_strdup_printf(_("node %s"), ald_word(summary->excluded));
        case ALD_LINK_VERDICT_FAILED:
                return summary->failure ? g_strdup_printf(_("failed: %s"), summary->failure)
                                        : g_strdup(_("failed"));
        }
        g_assert_not_reached();
}

static bool ends_at(const AldEntity *link, const AldEntity *node)
{
        const AldLinkSocket *socket = ald_entity_as(link, LINK_SOCKET, AldLinkSocket);
        const AldLinkRdma *rdma = ald_entity_as(link, LINK_RDMA, AldLinkRdma);

        return g_str_has_prefix(link->id, node->id) || (socket && g_strcmp0(socket->sink, node->id) == 0) ||
               (rdma && g_strcmp0(rdma->sink, node->id) == 0);
}

GPtrArray *ald_links_of(AldModel *model, const AldEntity *node)
{
        const GPtrArray *links = ald_model_shown_links(model);
        GPtrArray *own = g_ptr_array_new();

        for (guint i = 0; i < links->len; i++)
                if (!node || ends_at(links->pdata[i], node))
                        g_ptr_array_add(own, links->pdata[i]);
        return own;
}
