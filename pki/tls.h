/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/identity.h"
#include "pki/shared-key.h"

/*
 * Mutual TLS 1.3 with the certificates of one cluster. A context judges the peer by ald_pki_verify() and the
 * clock, and remembers the last reason why a handshake failed, on either side; it may be used in any thread.
 * It never changes: for a new revocation list make a new one. Sessions are never resumed, since that would
 * skip the judgement.
 */
typedef struct AldTls AldTls;

/* Towards a broker, as the node. host (maybe NULL: any broker of the cluster) is the name or address that its
 * certificate must have; what has no serverAuth, as a node's, is refused. */
int ald_tls_new_for_broker(const AldPkiIdentity *identity, const char *host, AldTls **ret, char **ret_error);

/* Between two nodes, one of which is the server. node_id (maybe NULL: any node) is whom to expect. */
int ald_tls_new_for_peer(
        const AldPkiIdentity *identity, bool server, const char *node_id, AldTls **ret, char **ret_error);

/* Between two machines that have the same key; there are no certificates. */
int ald_tls_new_for_key(const AldSharedKey *key, bool server, AldTls **ret, char **ret_error);

/* Must be called only when no connection uses the context any more. */
void ald_tls_free(AldTls *tls);

/* For SSL_new() and MOSQ_OPT_SSL_CTX; stays the context's. */
SSL_CTX *ald_tls_context(AldTls *tls);

/*
 * Why the last handshake failed: what is wrong with the peer's certificate, or what the peer says is wrong
 * with ours; NULL where nothing of both happened since the last call. With TLS 1.3 a server refuses our
 * certificate after SSL_connect() has succeeded, so also ask when reading fails.
 */
char *ald_tls_take_reason(AldTls *tls);

/* The same after a call on the connection returned result; where there is no such reason, OpenSSL's or
 * errno's. Never NULL. To be called before anything else of OpenSSL in the thread. */
char *ald_tls_explain(AldTls *tls, SSL *ssl, int result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTls, ald_tls_free)
