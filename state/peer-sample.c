/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/peer-sample.h"

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

size_t ald_peer_sample_turn(size_t n_nodes)
{
        size_t distances = n_nodes / 2, turn = 1;

        if (n_nodes < ALD_PEER_SAMPLE_FROM)
                return 1;
        /* At each distance stand two, one on either side. */
        while (turn * (ALD_PEER_SAMPLE / 2) < distances)
                turn *= 2;
        return turn;
}

GPtrArray *ald_peer_sample_compute(AldStore *store, uint64_t now_realtime, uint64_t period_usec)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();
        GPtrArray *peers = g_ptr_array_new();
        Ring ring = { .nodes = nodes };
        size_t turn, now;

        ald_store_foreach_node(store, add_to_ring, &ring);
        turn = ald_peer_sample_turn(nodes->len);
        now = now_realtime / period_usec % turn;
        for (size_t distance = 1; distance <= nodes->len / 2; distance++) {
                if (distance % turn != now)
                        continue;
                g_ptr_array_add(peers, nodes->pdata[(ring.own + distance) % nodes->len]);
                if (2 * distance < nodes->len)
                        g_ptr_array_add(peers, nodes->pdata[(ring.own + nodes->len - distance) % nodes->len]);
        }
        return peers;
}
