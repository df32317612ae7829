/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/device-joins.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/topology-summary.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/graph-lookup.h"
#include "clients/desktop/details/rows/figure-row.h"
#include "clients/desktop/details/sections.h"

#define ALD_TYPE_JOINS_SECTION (ald_joins_section_get_type())
G_DECLARE_FINAL_TYPE(AldJoinsSection, ald_joins_section, ALD, JOINS_SECTION, AldDetailsSection)

struct _AldJoinsSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldJoinsSection, ald_joins_section, ALD_TYPE_DETAILS_SECTION)

static char *format_rate(uint64_t rate)
{
        return ald_format_bits_per_second(ald_uint64_to_double(rate));
}

/* Returns whether the join leads to the host, since only these are measured. */
static bool leads_to_host(const AldEdgeRow *edge)
{
        return strcmp(edge->sink_port, "host") == 0;
}

static char *describe_age(const AldEdgeRow *edge, double now)
{
        g_autofree char *age = ald_format_age(ald_uint64_to_double(edge->measured_usec), now);

        return edge->measured_usec == ALD_ABSENT_UINT64 || !leads_to_host(edge)
                       ? NULL
                       : g_strdup_printf(_("Measured %s"), age);
}

static void show_join(AldFigureRow *row, const AldDetailsSubject *subject, const AldJoinEdges *join)
{
        const AldEdgeRow *edge = join->there;
        g_autofree char *from = ald_device_join_end(subject->node_a, edge->source_port);
        g_autofree char *to = ald_device_join_end(subject->node_a, edge->sink_port);
        g_autofree char *title = g_strdup_printf("%s ↔ %s", from, to), *words = ald_device_join_words(edge);
        g_autofree char *limit = format_rate(edge->negotiated_bits_per_second);
        g_autofree char *there = format_rate(edge->bits_per_second);
        g_autofree char *back = format_rate(join->back ? join->back->bits_per_second : ALD_ABSENT_UINT64);
        g_autofree char *age = describe_age(edge, ald_node_now(subject->node_a, subject->now));
        AldTone tone;
        g_autofree char *state = ald_edge_state_words(edge, &tone);
        const AldFigureSet figures = { title, words,
                { { _("Limit"), limit }, { _("To host"), there }, { _("From host"), back } },
                leads_to_host(edge) ? 3 : 1, age, state, tone, NULL, subject->outdated };

        ald_figure_row_show(row, &figures);
}

static void update_joins(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);
        const AldTopology *topology = ald_model_topology(subject->model);
        g_autoptr(GArray) joins = NULL;

        if (!ald_graph_is_known(topology))
                return;
        joins = ald_device_joins(topology, subject->a);
        ald_keyed_rows_begin(rows);
        for (guint i = 0; i < joins->len; i++) {
                const AldJoinEdges *join = &g_array_index(joins, AldJoinEdges, i);
                g_autofree char *key = g_strdup_printf("%s %s %s", join->there->source_port,
                        join->there->sink_port, join->there->source_type ?: "");

                show_join(ALD_FIGURE_ROW(ald_keyed_rows_next(rows, key, ald_figure_row_new)), subject, join);
        }
        ald_keyed_rows_end(rows);
}

static void ald_joins_section_class_init(AldJoinsSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY | ALD_DETAILS_TICK;
        section_class->update = update_joins;
}

static void ald_joins_section_init(AldJoinsSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Inside This Node"));
}

GtkWidget *ald_joins_section_new(void)
{
        return g_object_new(ALD_TYPE_JOINS_SECTION, NULL);
}
