/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/topology-summary.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/graph-lookup.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/rows/fact-row.h"
#include "clients/desktop/details/sections.h"

#define ALD_TYPE_BEST_SECTION (ald_best_section_get_type())
G_DECLARE_FINAL_TYPE(AldBestSection, ald_best_section, ALD, BEST_SECTION, AldDetailsSection)

struct _AldBestSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldBestSection, ald_best_section, ALD_TYPE_DETAILS_SECTION)

/* One figure of a pair, and the edge that it was measured on. */
typedef struct Best {
        char *text; /* NULL if absent */
        uint64_t edge, measured;
} Best;

/* Returns a text like "over ethernet, eth0 → eth1 192.0.2.2, measured 1 min ago by alder". */
static char *describe_origin(const AldDetailsSubject *subject, const GPtrArray *edges, const Best *best)
{
        const AldEdgeRow *edge = ald_graph_find_edge(edges, best->edge);
        const AldEntity *prober = edge ? ald_model_get(subject->model, edge->prober) : NULL;
        g_autofree char *age = ald_format_age(
                ald_uint64_to_double(best->measured), ald_node_now(prober, subject->now));
        g_autofree char *type = edge ? ald_edge_type_words(edge) : NULL;
        g_autofree char *path = edge ? ald_edge_path_words(edge) : NULL;
        g_autofree char *name = edge && edge->prober ? ald_details_subject_name(subject, edge->prober) : NULL;

        return edge ? g_strdup_printf(
                              _("over %s, %s, measured %s by %s"), type, path, age, name ?: ALD_ABSENT_TEXT)
                    : g_strdup_printf(_("measured %s"), age);
}

static char *format_rate(uint64_t rate)
{
        return rate == ALD_ABSENT_UINT64 ? NULL : ald_format_bits_per_second(ald_uint64_to_double(rate));
}

static void add_best_row(AldKeyedRows *rows, const AldDetailsSubject *subject, const GPtrArray *edges,
        const char *key, const char *label, Best best)
{
        AldFactRow *row = ALD_FACT_ROW(ald_keyed_rows_next(rows, key, ald_fact_row_new));
        AldTone tone = ALD_TONE_PLAIN;
        g_autofree char *note = best.text ? describe_origin(subject, edges, &best)
                                          : ald_path_absence_words(subject, subject->a, subject->b, &tone);

        ald_fact_row_show(row, label, best.text, ALD_TONE_PLAIN, note);
        ald_fact_row_set_prominent(row);
        g_free(best.text);
}

static void add_rows(AldKeyedRows *rows, const AldDetailsSubject *subject, const AldNodePairRow *pair,
        const GPtrArray *edges)
{
        bool in_order = strcmp(pair->node, subject->a) == 0;
        g_autofree char *a = ald_details_subject_name(subject, subject->a);
        g_autofree char *b = ald_details_subject_name(subject, subject->b);
        g_autofree char *there = ald_direction_words(a, b), *back = ald_direction_words(b, a);
        const Best to_peer = { format_rate(pair->to_peer_bits_per_second), pair->to_peer_edge,
                pair->to_peer_measured_usec };
        const Best from_peer = { format_rate(pair->from_peer_bits_per_second), pair->from_peer_edge,
                pair->from_peer_measured_usec };
        const Best rtt = { pair->rtt_p50_nsec == ALD_ABSENT_UINT64
                                   ? NULL
                                   : ald_format_nsec(ald_uint64_to_double(pair->rtt_p50_nsec) / 2),
                pair->rtt_edge, pair->rtt_measured_usec };

        add_best_row(rows, subject, edges, "there", there, in_order ? to_peer : from_peer);
        add_best_row(rows, subject, edges, "back", back, in_order ? from_peer : to_peer);
        add_best_row(rows, subject, edges, "rtt", _("RTT/2"), rtt);
}

static void update_best(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);
        const AldTopology *topology = ald_model_topology(subject->model);
        g_autoptr(GPtrArray) edges = g_ptr_array_new();
        const AldNodePairRow *pair;

        if (!ald_graph_is_known(topology)) {
                ald_details_section_set_note(section, topology ? topology->failure : NULL);
                return;
        }
        pair = ald_graph_find_pair(topology, subject->a, subject->b);
        ald_graph_add_edges(edges, topology, subject->a, subject->b);
        ald_graph_add_edges(edges, topology, subject->b, subject->a);
        ald_details_section_set_note(section, pair ? NULL : _("No path between these nodes is known."));
        ald_keyed_rows_begin(rows);
        if (pair)
                add_rows(rows, subject, pair, edges);
        ald_keyed_rows_end(rows);
}

static void ald_best_section_class_init(AldBestSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY | ALD_LIVE_LINKS | ALD_DETAILS_TICK;
        section_class->update = update_best;
}

static void ald_best_section_init(AldBestSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Best of All Paths"));
}

GtkWidget *ald_best_section_new(void)
{
        return g_object_new(ALD_TYPE_BEST_SECTION, NULL);
}
