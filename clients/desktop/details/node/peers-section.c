/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/topology-summary.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/graph-lookup.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/rows/lazy-expander.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/widgets/widget-words.h"

#define PEERS_AT_FIRST 24u
#define PEERS_MORE 48u

#define ALD_TYPE_PEERS_SECTION (ald_peers_section_get_type())
G_DECLARE_FINAL_TYPE(AldPeersSection, ald_peers_section, ALD, PEERS_SECTION, AldDetailsSection)

struct _AldPeersSection {
        AldDetailsSection parent;
        GtkWidget *more; /* button that shows more peers */
        guint limit;
};

G_DEFINE_FINAL_TYPE(AldPeersSection, ald_peers_section, ALD_TYPE_DETAILS_SECTION)

/* Returns the age of a figure by the clock of the node that has measured it; NaN without a figure. */
static double measurement_age(
        const AldDetailsSubject *subject, const GPtrArray *edges, uint64_t edge_id, uint64_t measured)
{
        const AldEdgeRow *edge = ald_graph_find_edge(edges, edge_id);
        const AldEntity *prober = edge ? ald_model_get(subject->model, edge->prober) : NULL;

        return measured == ALD_ABSENT_UINT64
                       ? (double) NAN
                       : ald_node_now(prober, subject->now) - ald_uint64_to_double(measured);
}

static char *describe_age(const AldDetailsSubject *subject, const AldNodePairRow *pair, const char *peer)
{
        g_autoptr(GPtrArray) edges = g_ptr_array_new();
        const AldTopology *topology = ald_model_topology(subject->model);
        double oldest;

        ald_graph_add_edges(edges, topology, subject->a, peer);
        ald_graph_add_edges(edges, topology, peer, subject->a);
        oldest = fmax(measurement_age(subject, edges, pair->to_peer_edge, pair->to_peer_measured_usec),
                fmax(measurement_age(subject, edges, pair->from_peer_edge, pair->from_peer_measured_usec),
                        measurement_age(subject, edges, pair->rtt_edge, pair->rtt_measured_usec)));
        return ald_format_age(subject->now - oldest, subject->now);
}

/* Returns "→ 9.41 Gb/s ← 9.38 Gb/s", and in a second line "RTT/2 18.2 µs, 1 min ago". The spoken text has no
 * arrows. */
static char *describe_figures(
        const AldDetailsSubject *subject, const AldNodePairRow *pair, const char *peer, char **ret_spoken)
{
        bool is_first = strcmp(pair->node, subject->a) == 0;
        uint64_t there = is_first ? pair->to_peer_bits_per_second : pair->from_peer_bits_per_second;
        uint64_t back = is_first ? pair->from_peer_bits_per_second : pair->to_peer_bits_per_second;
        g_autofree char *to = ald_format_bits_per_second(ald_uint64_to_double(there));
        g_autofree char *from = ald_format_bits_per_second(ald_uint64_to_double(back));
        g_autofree char *rtt = ald_format_nsec(ald_uint64_to_double(pair->rtt_p50_nsec) / 2);
        g_autofree char *age = describe_age(subject, pair, peer);

        *ret_spoken = g_strdup_printf(_("there %s, back %s, RTT/2 %s, %s"), to, from, rtt, age);
        return g_strdup_printf(_("→ %s  ← %s\nRTT/2 %s, %s"), to, from, rtt, age);
}

static bool is_measured(const AldNodePairRow *pair)
{
        return pair->to_peer_bits_per_second != ALD_ABSENT_UINT64 ||
               pair->from_peer_bits_per_second != ALD_ABSENT_UINT64 ||
               pair->rtt_p50_nsec != ALD_ABSENT_UINT64;
}

/* Describes the gravest problem of a path, or else the best state of all paths. */
static char *describe_state(const AldNodePairRow *pair, const AldLinkSummary *gravest, AldTone *ret_tone)
{
        AldEdgeRow edge = ALD_EDGE_ROW_INIT;

        if (gravest && ald_presence_is(pair->presence, ALD_EDGE_ROW_PRESENCE_LIVE))
                return ald_link_verdict_words(gravest, ret_tone);
        edge.presence = pair->presence;
        return ald_edge_state_words(&edge, ret_tone);
}

static void show_button(
        AldLazyExpander *expander, const AldDetailsSubject *subject, const char *peer, const char *name)
{
        GtkWidget *button = ald_lazy_expander_button(expander, "go-next-symbolic");
        g_autofree char *own = ald_details_subject_name(subject, subject->a),
                        *pair = ald_pair_words(own, name);
        g_autofree char *label = g_strdup_printf(_("Show %s"), pair);

        if (g_strcmp0(gtk_widget_get_tooltip_text(button), label) != 0) {
                gtk_widget_set_tooltip_text(button, label);
                gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "(ss)", subject->a, peer);
                gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.show-pair");
        }
        ald_widget_describe(button, label, NULL);
}

static void show_peer(AldLazyExpander *expander, const AldDetailsSubject *subject, const AldNodePairRow *pair,
        const char *peer, const AldLinkSummary *gravest)
{
        g_autofree char *name = ald_details_subject_name(subject, peer);
        AldTone tone, absence_tone;
        g_autofree char *state = describe_state(pair, gravest, &tone), *spoken = NULL;
        g_autofree char *words = is_measured(pair)
                                         ? describe_figures(subject, pair, peer, &spoken)
                                         : ald_path_absence_words(subject, subject->a, peer, &absence_tone);
        AldKeyedRows *rows = ald_lazy_expander_open_rows(expander);

        ald_lazy_expander_show(expander, name, words, spoken);
        ald_lazy_expander_show_state(expander, state, tone);
        show_button(expander, subject, peer, name);
        if (!rows)
                return;
        ald_keyed_rows_begin(rows);
        ald_path_rows_name(rows, subject, subject->a, peer);
        ald_keyed_rows_end(rows);
}

/* Returns the ids of nodes with a path to this one, in the order of their names. */
static GPtrArray *find_peers(const AldDetailsSubject *subject, const AldTopology *topology)
{
        const GPtrArray *nodes = ald_model_nodes(subject->model);
        GPtrArray *peers = g_ptr_array_new();

        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];

                if (strcmp(node->id, subject->a) != 0 && ald_graph_find_pair(topology, subject->a, node->id))
                        g_ptr_array_add(peers, node->id);
        }
        return peers;
}

static void show_more(AldPeersSection *section, guint hidden)
{
        g_autofree char *label = hidden > 0
                                         ? g_strdup_printf(
                                                   ngettext("Show %u More", "Show %u More", hidden), hidden)
                                         : NULL;

        gtk_widget_set_visible(section->more, hidden > 0);
        if (label && g_strcmp0(gtk_button_get_label(GTK_BUTTON(section->more)), label) != 0)
                gtk_button_set_label(GTK_BUTTON(section->more), label);
}

static void add_peer_rows(
        AldKeyedRows *rows, const AldDetailsSubject *subject, const GPtrArray *peers, guint n)
{
        const AldTopology *topology = ald_model_topology(subject->model);
        g_autoptr(GHashTable) gravest = ald_path_gravest(subject, subject->a);

        ald_keyed_rows_begin(rows);
        for (guint i = 0; i < n; i++) {
                const char *peer = peers->pdata[i];
                GtkWidget *row = ald_keyed_rows_next(rows, peer, ald_lazy_expander_new);

                show_peer(ALD_LAZY_EXPANDER(row), subject, ald_graph_find_pair(topology, subject->a, peer),
                        peer, g_hash_table_lookup(gravest, peer));
        }
        ald_keyed_rows_end(rows);
}

static void update_peers(AldDetailsSection *base, const AldDetailsSubject *subject)
{
        AldPeersSection *section = ALD_PEERS_SECTION(base);
        const AldTopology *topology = ald_model_topology(subject->model);
        g_autoptr(GPtrArray) peers = NULL;
        guint shown;

        if (!ald_graph_is_known(topology)) {
                ald_details_section_set_note(base, topology ? topology->failure : NULL);
                return;
        }
        peers = find_peers(subject, topology);
        shown = MIN(peers->len, section->limit);
        ald_details_section_set_note(base, peers->len == 0 ? _("No path to another node is known.") : NULL);
        add_peer_rows(ald_details_section_rows(base), subject, peers, shown);
        show_more(section, peers->len - shown);
}

static void on_more_clicked(AldPeersSection *section)
{
        section->limit += PEERS_MORE;
        gtk_widget_activate_action(GTK_WIDGET(section), "details.refresh", NULL);
}

static void ald_peers_section_class_init(AldPeersSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY | ALD_LIVE_LINKS | ALD_DETAILS_TICK;
        section_class->update = update_peers;
}

static void ald_peers_section_init(AldPeersSection *section)
{
        section->limit = PEERS_AT_FIRST;
        section->more = gtk_button_new();
        gtk_widget_set_visible(section->more, FALSE);
        g_signal_connect_swapped(section->more, "clicked", G_CALLBACK(on_more_clicked), section);
        gtk_box_append(GTK_BOX(section), section->more);
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Paths to Other Nodes"));
}

GtkWidget *ald_peers_section_new(void)
{
        return g_object_new(ALD_TYPE_PEERS_SECTION, NULL);
}
