/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/device-joins.h"
#include "clients/common/safe-text.h"
#include "clients/common/topology-summary.h"
#include "clients/common/words.h"
#include "record/translate.h"

static bool is_reverse(const AldEdgeRow *a, const AldEdgeRow *b)
{
        return g_strcmp0(a->source_port, b->sink_port) == 0 && g_strcmp0(a->sink_port, b->source_port) == 0 &&
               g_strcmp0(a->source_type, b->source_type) == 0;
}

/* Returns true for the edge that leads to the host, or to the greater Id: the record names the ends in this
 * order. */
static bool is_first(const AldEdgeRow *edge)
{
        return edge->source_port && edge->sink_port && strcmp(edge->source_port, "host") != 0 &&
               (strcmp(edge->sink_port, "host") == 0 || strcmp(edge->source_port, edge->sink_port) < 0);
}

static gint compare_joins(gconstpointer a, gconstpointer b)
{
        const AldEdgeRow *x = ((const AldJoinEdges *) a)->there, *y = ((const AldJoinEdges *) b)->there;
        int to_host = (strcmp(y->sink_port, "host") == 0) - (strcmp(x->sink_port, "host") == 0);
        int r = to_host != 0 ? to_host : strcmp(x->source_port, y->source_port);

        return r != 0 ? r : strcmp(x->sink_port, y->sink_port);
}

GArray *ald_device_joins(const AldTopology *topology, const char *node_id)
{
        GArray *joins = g_array_new(FALSE, FALSE, sizeof(AldJoinEdges));
        g_autoptr(GPtrArray) edges = g_ptr_array_new();

        for (guint i = 0; i < topology->edges->len; i++) {
                AldEdgeRow *edge = topology->edges->pdata[i];

                if (ald_edge_is_within_node(edge) && g_strcmp0(edge->source, node_id) == 0)
                        g_ptr_array_add(edges, edge);
        }
        for (guint i = 0; i < edges->len; i++) {
                AldJoinEdges join = { .there = edges->pdata[i] };

                if (!is_first(join.there))
                        continue;
                for (guint k = 0; k < edges->len && !join.back; k++)
                        if (is_reverse(join.there, edges->pdata[k]))
                                join.back = edges->pdata[k];
                g_array_append_val(joins, join);
        }
        g_array_sort(joins, compare_joins);
        return joins;
}

char *ald_device_join_end(const AldEntity *node, const char *device_id)
{
        const AldBackends *backends = ald_entity_as(node, BACKENDS, AldBackends);
        const AldBackend *device = backends ? ald_rows_find(&backends->devices, device_id) : NULL;
        g_autofree char *safe = ald_text_safe(device_id);
        g_autofree char *name = device && device->name ? ald_text_safe(device->name) : NULL;

        return name ? g_strdup_printf("%s (%s)", name, safe) : g_steal_pointer(&safe);
}

/* Returns "nvlink ×18". */
static char *describe_type(const AldEdgeRow *edge)
{
        uint64_t n = edge->lanes != ALD_ABSENT_UINT64 ? edge->lanes : edge->links;
        g_autofree char *type = ald_text_safe(edge->source_type ?: ALD_ABSENT_TEXT);

        return n == ALD_ABSENT_UINT64 ? g_steal_pointer(&type)
                                      : g_strdup_printf("%s ×%" G_GUINT64_FORMAT, type, n);
}

char *ald_device_join_words(const AldEdgeRow *edge)
{
        g_autofree char *type = describe_type(edge);
        g_autofree char *through = ald_text_safe_or_null(ald_word(edge->through));

        return through ? g_strdup_printf(_("%s through %s"), type, through) : g_steal_pointer(&type);
}
