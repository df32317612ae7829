/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/peer-sample.h"

typedef struct Ring {
        GPtrArray *nodes; /* in the order of their ids */
        size_t own;
} Ring;

static gboolean add_to_ring(AldNode *node, void *userdata)
{
        Ring *ring = userdata;

        if (node->local)
                ring->own = ring->nodes->len;
        if (node->local || ald_node_is_online(node))
                g_ptr_array_add(ring->nodes, node);
        return FALSE;
}

size_t ald_peer_sample_n_periods(size_t n_nodes)
{
        size_t distances = n_nodes / 2, turn = 1;

        if (n_nodes < ALD_PEER_SAMPLE_FROM)
                return 1;
        /* Each distance has two nodes, one on either side. */
        while (turn * (ALD_PEER_SAMPLE / 2) < distances)
                turn *= 2;
        return turn;
}

static void add_place(GArray *places, size_t place)
{
        g_array_append_val(places, place);
}

GArray *ald_peer_sample_pick(size_t n_nodes, size_t own, uint64_t period)
{
        GArray *places = g_array_new(FALSE, FALSE, sizeof(size_t));
        size_t turn = ald_peer_sample_n_periods(n_nodes);

        for (size_t distance = 1; distance <= n_nodes / 2; distance++) {
                if (distance % turn != period % turn)
                        continue;
                add_place(places, (own + distance) % n_nodes);
                if (2 * distance < n_nodes)
                        add_place(places, (own + n_nodes - distance) % n_nodes);
        }
        return places;
}

GPtrArray *ald_peer_sample_compute(AldStore *store, uint64_t now_realtime, uint64_t period_usec)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();
        g_autoptr(GArray) places = NULL;
        GPtrArray *peers = g_ptr_array_new();
        Ring ring = { .nodes = nodes };

        ald_store_foreach_node(store, add_to_ring, &ring);
        places = ald_peer_sample_pick(nodes->len, ring.own, now_realtime / period_usec);
        for (guint i = 0; i < places->len; i++)
                g_ptr_array_add(peers, nodes->pdata[g_array_index(places, size_t, i)]);
        return peers;
}
