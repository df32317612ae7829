/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/link-concerns.h"
#include "clients/desktop/topology/drawn-lines.h"

/* The units that figures of links have: b/s to Tb/s, and ns to s. */
#define RATE_UNITS 5u
#define DELAY_UNITS 4u

void ald_drawn_line_free(AldDrawnLine *line)
{
        if (!line)
                return;
        for (size_t i = 0; i < ALD_N_LABEL_KINDS; i++)
                g_free(line->texts[i]);
        g_free(line->words);
        g_free(line->verdict);
        g_free(line);
}

static AldLineKind edge_kind(const AldEdgeRow *edge)
{
        if (g_strcmp0(edge->kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_SOCKET)) == 0)
                return ALD_LINE_SOCKET;
        return g_strcmp0(edge->kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_RDMA)) == 0
                       ? ALD_LINE_RDMA
                       : ALD_LINE_CABLE;
}

/* Ranks presences from the best; one that this version does not know is the worst. */
static unsigned presence_rank(AldEdgeRowPresence presence)
{
        static const AldEdgeRowPresence order[] = {
                ALD_EDGE_ROW_PRESENCE_LIVE,
                ALD_EDGE_ROW_PRESENCE_STALE,
                ALD_EDGE_ROW_PRESENCE_UNMEASURED,
                ALD_EDGE_ROW_PRESENCE_CANDIDATE,
                ALD_EDGE_ROW_PRESENCE_UNKNOWN,
                ALD_EDGE_ROW_PRESENCE_OFFLINE,
        };
        unsigned rank = 0;

        while (rank < G_N_ELEMENTS(order) && order[rank] != presence)
                rank++;
        return rank;
}

static AldEdgeRowPresence edge_presence(const AldEdgeRow *edge)
{
        int presence = edge->presence ? (int) ald_edge_row_presence_from_string(edge->presence) : -1;

        return presence >= 0 ? (AldEdgeRowPresence) presence : ALD_EDGE_ROW_PRESENCE_UNKNOWN;
}

/* Keeps the greater value. ALD_ABSENT_UINT64 is the greatest number, so it is compared separately. */
static void keep_greatest(uint64_t *kept, uint64_t value)
{
        if (value != ALD_ABSENT_UINT64 && (*kept == ALD_ABSENT_UINT64 || value > *kept))
                *kept = value;
}

/* Returns whether the figures of the graph are current. For an offline line, or one that may be offline, the
 * graph keeps the last ones. */
static bool has_current_figures(AldEdgeRowPresence presence)
{
        return presence == ALD_EDGE_ROW_PRESENCE_LIVE || presence == ALD_EDGE_ROW_PRESENCE_STALE;
}

static void merge_edge(AldDrawnLine *line, const AldEdgeRow *edge, bool reverse)
{
        AldEdgeRowPresence presence = edge_presence(edge);

        if (presence_rank(presence) > presence_rank(line->presence))
                return;
        if (presence_rank(presence) < presence_rank(line->presence)) {
                line->presence = presence;
                line->there = line->back = line->rtt = line->measured_usec = ALD_ABSENT_UINT64;
        }
        if (!has_current_figures(presence))
                return;
        keep_greatest(reverse ? &line->back : &line->there, edge->bits_per_second);
        line->rtt = MIN(line->rtt, edge->rtt_p50_nsec);
        keep_greatest(&line->measured_usec, edge->measured_usec);
}

static gint64 *line_key_new(unsigned a, unsigned b, AldLineKind kind)
{
        gint64 *key = g_new(gint64, 1);

        *key = ((gint64) a << 32 | b) * ALD_N_LINE_KINDS + kind;
        return key;
}

static AldDrawnLine *find_or_add_line(
        GHashTable *by_key, GPtrArray *lines, unsigned a, unsigned b, AldLineKind kind)
{
        g_autofree gint64 *key = line_key_new(a, b, kind);
        AldDrawnLine *line = g_hash_table_lookup(by_key, key);

        if (line)
                return line;
        line = g_new(AldDrawnLine, 1);
        *line = (AldDrawnLine){ .a = a,
                .b = b,
                .kind = kind,
                .presence = ALD_EDGE_ROW_PRESENCE_OFFLINE,
                .trouble = ALD_LINE_TROUBLE_NONE,
                .there = ALD_ABSENT_UINT64,
                .back = ALD_ABSENT_UINT64,
                .rtt = ALD_ABSENT_UINT64,
                .measured_usec = ALD_ABSENT_UINT64 };
        g_hash_table_insert(by_key, g_steal_pointer(&key), line);
        g_ptr_array_add(lines, line);
        return line;
}

static void add_edges(GPtrArray *lines, const AldTopologySummary *summary, const AldTopology *topology)
{
        g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

        for (guint i = 0; i < topology->edges->len; i++) {
                const AldEdgeRow *edge = topology->edges->pdata[i];
                unsigned source = ald_topology_summary_index(summary, edge->source),
                         sink = ald_topology_summary_index(summary, edge->sink);

                if (source == 0 || sink == 0 || source == sink || ald_edge_is_within_node(edge))
                        continue;
                merge_edge(find_or_add_line(by_key, lines, MIN(source, sink) - 1, MAX(source, sink) - 1,
                                   edge_kind(edge)),
                        edge, source > sink);
        }
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
        const AldDrawnLine *x = *(const AldDrawnLine *const *) a, *y = *(const AldDrawnLine *const *) b;

        if (x->a != y->a)
                return x->a < y->a ? -1 : 1;
        if (x->b != y->b)
                return x->b < y->b ? -1 : 1;
        return (int) x->kind - (int) y->kind;
}

static bool is_same_pair(const AldDrawnLine *x, const AldDrawnLine *y)
{
        return x->a == y->a && x->b == y->b;
}

/* Drops the line of a cable that sockets or RDMA use. Lines are sorted. */
static void drop_used_cables(GPtrArray *lines)
{
        for (guint i = lines->len; i-- > 1;) {
                AldDrawnLine *line = lines->pdata[i];

                if (line->kind == ALD_LINE_CABLE && is_same_pair(line, lines->pdata[i - 1]))
                        g_ptr_array_remove_index(lines, i);
        }
}

static void number_lanes(GPtrArray *lines)
{
        for (guint first = 0, next; first < lines->len; first = next) {
                for (next = first + 1;
                        next < lines->len && is_same_pair(lines->pdata[first], lines->pdata[next]);)
                        next++;
                for (guint i = first; i < next; i++) {
                        AldDrawnLine *line = lines->pdata[i];

                        line->lane = i - first;
                        line->n_lanes = next - first;
                }
        }
}

static const AldTopologyNode *node_at(const AldTopologySummary *summary, unsigned index)
{
        return summary->nodes->pdata[index];
}

/* Findings of links concern measured figures, which an offline line does not show; its cross says enough. */
static void add_trouble(
        AldDrawnLine *line, const AldTopologySummary *summary, const AldLinkConcerns *concerns)
{
        static const AldLineTrouble troubles[] = {
                [ALD_FINDING_ROW_SEVERITY_ERROR] = ALD_LINE_TROUBLE_ERROR,
                [ALD_FINDING_ROW_SEVERITY_WARNING] = ALD_LINE_TROUBLE_WARNING,
                [ALD_FINDING_ROW_SEVERITY_NOTICE] = ALD_LINE_TROUBLE_NOTICE,
                [ALD_FINDING_ROW_SEVERITY_N] = ALD_LINE_TROUBLE_NONE,
        };
        const char *a = node_at(summary, line->a)->row->node, *b = node_at(summary, line->b)->row->node;

        if (!has_current_figures(line->presence))
                return;
        line->trouble = troubles[ald_link_concerns_severity(concerns, a, b, line->asymmetric)];
        line->verdict = ald_link_concerns_words(concerns, a, b, line->asymmetric);
}

/* Returns the words that stand in place of RTT/2 if a line has no figures; NULL for a live one. */
static const char *state_words(AldEdgeRowPresence presence)
{
        switch (presence) {
        case ALD_EDGE_ROW_PRESENCE_UNMEASURED:
                return _("not measured");
        case ALD_EDGE_ROW_PRESENCE_CANDIDATE:
                return _("possible");
        case ALD_EDGE_ROW_PRESENCE_OFFLINE:
                return _("offline");
        case ALD_EDGE_ROW_PRESENCE_UNKNOWN:
                return _("unknown");
        case ALD_EDGE_ROW_PRESENCE_STALE:
                return _("stale");
        default:
                return NULL;
        }
}

static const char *kind_words(AldLineKind kind)
{
        return kind == ALD_LINE_SOCKET ? _("sockets") : kind == ALD_LINE_RDMA ? _("RDMA") : _("cable");
}

/* Returns a rate with a mark in front of it if it is stale, or much slower than the other direction. */
static char *rate_text(const AldDrawnLine *line, uint64_t rate, uint64_t other)
{
        g_autofree char *text = NULL;

        if (rate == ALD_ABSENT_UINT64)
                return NULL;
        text = ald_format_bits_per_second(ald_uint64_to_double(rate));
        if (line->presence == ALD_EDGE_ROW_PRESENCE_STALE)
                return g_strdup_printf("~ %s", text);
        return line->asymmetric && rate < other ? g_strdup_printf("≠ %s", text) : g_steal_pointer(&text);
}

/* Written before half a round trip, to distinguish the lines between the same two nodes; by ruler. */
static const char *const delay_prefixes[ALD_N_RULERS] = { NULL, "", "IP ", "RDMA " };

static AldLabelRuler delay_ruler(const AldDrawnLine *line)
{
        if (line->kind == ALD_LINE_RDMA)
                return ALD_RULER_RDMA_DELAY;
        return line->n_lanes > 1 ? ALD_RULER_IP_DELAY : ALD_RULER_DELAY;
}

static char *middle_text(const AldDrawnLine *line)
{
        g_autofree char *delay = line->rtt == ALD_ABSENT_UINT64
                                         ? NULL
                                         : ald_format_nsec(ald_uint64_to_double(line->rtt) / 2);
        const char *state = state_words(line->presence);

        /* The cross on the line shows it, as does the card of the node. */
        if (line->presence == ALD_EDGE_ROW_PRESENCE_OFFLINE)
                return NULL;
        if (delay)
                return g_strconcat(delay_prefixes[delay_ruler(line)], delay, NULL);
        if (line->kind == ALD_LINE_SOCKET)
                return g_strdup(state);
        return state ? g_strdup_printf("%s: %s", kind_words(line->kind), state)
                     : g_strdup(kind_words(line->kind));
}

/* Appends the longest figure of each unit. It has three digits, which are equally wide, and a point. */
static void append_ruler(GString *ruler, const char *prefix, char *(*format)(double value), unsigned n_units)
{
        double value = 88.8;

        for (unsigned i = 0; i < n_units; i++, value *= 1000) {
                g_autofree char *text = format(value);

                g_string_append_printf(ruler, "%s%s%s", ruler->len > 0 ? "\n" : "", prefix, text);
        }
}

char *ald_label_ruler_text(AldLabelRuler ruler)
{
        GString *text = g_string_new(NULL);

        if (ruler == ALD_RULER_RATE) {
                /* Room for either mark is kept, so that a node that becomes stale moves nothing. */
                append_ruler(text, "~ ", ald_format_bits_per_second, RATE_UNITS);
                append_ruler(text, "≠ ", ald_format_bits_per_second, RATE_UNITS);
        } else {
                append_ruler(text, delay_prefixes[ruler], ald_format_nsec, DELAY_UNITS);
        }
        return g_string_free(text, FALSE);
}

static void add_texts(AldDrawnLine *line, const AldTopologySummary *summary)
{
        const char *a = node_at(summary, line->a)->name, *b = node_at(summary, line->b)->name;
        g_autofree char *there = ald_format_bits_per_second(ald_uint64_to_double(line->there));
        g_autofree char *back = ald_format_bits_per_second(ald_uint64_to_double(line->back));
        g_autofree char *delay = ald_format_nsec(ald_uint64_to_double(line->rtt) / 2), *path = NULL;
        const char *state = state_words(line->presence) ?: _("live");

        line->texts[ALD_LABEL_TO_B] = rate_text(line, line->there, line->back);
        line->texts[ALD_LABEL_TO_A] = rate_text(line, line->back, line->there);
        line->texts[ALD_LABEL_MIDDLE] = middle_text(line);
        line->rulers[ALD_LABEL_TO_B] = line->rulers[ALD_LABEL_TO_A] = ALD_RULER_RATE;
        line->rulers[ALD_LABEL_MIDDLE] = line->rtt == ALD_ABSENT_UINT64 ? ALD_RULER_WORDS : delay_ruler(line);
        path = g_strdup_printf(_("%s and %s over %s, %s: %s to %s, %s to %s, half a round trip %s"), a, b,
                kind_words(line->kind), state, there, b, back, a, delay);
        line->words = line->verdict ? g_strdup_printf("%s. %s", path, line->verdict) : g_steal_pointer(&path);
}

char *ald_drawn_line_tooltip(const AldDrawnLine *line, double now_usec)
{
        g_autofree char *age = line->measured_usec == ALD_ABSENT_UINT64
                                       ? NULL
                                       : ald_format_age((double) line->measured_usec, now_usec);

        return age ? g_strdup_printf(_("%s\nMeasured: %s"), line->words, age) : g_strdup(line->words);
}

GPtrArray *ald_drawn_lines(
        const AldTopologySummary *summary, const AldTopology *topology, const AldRows *findings)
{
        GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify) ald_drawn_line_free);
        g_autoptr(AldLinkConcerns) concerns = ald_link_concerns_new(findings);

        add_edges(lines, summary, topology);
        g_ptr_array_sort(lines, compare_lines);
        drop_used_cables(lines);
        number_lanes(lines);
        for (guint i = 0; i < lines->len; i++) {
                AldDrawnLine *line = lines->pdata[i];
                AldNodePair rates = { .there = line->there, .back = line->back };

                line->asymmetric = ald_node_pair_is_asymmetric(&rates);
                add_trouble(line, summary, concerns);
                add_texts(line, summary);
        }
        return lines;
}

static bool has_same_labels(const AldDrawnLine *x, const AldDrawnLine *y)
{
        for (size_t i = 0; i < ALD_N_LABEL_KINDS; i++) {
                bool words = x->texts[i] && x->rulers[i] == ALD_RULER_WORDS;

                if (!x->texts[i] != !y->texts[i] || x->rulers[i] != y->rulers[i] ||
                        (words && strcmp(x->texts[i], y->texts[i]) != 0))
                        return false;
        }
        return true;
}

bool ald_drawn_lines_are_alike(const GPtrArray *a, const GPtrArray *b)
{
        if (a->len != b->len)
                return false;
        for (guint i = 0; i < a->len; i++) {
                const AldDrawnLine *x = a->pdata[i], *y = b->pdata[i];

                if (!is_same_pair(x, y) || x->kind != y->kind || x->trouble != y->trouble ||
                        x->planned != y->planned || !has_same_labels(x, y))
                        return false;
        }
        return true;
}

bool ald_drawn_lines_look_alike(const GPtrArray *a, const GPtrArray *b)
{
        for (guint i = 0; i < a->len; i++) {
                const AldDrawnLine *x = a->pdata[i], *y = b->pdata[i];

                if (x->presence != y->presence || x->trouble != y->trouble || x->there != y->there ||
                        x->back != y->back)
                        return false;
        }
        return true;
}
