/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The connections of one listening socket, and what bounds them: one that is not over after a while is ended,
 * and so is one if there are too many, of one address or in all, so that those who hold connections cannot
 * keep others from being answered. The first to end are those without a complete request, then those that
 * were refused, and of these one of the address that has the most, its oldest. Those that get their answer
 * have room of their own. Each connection is for one request. Addresses of IPv6 count by their /64
 * (http-prefix.h).
 */
typedef struct AldHttpPeers AldHttpPeers;

#define ALD_HTTP_AGE_USEC (30 * G_USEC_PER_SEC)
#define ALD_HTTP_PEERS_MAX 96u
#define ALD_HTTP_PEERS_OF_ADDRESS_MAX 32u
#define ALD_HTTP_ANSWERED_MAX 96u
#define ALD_HTTP_ANSWERED_OF_ADDRESS_MAX 32u

typedef enum AldHttpRank {
        ALD_HTTP_WAITING,  /* for a complete request */
        ALD_HTTP_REFUSED,  /* it gets no metrics */
        ALD_HTTP_ANSWERED, /* it gets them */
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
/* All peers must have been removed. */
void ald_http_peers_free(AldHttpPeers *peers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHttpPeers, ald_http_peers_free)

/* Adds a connection; may end others. `now` is CLOCK_MONOTONIC in µs. The peer is owned by the peers. */
AldHttpPeer *ald_http_peers_add(AldHttpPeers *peers, int fd, const struct sockaddr *address, gint64 now);
/* Sets what becomes of the request of the peer, which may end others. */
void ald_http_peer_set_rank(AldHttpPeer *peer, AldHttpRank rank);
/* The connection is closed. */
void ald_http_peers_remove(AldHttpPeers *peers, AldHttpPeer *peer);

/* Ends those that are too old. */
void ald_http_peers_end_old(AldHttpPeers *peers, gint64 now);
/* Ends those that are being sent this text. */
void ald_http_peers_end_text(AldHttpPeers *peers, uint64_t text);

unsigned ald_http_peers_count(const AldHttpPeers *peers);
/* How many were ended. */
uint64_t ald_http_peers_ended(const AldHttpPeers *peers);
