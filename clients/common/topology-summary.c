/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/topology-summary.h"
#include "clients/common/words.h"
#include "record/translate.h"
#include "state/link/link-quality.h"
#include "state/link/link.h"

static void node_free(gpointer data)
{
        AldTopologyNode *node = data;

        g_free(node->name);
        g_free(node);
}

void ald_topology_summary_free(AldTopologySummary *summary)
{
        if (!summary)
                return;
        g_ptr_array_unref(summary->nodes);
        g_ptr_array_unref(summary->pairs);
        g_hash_table_unref(summary->by_id);
        g_free(summary);
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
        const AldTopologyNode *left = *(const AldTopologyNode *const *) a,
                              *right = *(const AldTopologyNode *const *) b;
        g_autofree char *x = g_utf8_collate_key_for_filename(left->name, -1);
        g_autofree char *y = g_utf8_collate_key_for_filename(right->name, -1);
        int r = strcmp(x, y);

        return r != 0 ? r : strcmp(left->row->node, right->row->node);
}

static void add_nodes(AldTopologySummary *summary, const AldTopology *topology)
{
        for (guint i = 0; i < topology->nodes->len; i++) {
                const AldGraphNodeRow *row = topology->nodes->pdata[i];
                AldTopologyNode *node = g_new(AldTopologyNode, 1);

                *node = (AldTopologyNode){ ald_node_label(row->name, row->node), row };
                g_ptr_array_add(summary->nodes, node);
        }
        g_ptr_array_sort(summary->nodes, compare_names);
        for (guint i = 0; i < summary->nodes->len; i++)
                g_hash_table_insert(summary->by_id,
                        (gpointer) ((const AldTopologyNode *) summary->nodes->pdata[i])->row->node,
                        GUINT_TO_POINTER(i + 1));
}

unsigned ald_topology_summary_index(const AldTopologySummary *summary, const char *id)
{
        return id ? GPOINTER_TO_UINT(g_hash_table_lookup(summary->by_id, id)) : 0;
}

static guint64 key_of(unsigned x, unsigned y)
{
        return (guint64) MIN(x, y) << 32 | MAX(x, y);
}

static void add_pair(AldTopologySummary *summary, const AldNodePairRow *row)
{
        unsigned node = ald_topology_summary_index(summary, row->node);
        unsigned peer = ald_topology_summary_index(summary, row->peer);
        AldNodePair *pair;

        if (node == 0 || peer == 0 || node == peer)
                return;
        pair = g_new(AldNodePair, 1);
        *pair = (AldNodePair){ key_of(node - 1, peer - 1), MIN(node, peer) - 1, MAX(node, peer) - 1,
                row->to_peer_bits_per_second, row->from_peer_bits_per_second, row->rtt_p50_nsec, row };
        if (peer < node) {
                pair->there = row->from_peer_bits_per_second;
                pair->back = row->to_peer_bits_per_second;
        }
        g_ptr_array_add(summary->pairs, pair);
}

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

AldTopologySummary *ald_topology_summarize(const AldTopology *topology)
{
        AldTopologySummary *summary = g_new(AldTopologySummary, 1);

        summary->nodes = g_ptr_array_new_with_free_func(node_free);
        summary->pairs = g_ptr_array_new_with_free_func(g_free);
        summary->by_id = g_hash_table_new(g_str_hash, g_str_equal);
        add_nodes(summary, topology);
        for (guint i = 0; i < topology->pairs->len; i++)
                add_pair(summary, topology->pairs->pdata[i]);
        g_ptr_array_sort(summary->pairs, compare_pairs);
        return summary;
}

const char *ald_topology_summary_name(const AldTopologySummary *summary, const char *id)
{
        unsigned index = ald_topology_summary_index(summary, id);

        return index == 0 ? ALD_ABSENT_TEXT
                          : ((const AldTopologyNode *) summary->nodes->pdata[index - 1])->name;
}

const AldNodePair *ald_topology_summary_find(const AldTopologySummary *summary, unsigned x, unsigned y)
{
        guint64 key = key_of(x, y);

        for (guint i = 0; i < summary->pairs->len; i++)
                if (((const AldNodePair *) summary->pairs->pdata[i])->key == key)
                        return summary->pairs->pdata[i];
        return NULL;
}

bool ald_node_pair_is_asymmetric(const AldNodePair *pair)
{
        return ald_link_rates_are_asymmetric(pair->there, ALD_ABSENT_DOUBLE, pair->back, ALD_ABSENT_DOUBLE);
}

bool ald_node_pair_is_without_ip(const AldNodePair *pair)
{
        const char *socket = ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_SOCKET);

        return pair->row->kinds && !g_strv_contains(pair->row->kinds, socket);
}

bool ald_edge_is_within_node(const AldEdgeRow *edge)
{
        return g_strcmp0(edge->kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_DEVICE)) == 0;
}

bool ald_edge_is_unusable(const AldEdgeRow *edge)
{
        return ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_OFFLINE) && edge->problem &&
               !g_str_equal(edge->problem, "policy");
}

bool ald_presence_is(const char *presence, AldEdgeRowPresence value)
{
        return g_strcmp0(presence, ald_edge_row_presence_to_string(value)) == 0;
}

static bool has_failed(const AldEdgeRow *edge)
{
        return ald_attempt_has_failed(edge->measured_usec, edge->failed_usec, edge->failure);
}

static AldTone tone_of(const AldEdgeRow *edge)
{
        if (ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_OFFLINE))
                return ALD_TONE_ERROR;
        if (ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_LIVE))
                return has_failed(edge) ? ALD_TONE_WARNING : ALD_TONE_GOOD;
        return ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_STALE) ? ALD_TONE_WARNING
                                                                            : ALD_TONE_FAINT;
}

static const char *presence_words(const AldEdgeRow *edge)
{
        if (ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_UNMEASURED))
                return _("not measured");
        if (ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_CANDIDATE))
                return _("possible");
        if (ald_presence_is(edge->presence, ALD_EDGE_ROW_PRESENCE_LIVE) && has_failed(edge))
                return _("failed");
        return ald_word(edge->presence) ?: ALD_ABSENT_TEXT;
}

char *ald_edge_state_words(const AldEdgeRow *edge, AldTone *ret_tone)
{
        g_autofree char *state = ald_text_safe(presence_words(edge));
        g_autofree char *reason = ald_text_safe_or_null(edge->reason ?: edge->failure);

        *ret_tone = tone_of(edge);
        return reason ? g_strdup_printf("%s: %s", state, reason) : g_steal_pointer(&state);
}

/* Returns "eth0 192.0.2.1". */
static char *describe_port(const char *port, const char *address)
{
        g_autofree char *safe = ald_text_safe(port ?: ALD_ABSENT_TEXT), *at = ald_text_safe_or_null(address);

        return at ? g_strdup_printf("%s %s", safe, at) : g_steal_pointer(&safe);
}

char *ald_edge_path_words(const AldEdgeRow *edge)
{
        g_autofree char *from = describe_port(edge->source_port, edge->source_address);
        g_autofree char *to = describe_port(edge->sink_port, edge->sink_address);

        return g_strdup_printf("%s → %s", from, to);
}

/* Returns "ethernet" or "wifi 6", for example. */
static char *describe_end(const char *type, uint64_t generation)
{
        g_autofree char *safe = ald_text_safe(type ?: ALD_ABSENT_TEXT);

        return type && generation != ALD_ABSENT_UINT64
                       ? g_strdup_printf("%s %" G_GUINT64_FORMAT, safe, generation)
                       : g_steal_pointer(&safe);
}

char *ald_edge_type_words(const AldEdgeRow *edge)
{
        g_autofree char *from = describe_end(edge->source_type, edge->source_generation);
        g_autofree char *to = describe_end(edge->sink_type, edge->sink_generation);
        g_autofree char *kind = ald_text_safe(edge->kind),
                        *transport = ald_text_safe_or_null(edge->transport);
        g_autofree char *types = strcmp(from, to) == 0 ? g_strdup(from)
                                                       : g_strdup_printf("%s → %s", from, to);

        if (g_str_equal(kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_SOCKET)))
                return g_steal_pointer(&types);
        if (g_str_equal(kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_RDMA)))
                return g_strdup_printf("%s%s%s", kind, transport ? " " : "", transport ?: "");
        return g_str_equal(kind, ald_edge_row_kind_to_string(ALD_EDGE_ROW_KIND_THUNDERBOLT))
                       ? g_steal_pointer(&types)
                       : g_strdup_printf("%s %s", kind, types);
}
