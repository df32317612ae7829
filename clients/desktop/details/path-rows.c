/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/common/columns/link-columns.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "clients/common/topology-summary.h"
#include "clients/common/words.h"
#include "clients/desktop/details/graph-lookup.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/rows/figure-row.h"
#include "clients/desktop/live/link-item.h"

#define NAME_LENGTH 40

#define LRM "\xE2\x80\x8E" /* marks of bidirectional text: left-to-right, and an isolate and its end */
#define FSI "\xE2\x81\xA8"
#define PDI "\xE2\x81\xA9"

/* Returns whether a text has characters that change the direction of the text around it. */
static bool is_right_to_left(const char *text)
{
        static const GUnicodeScript scripts[] = { G_UNICODE_SCRIPT_ARABIC, G_UNICODE_SCRIPT_HEBREW,
                G_UNICODE_SCRIPT_SYRIAC, G_UNICODE_SCRIPT_THAANA, G_UNICODE_SCRIPT_NKO,
                G_UNICODE_SCRIPT_ADLAM };

        for (; *text; text = g_utf8_next_char(text))
                for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++)
                        if (g_unichar_get_script(g_utf8_get_char(text)) == scripts[i])
                                return true;
        return false;
}

/* Joins the names, shortened so that the second one stays visible after a long first one. */
static char *join_names(const char *a, const char *arrow, const char *b)
{
        g_autofree char *first = ald_text_shortened(a, NAME_LENGTH),
                        *second = ald_text_shortened(b, NAME_LENGTH);

        return is_right_to_left(first) || is_right_to_left(second)
                       ? g_strdup_printf(LRM FSI "%s" PDI " %s " FSI "%s" PDI, first, arrow, second)
                       : g_strdup_printf("%s %s %s", first, arrow, second);
}

char *ald_direction_words(const char *from, const char *to)
{
        return join_names(from, "→", to);
}

char *ald_pair_words(const char *a, const char *b)
{
        return join_names(a, "↔", b);
}

static bool is_link_between(const AldLinkSummary *link, const char *a, const char *b)
{
        return (strcmp(link->source_id, a) == 0 && strcmp(link->sink_id, b) == 0) ||
               (strcmp(link->source_id, b) == 0 && strcmp(link->sink_id, a) == 0);
}

/* Returns the AldLinkItems between two nodes, each with a reference. */
static GPtrArray *find_links(const AldDetailsSubject *subject, const char *a, const char *b)
{
        GListModel *links = ald_live_cluster_links(subject->cluster);
        GPtrArray *found = g_ptr_array_new_with_free_func(g_object_unref);
        guint n = g_list_model_get_n_items(links);

        for (guint i = 0; i < n; i++) {
                AldLinkItem *item = g_list_model_get_item(links, i);

                if (is_link_between(ald_link_item_summary(item), a, b))
                        g_ptr_array_add(found, item);
                else
                        g_object_unref(item);
        }
        return found;
}

/* Returns the edges between two nodes in both directions; none while the graph is not known. */
static GPtrArray *find_edges(const AldDetailsSubject *subject, const char *a, const char *b)
{
        const AldTopology *topology = ald_model_topology(subject->model);
        GPtrArray *edges = g_ptr_array_new();

        if (ald_graph_is_known(topology)) {
                ald_graph_add_edges(edges, topology, a, b);
                ald_graph_add_edges(edges, topology, b, a);
        }
        return edges;
}

/* Returns whether the edge leads to the address of the link. The path of a link over sockets is that address,
 * perhaps with a zone. */
static bool leads_to_address(const AldEdgeRow *edge, const AldLinkSummary *link)
{
        g_autofree char *address = ald_text_safe_or_null(edge->sink_address);
        size_t length = address ? strlen(address) : 0;

        return address && strncmp(link->path, address, length) == 0 &&
               (link->path[length] == '\0' || link->path[length] == '%');
}

static bool is_edge_of(const AldEdgeRow *edge, const AldLinkSummary *link)
{
        g_autofree char *path = NULL;

        if (g_strcmp0(edge->source, link->source_id) != 0 || g_strcmp0(edge->prober, link->source_id) != 0)
                return false;
        if (!link->rdma)
                return leads_to_address(edge, link);
        path = edge->sink_address ? NULL : ald_edge_path_words(edge);
        return g_strcmp0(path, link->path) == 0;
}

/* Returns the edge of the link. The same address may be reachable through several interfaces, so the one with
 * its interface is preferred. */
static const AldEdgeRow *find_edge_of_link(const GPtrArray *edges, const AldLinkSummary *link)
{
        const AldEdgeRow *found = NULL;

        for (guint i = 0; i < edges->len; i++) {
                const AldEdgeRow *edge = edges->pdata[i];

                if (!is_edge_of(edge, link))
                        continue;
                if (g_strcmp0(edge->source_port, link->interface) == 0)
                        return edge;
                found = edge;
        }
        return found;
}

/* Returns the type of the path, which a link that was never measured has only in the graph. */
static char *describe_type(const AldLinkSummary *link, const AldEdgeRow *edge)
{
        if (!link->type)
                return edge ? ald_edge_type_words(edge) : g_strdup(ALD_ABSENT_TEXT);
        return link->rdma && !g_str_has_prefix(link->type, "rdma") ? g_strdup_printf("rdma %s", link->type)
                                                                   : g_strdup(link->type);
}

/* Returns a text like "From alder: 192.0.2.2, eth0". */
static char *describe_path(const AldLinkSummary *link)
{
        g_autofree char *name = ald_text_shortened(link->source, NAME_LENGTH);
        bool with_interface = !link->rdma && link->interface && !strstr(link->path, link->interface);

        if (!with_interface)
                /* Translators: the node that measures, and the address of the other one. */
                return g_strdup_printf(_("From %s: %s"), name, link->path);
        /* Translators: the node that measures, the address of the other one, and an interface. */
        return g_strdup_printf(_("From %s: %s, %s"), name, link->path, link->interface);
}

/* Names two ages if they differ: round trips are often measured alone, since that disturbs nobody. */
static char *describe_age(const AldLinkSummary *link, const AldEdgeRow *edge)
{
        double rtt_measured = edge ? ald_uint64_to_double(edge->rtt_measured_usec) : (double) NAN;
        g_autofree char *rates = ald_format_age(link->measured, link->now);
        g_autofree char *rtt = ald_format_age(rtt_measured, link->now);

        if (isnan(link->measured))
                return isnan(rtt_measured) ? NULL : g_strdup_printf(_("Round trip measured %s"), rtt);
        if (isnan(rtt_measured) || isnan(link->rtt) || g_str_equal(rates, rtt))
                return g_strdup_printf(_("Measured %s"), rates);
        return g_strdup_printf(_("Rates measured %s, round trip %s"), rates, rtt);
}

static bool is_outdated(AldLinkVerdict verdict)
{
        return verdict >= ALD_LINK_VERDICT_OVERDUE || verdict == ALD_LINK_VERDICT_CHANGED;
}

/* Returns a text like "±0.4 %, limited by the receiver", or NULL. */
static char *describe_accuracy(double interval, const AldEdgeRow *edge)
{
        g_autofree char *text = isnan(interval) ? NULL : ald_format_interval(interval);
        g_autofree char *limited = edge ? ald_limiter_words(edge->limiter) : NULL;

        if (!text || !limited)
                return text ? g_steal_pointer(&text) : g_steal_pointer(&limited);
        return g_strdup_printf("%s, %s", text, limited);
}

/* A rate and the names of its ends. */
typedef struct Direction {
        char *label, *rate, *accuracy;
} Direction;

static void direction_clear(Direction *direction)
{
        g_free(direction->label);
        g_free(direction->rate);
        g_free(direction->accuracy);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Direction, direction_clear)

/* Describes the direction from source to sink if `way` is 0, and the one back if it is 1. */
static Direction describe_direction(const AldLinkSummary *link, unsigned way, const AldEdgeRow *edge)
{
        static const AldLinkColumn rates[] = { ALD_LINK_COLUMN_UPLOAD, ALD_LINK_COLUMN_DOWNLOAD };
        const char *const ends[] = { link->source, link->sink };

        return (Direction){ ald_direction_words(ends[way], ends[1 - way]),
                ald_list_column_text(&ald_link_columns[rates[way]], link),
                describe_accuracy(link->directions[way].interval, edge) };
}

/* Shows the direction from the first node first, whichever end has measured the link. */
static void show_link(AldFigureRow *row, const AldLinkSummary *link, const GPtrArray *edges, bool from_first)
{
        const AldEdgeRow *edge = find_edge_of_link(edges, link),
                         *back = edge ? ald_graph_find_reverse(edges, edge) : NULL;
        const AldListColumn *rtt_column = &ald_link_columns[ALD_LINK_COLUMN_RTT],
                            *jitter_column = &ald_link_columns[ALD_LINK_COLUMN_JITTER];
        g_auto(Direction) there = describe_direction(link, from_first ? 0 : 1, from_first ? edge : back);
        g_auto(Direction) return_way = describe_direction(link, from_first ? 1 : 0, from_first ? back : edge);
        g_autofree char *type = describe_type(link, edge), *path = describe_path(link);
        g_autofree char *rtt = ald_list_column_text(rtt_column, link);
        g_autofree char *jitter = ald_list_column_text(jitter_column, link);
        g_autofree char *age = describe_age(link, edge);
        g_autofree char *remedy = edge ? ald_text_safe_or_null(edge->remedy) : NULL;
        AldTone tone;
        g_autofree char *state = ald_link_verdict_words(link, &tone);
        const AldFigureSet figures = { .title = type,
                .detail = path,
                .figures = { { there.label, there.rate, there.accuracy },
                        { return_way.label, return_way.rate, return_way.accuracy },
                        { _(rtt_column->title), rtt }, { _(jitter_column->title), jitter } },
                .n = 4,
                .age = age,
                .state = state,
                .tone = tone,
                .remedy = remedy,
                .outdated = is_outdated(link->verdict) };

        ald_figure_row_show(row, &figures);
}

static void add_link_rows(
        AldKeyedRows *rows, const GPtrArray *links, const GPtrArray *edges, const char *first)
{
        for (guint i = 0; i < links->len; i++) {
                AldLinkItem *item = links->pdata[i];
                const AldLinkSummary *link = ald_link_item_summary(item);
                GtkWidget *row = ald_keyed_rows_next(rows, ald_link_item_key(item), ald_figure_row_new);

                show_link(ALD_FIGURE_ROW(row), link, edges, strcmp(link->source_id, first) == 0);
        }
}

static void show_edge(
        AldFigureRow *row, const AldDetailsSubject *subject, const AldEdgeRow *edge, bool both_ways)
{
        g_autofree char *from = ald_details_subject_name(subject, edge->source);
        g_autofree char *to = ald_details_subject_name(subject, edge->sink);
        g_autofree char *direction = both_ways ? ald_pair_words(from, to) : ald_direction_words(from, to);
        g_autofree char *type = ald_edge_type_words(edge), *ports = ald_edge_path_words(edge);
        g_autofree char *detail = g_strdup_printf("%s, %s", direction, ports);
        g_autofree char *speed = ald_format_bits_per_second(
                ald_uint64_to_double(edge->negotiated_bits_per_second));
        g_autofree char *remedy = ald_text_safe_or_null(edge->remedy);
        AldTone tone;
        g_autofree char *state = ald_edge_state_words(edge, &tone);
        const AldFigureSet figures = { type, detail, { { _("Negotiated"), speed } },
                edge->negotiated_bits_per_second == ALD_ABSENT_UINT64 ? 0 : 1, NULL, state, tone, remedy,
                !ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_LIVE) };

        ald_figure_row_show(row, &figures);
}

/* Adds rows for edges that are not links: cables between hosts, and what neighbours announce. Each pair of
 * opposite edges shares a row, unless they differ. */
static void add_edge_rows(AldKeyedRows *rows, const AldDetailsSubject *subject, const GPtrArray *edges)
{
        for (guint i = 0; i < edges->len; i++) {
                const AldEdgeRow *edge = edges->pdata[i], *back = ald_graph_find_reverse(edges, edge);
                bool both_ways = back && g_strcmp0(back->presence, edge->presence) == 0;
                g_autofree char *key = NULL;

                if (edge->prober || ald_edge_is_within_node(edge) ||
                        (both_ways && strcmp(edge->source, edge->sink) > 0))
                        continue;
                key = g_strdup_printf("edge %" G_GUINT64_FORMAT, edge->id);
                show_edge(ALD_FIGURE_ROW(ald_keyed_rows_next(rows, key, ald_figure_row_new)), subject, edge,
                        both_ways);
        }
}

void ald_path_rows_name(AldKeyedRows *rows, const AldDetailsSubject *subject, const char *a, const char *b)
{
        g_autoptr(GPtrArray) links = find_links(subject, a, b), edges = find_edges(subject, a, b);

        add_link_rows(rows, links, edges, a);
        add_edge_rows(rows, subject, edges);
}

char *ald_path_absence_words(
        const AldDetailsSubject *subject, const char *a, const char *b, AldTone *ret_tone)
{
        g_autoptr(GPtrArray) links = find_links(subject, a, b), edges = find_edges(subject, a, b);
        const AldLinkSummary *best = NULL;

        for (guint i = 0; i < links->len; i++) {
                const AldLinkSummary *link = ald_link_item_summary(links->pdata[i]);

                /* Verdicts are ordered by how usable the link still is. */
                if (!best || link->verdict < best->verdict)
                        best = link;
        }
        if (best && best->verdict != ALD_LINK_VERDICT_OK)
                return ald_link_verdict_words(best, ret_tone);
        *ret_tone = ALD_TONE_FAINT;
        if (!best && edges->len > 0)
                return ald_edge_state_words(edges->pdata[0], ret_tone);
        return g_strdup(best ? _("not measured in this direction") : _("no path is known"));
}

/* Returns whether the path says something about its pair. One that was never measured, or cannot be used,
 * does not. */
static bool is_in_use(const AldLinkSummary *link)
{
        return link->verdict != ALD_LINK_VERDICT_UNMEASURED && link->verdict < ALD_LINK_VERDICT_NODE_STALE;
}

static void keep_if_graver(GHashTable *gravest, const AldLinkSummary *link, const char *peer)
{
        const AldLinkSummary *before = g_hash_table_lookup(gravest, peer);

        if (is_in_use(link) && (!before || before->verdict < link->verdict))
                g_hash_table_insert(gravest, (gpointer) peer, (gpointer) link);
}

GHashTable *ald_path_gravest(const AldDetailsSubject *subject, const char *node_id)
{
        GListModel *links = ald_live_cluster_links(subject->cluster);
        GHashTable *gravest = g_hash_table_new(g_str_hash, g_str_equal);
        guint n = g_list_model_get_n_items(links);

        for (guint i = 0; i < n; i++) {
                g_autoptr(AldLinkItem) item = g_list_model_get_item(links, i);
                const AldLinkSummary *link = ald_link_item_summary(item);

                if (strcmp(link->source_id, node_id) == 0)
                        keep_if_graver(gravest, link, link->sink_id);
                else if (strcmp(link->sink_id, node_id) == 0)
                        keep_if_graver(gravest, link, link->source_id);
        }
        return gravest;
}
