/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The connections of one listening socket, and their limits. A connection is ended if it takes too long, or
 * if there are too many of its address or in all, so that clients that hold connections cannot keep others
 * from being answered. Connections without a complete request are ended first, then those that were refused,
 * and of these the oldest one of the address that has the most. Connections that are sent metrics have limits
 * of their own. Each connection is for one request. IPv6 addresses count by their /64 (http-prefix.h).
 */
typedef struct AldHttpPeers AldHttpPeers;

#define ALD_HTTP_AGE_USEC (30 * G_USEC_PER_SEC)
#define ALD_HTTP_PEERS_MAX 96u
#define ALD_HTTP_PEERS_OF_ADDRESS_MAX 32u
#define ALD_HTTP_ANSWERED_MAX 96u
#define ALD_HTTP_ANSWERED_OF_ADDRESS_MAX 32u

typedef enum AldHttpRank {
        ALD_HTTP_WAITING,  /* for a complete request */
        ALD_HTTP_REFUSED,  /* it is sent no metrics */
        ALD_HTTP_ANSWERED, /* it is sent metrics */
} AldHttpRank;

typedef struct AldHttpPeer {
        AldHttpPeers *peers;
        int fd;          /* belongs to the connection */
        uint64_t prefix; /* of the address */
        gint64 began;
        uint64_t text; /* number of the text that it is being sent; 0: none */
        AldHttpRank rank;
        bool ended;
        GList link;
} AldHttpPeer;

AldHttpPeers *ald_http_peers_new(void);
/* Frees the peers, all of which must have been removed. */
void ald_http_peers_free(AldHttpPeers *peers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHttpPeers, ald_http_peers_free)

/* Adds a connection, which may end others. `now` is CLOCK_MONOTONIC in µs. The peer is owned by the peers. */
AldHttpPeer *ald_http_peers_add(AldHttpPeers *peers, int fd, const struct sockaddr *address, gint64 now);
/* Sets the result of the request of the peer, which may end others. */
void ald_http_peer_set_rank(AldHttpPeer *peer, AldHttpRank rank);
/* Removes the peer, because its connection was closed. */
void ald_http_peers_remove(AldHttpPeers *peers, AldHttpPeer *peer);

/* Ends connections that are too old. */
void ald_http_peers_end_old(AldHttpPeers *peers, gint64 now);
/* Ends connections that are being sent this text. */
void ald_http_peers_end_text(AldHttpPeers *peers, uint64_t text);

unsigned ald_http_peers_count(const AldHttpPeers *peers);
/* Returns how many connections were ended. */
uint64_t ald_http_peers_ended(const AldHttpPeers *peers);
