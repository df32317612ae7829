/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <microhttpd.h>

#include "clients/exporter/http-peers.h"

/* Answers requests on one listening socket, in the thread's default main context. */
typedef struct AldHttpServer AldHttpServer;

typedef struct AldHttpSetup {
        const char *certificate, *key; /* PEM; NULL: without TLS */
        /* Queues an answer to GET or HEAD of a path; the peer counts as refused unless it is given another
         * rank.
         */
        enum MHD_Result (*answer)(
                struct MHD_Connection *connection, const char *path, AldHttpPeer *peer, void *userdata);
        void *userdata;
} AldHttpSetup;

/* Creates a server. Keeps a duplicate of the socket, and the texts of the setup. Returns -EINVAL if the
 * certificate or the key cannot be used. */
int ald_http_server_new(int fd, const AldHttpSetup *setup, AldHttpServer **ret);
/* Answers requests from now on; until then connections wait. */
void ald_http_server_begin(AldHttpServer *server);
/* Ends all connections. */
void ald_http_server_free(AldHttpServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHttpServer, ald_http_server_free)

AldHttpPeers *ald_http_server_peers(AldHttpServer *server);
/* Returns how many connections were refused because their address, or all unknown ones together, connected
 * too often. */
uint64_t ald_http_server_refused(const AldHttpServer *server);

/* Queues a short text as the answer, with another header unless its name is NULL. */
enum MHD_Result ald_http_answer(struct MHD_Connection *connection, unsigned status, const char *text,
        const char *header, const char *value);
