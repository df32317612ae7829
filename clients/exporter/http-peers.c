/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/socket.h>

#include "clients/exporter/http-peers.h"
#include "clients/exporter/http-prefix.h"

struct AldHttpPeers {
        GQueue queue; /* the oldest one first */
        uint64_t n_ended;
};

AldHttpPeers *ald_http_peers_new(void)
{
        return g_new0(AldHttpPeers, 1);
}

void ald_http_peers_free(AldHttpPeers *peers)
{
        g_assert(!peers || peers->queue.length == 0);
        g_free(peers);
}

/* Shuts the connection down; the server notices and closes it. */
static void end_peer(AldHttpPeers *peers, AldHttpPeer *peer)
{
        if (peer->ended)
                return;
        peer->ended = true;
        peers->n_ended++;
        (void) shutdown(peer->fd, SHUT_RDWR);
}

static unsigned count_of_address(const AldHttpPeers *peers, const AldHttpPeer *like)
{
        unsigned n = 0;

        for (GList *at = peers->queue.head; at; at = at->next) {
                const AldHttpPeer *peer = at->data;

                n += !peer->ended && peer->rank == like->rank && peer->prefix == like->prefix;
        }
        return n;
}

/* Ends one connection if there are more than `most`, either of those with an answer or of the others; of one
 * address, or of all if `prefix` is NULL. */
static void end_beyond(AldHttpPeers *peers, bool answered, const uint64_t *prefix, unsigned most)
{
        AldHttpPeer *victim = NULL;
        unsigned n = 0, of_victim = 0;

        for (GList *at = peers->queue.head; at; at = at->next) {
                AldHttpPeer *peer = at->data;
                unsigned of_peer;

                if (peer->ended || (peer->rank == ALD_HTTP_ANSWERED) != answered ||
                        (prefix && *prefix != peer->prefix))
                        continue;
                n++;
                of_peer = count_of_address(peers, peer);
                if (!victim || peer->rank < victim->rank ||
                        (peer->rank == victim->rank && of_peer > of_victim)) {
                        victim = peer;
                        of_victim = of_peer;
                }
        }
        if (n > most)
                end_peer(peers, victim);
}

AldHttpPeer *ald_http_peers_add(AldHttpPeers *peers, int fd, const struct sockaddr *address, gint64 now)
{
        AldHttpPeer *peer = g_new0(AldHttpPeer, 1);

        peer->peers = peers;
        peer->fd = fd;
        peer->began = now;
        peer->link.data = peer;
        peer->prefix = ald_http_prefix(address);
        g_queue_push_tail_link(&peers->queue, &peer->link);
        end_beyond(peers, false, &peer->prefix, ALD_HTTP_PEERS_OF_ADDRESS_MAX);
        end_beyond(peers, false, NULL, ALD_HTTP_PEERS_MAX);
        return peer;
}

void ald_http_peer_set_rank(AldHttpPeer *peer, AldHttpRank rank)
{
        AldHttpPeers *peers = peer->peers;

        peer->rank = rank;
        if (rank != ALD_HTTP_ANSWERED)
                return;
        end_beyond(peers, true, &peer->prefix, ALD_HTTP_ANSWERED_OF_ADDRESS_MAX);
        end_beyond(peers, true, NULL, ALD_HTTP_ANSWERED_MAX);
}

void ald_http_peers_remove(AldHttpPeers *peers, AldHttpPeer *peer)
{
        g_queue_unlink(&peers->queue, &peer->link);
        g_free(peer);
}

void ald_http_peers_end_old(AldHttpPeers *peers, gint64 now)
{
        for (GList *at = peers->queue.head; at; at = at->next) {
                AldHttpPeer *peer = at->data;

                if (now - peer->began < ALD_HTTP_AGE_USEC)
                        return;
                end_peer(peers, peer);
        }
}

void ald_http_peers_end_text(AldHttpPeers *peers, uint64_t text)
{
        for (GList *at = peers->queue.head; at; at = at->next) {
                AldHttpPeer *peer = at->data;

                if (peer->text == text)
                        end_peer(peers, peer);
        }
}

unsigned ald_http_peers_count(const AldHttpPeers *peers)
{
        return peers->queue.length;
}

uint64_t ald_http_peers_ended(const AldHttpPeers *peers)
{
        return peers->n_ended;
}
