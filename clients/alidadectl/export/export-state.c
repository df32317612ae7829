/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/export/export-state.h"
#include "clients/common/node-summary.h"
#include "placement/export/plan-export.h"
#include "placement/plan/export-words.h"

void ald_export_state_init(AldExportState *state, AldModel *model, double now_usec, bool force)
{
        const AldTopology *topology = ald_model_topology(model);

        *state = (AldExportState){ .model = model,
                .topology = topology,
                .summary = ald_topology_summarize(topology),
                .edges = g_hash_table_new(g_int64_hash, g_int64_equal),
                .now_usec = now_usec,
                .force = force };
        for (guint i = 0; i < topology->edges->len; i++) {
                AldEdgeRow *edge = topology->edges->pdata[i];

                g_hash_table_insert(state->edges, &edge->id, edge);
        }
}

void ald_export_state_clear(AldExportState *state)
{
        g_clear_pointer(&state->summary, ald_topology_summary_free);
        g_clear_pointer(&state->edges, g_hash_table_unref);
}

bool ald_export_state_counts(const AldExportState *state, unsigned index)
{
        const AldTopologyNode *node = state->summary->nodes->pdata[index];

        return g_strcmp0(node->row->presence, "online") == 0 || g_strcmp0(node->row->presence, "stale") == 0;
}

const AldEntity *ald_export_state_node(const AldExportState *state, unsigned index)
{
        const AldTopologyNode *node = state->summary->nodes->pdata[index];

        return ald_model_get(state->model, node->row->node);
}

bool ald_export_state_is_old(const AldExportState *state, const AldEntity *node, uint64_t measured_usec)
{
        double now = node ? ald_node_now(node, state->now_usec) : state->now_usec;

        return measured_usec == ALD_ABSENT_UINT64 ||
               now - (double) measured_usec > (double) ALD_EXPORT_RATE_USEC_MAX;
}

static bool edge_is_old(const AldExportState *state, uint64_t id, uint64_t measured_usec)
{
        const AldEdgeRow *edge = g_hash_table_lookup(state->edges, &id);
        const AldEntity *prober = edge ? ald_model_get(state->model, edge->prober) : NULL;

        return ald_export_state_is_old(state, prober, measured_usec);
}

static void add_direction(
        const AldExportState *state, uint64_t rate, uint64_t edge, uint64_t measured_usec, AldPairRate *ret)
{
        if (rate == ALD_ABSENT_UINT64)
                return;
        ret->bits_per_second = fmin(ret->bits_per_second, (double) rate);
        ret->measured_usec = MIN(ret->measured_usec, measured_usec);
        ret->is_old |= edge_is_old(state, edge, measured_usec);
}

AldPairRate ald_export_state_rate(const AldExportState *state, const AldNodePair *pair)
{
        const AldNodePairRow *row = pair->row;
        AldPairRate rate = { .bits_per_second = NAN, .measured_usec = ALD_ABSENT_UINT64 };

        if (!ald_export_state_counts(state, pair->a) || !ald_export_state_counts(state, pair->b) ||
                (!ald_presence_is(row->presence, ALD_EDGE_ROW_PRESENCE_LIVE) &&
                        !ald_presence_is(row->presence, ALD_EDGE_ROW_PRESENCE_STALE)))
                return rate;
        add_direction(
                state, row->to_peer_bits_per_second, row->to_peer_edge, row->to_peer_measured_usec, &rate);
        add_direction(state, row->from_peer_bits_per_second, row->from_peer_edge,
                row->from_peer_measured_usec, &rate);
        return rate;
}

char *ald_export_state_host(const AldExportState *state, const AldEntity *node)
{
        const AldIdentity *identity = ald_entity_as(node, IDENTITY, AldIdentity);
        const char *name = identity ? identity->host_name : NULL;
        g_autofree char *host = name ? g_strdup(name) : NULL;

        if (host && !state->full_names)
                host[strcspn(host, ".")] = '\0';
        else if (host && g_str_has_suffix(host, "."))
                host[strlen(host) - 1] = '\0'; /* the final dot only marks the name as complete */

        return ald_export_is_host_name(host) ? g_steal_pointer(&host) : NULL;
}

void ald_export_state_append_header(
        GString *out, const AldExportState *state, const char *format, uint64_t oldest_usec)
{
        g_string_append_printf(out,
                "# For %s, by Alidade " ALD_VERSION ", from the connection graph of revision %" PRIu64
                ".\n# ",
                format, state->topology->revision);
        if (oldest_usec == ALD_ABSENT_UINT64) {
                g_string_append(out, "No measured figures: there are none yet, or they were measured beside "
                                     "other work.\n");
                return;
        }
        g_string_append(out, "Oldest figure: measured ");
        ald_export_append_time(out, oldest_usec);
        g_string_append_c(out, '\n');
}
