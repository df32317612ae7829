/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/peer-nodes.h"

struct AldNodes {
        GHashTable *by_id;
        unsigned n_hearsay;
};

static void node_free(gpointer data)
{
        AldClusterNode *node = data;

        ald_record_gap_clear(&node->gap);
        g_clear_pointer(&node->links, g_hash_table_unref);
        g_free(node->problem);
        g_free(node);
}

AldNodes *ald_nodes_new(void)
{
        AldNodes *nodes = g_new0(AldNodes, 1);

        nodes->by_id = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, node_free);
        return nodes;
}

void ald_nodes_free(AldNodes *nodes)
{
        if (!nodes)
                return;
        g_hash_table_unref(nodes->by_id);
        g_free(nodes);
}

AldClusterNode *ald_nodes_find(AldNodes *nodes, const AldId *id)
{
        return g_hash_table_lookup(nodes->by_id, id);
}

static AldClusterNode *node_new(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real)
{
        AldClusterNode *node;

        if (g_hash_table_size(nodes->by_id) >= ALD_NODES_MAX)
                return NULL;
        node = g_new0(AldClusterNode, 1);
        node->id = *id;
        node->first_heard = now;
        node->tokens = ALD_NODE_BURST;
        node->token_bytes = ALD_NODE_BURST_BYTES;
        node->refilled = now;
        ald_presence_init(&node->presence, real);
        g_hash_table_insert(nodes->by_id, &node->id, node);
        return node;
}

static void set_hearsay(AldNodes *nodes, AldClusterNode *node, bool is_hearsay)
{
        nodes->n_hearsay += (unsigned) is_hearsay - (unsigned) node->is_hearsay;
        node->is_hearsay = is_hearsay;
}

AldClusterNode *ald_nodes_get(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real)
{
        AldClusterNode *node = ald_nodes_find(nodes, id);

        if (!node)
                return node_new(nodes, id, now, real);
        set_hearsay(nodes, node, false);
        return node;
}

AldClusterNode *ald_nodes_get_hearsay(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real)
{
        AldClusterNode *node = ald_nodes_find(nodes, id);

        if (node || nodes->n_hearsay >= ALD_NODES_HEARSAY_MAX)
                return node;
        node = node_new(nodes, id, now, real);
        if (node)
                set_hearsay(nodes, node, true);
        return node;
}

void ald_nodes_foreach(AldNodes *nodes, AldNodesFunc func, void *userdata)
{
        GHashTableIter iter;
        gpointer node;

        g_hash_table_iter_init(&iter, nodes->by_id);
        while (g_hash_table_iter_next(&iter, NULL, &node))
                if (func(node, userdata)) {
                        set_hearsay(nodes, node, false);
                        g_hash_table_iter_remove(&iter);
                }
}

static bool has_clock_changed(const AldClusterNode *node)
{
        int64_t offset = ald_presence_clock_offset(&node->presence);

        if (offset == INT64_MIN || node->reported_offset == INT64_MIN)
                return offset != node->reported_offset;
        return ABS(offset - node->reported_offset) >= ALD_NODE_OFFSET_USEC;
}

bool ald_node_note_change(AldClusterNode *node)
{
        const AldNodePresence *presence = &node->presence;

        if (node->changed)
                return false;
        if (node->is_forgotten)
                node->changed = !node->reported_forgotten;
        else
                node->changed = !node->reported || node->reported_forgotten ||
                                node->reported_state != presence->state ||
                                node->reported_since != presence->since ||
                                node->reported_announced != node->announced ||
                                node->reported_epoch != node->epoch || has_clock_changed(node);
        return node->changed;
}

void ald_node_note_sent(AldClusterNode *node)
{
        node->changed = false;
        node->reported = true;
        node->reported_forgotten = node->is_forgotten;
        node->reported_state = node->presence.state;
        node->reported_since = node->presence.since;
        node->reported_announced = node->announced;
        node->reported_epoch = node->epoch;
        node->reported_offset = ald_presence_clock_offset(&node->presence);
}

bool ald_node_may_send(AldClusterNode *node, size_t size, uint64_t now)
{
        uint64_t earned = (now - node->refilled) * ALD_NODE_RATE / G_USEC_PER_SEC;

        if (earned > 0) {
                node->tokens = MIN(node->tokens + earned, ALD_NODE_BURST);
                node->token_bytes = MIN(node->token_bytes + earned * (ALD_NODE_RATE_BYTES / ALD_NODE_RATE),
                        ALD_NODE_BURST_BYTES);
                node->refilled = now;
        }
        if (node->tokens == 0 || node->token_bytes < size)
                return false;
        node->tokens--;
        node->token_bytes -= size;
        return true;
}

/* Keeps only the hash of a key. A collision admits one more key, which is harmless. */
bool ald_node_may_have_link(AldClusterNode *node, AldKind kind, const char *key)
{
        gpointer hash = GUINT_TO_POINTER(g_str_hash(key) * 2u + (kind == ALD_KIND_LINK_RDMA));

        if (!node->links)
                node->links = g_hash_table_new(NULL, NULL);
        if (g_hash_table_contains(node->links, hash))
                return true;
        if (g_hash_table_size(node->links) >= ALD_NODE_LINKS_MAX)
                return false;
        g_hash_table_add(node->links, hash);
        return true;
}

void ald_node_forget_links(AldClusterNode *node)
{
        g_clear_pointer(&node->links, g_hash_table_unref);
}

void ald_node_take_stamp(AldClusterNode *node, const AldStamp *stamp)
{
        if (ald_stamp_compare(stamp, &node->newest) > 0)
                node->newest = *stamp;
}

bool ald_node_hides(const AldClusterNode *node, const AldStamp *stamp)
{
        if (stamp->epoch < node->announced)
                return true;
        return node->forgotten.epoch != 0 && ald_stamp_compare(stamp, &node->forgotten) <= 0;
}

bool ald_node_may_be_forgotten(const AldClusterNode *node, const AldPresenceView *view, uint64_t now)
{
        switch (node->presence.state) {
        case ALD_PRESENCE_STATE_ONLINE:
                return false;
        case ALD_PRESENCE_STATE_DUPLICATE:
                return view->connected_since != 0 &&
                       now - MAX(node->presence.heard, view->connected_since) >= ALD_PRESENCE_OFFLINE_USEC;
        case ALD_PRESENCE_STATE_OFFLINE:
                return true;
        default:
                return node->presence.heard == 0;
        }
}
