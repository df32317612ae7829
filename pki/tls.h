/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/identity.h"
#include "pki/shared-key.h"

/*
 * Mutual TLS 1.3 with the certificates of one cluster. A context verifies the peer with ald_pki_verify() and
 * the clock, and keeps the reason why the last handshake failed, on either side. It may be used in any
 * thread. It never changes: create a new one for a new revocation list. Sessions are never resumed, since
 * that would skip the verification.
 */
typedef struct AldTls AldTls;

/* Creates a context for connections of this node to a broker. host (may be NULL: any broker of the cluster)
 * is the name or address that its certificate must have. Certificates without serverAuth, such as those of
 * nodes, are refused. */
int ald_tls_new_for_broker(const AldPkiIdentity *identity, const char *host, AldTls **ret, char **ret_error);

/* Creates a context for connections between two nodes, one of which is the server. node_id (may be NULL: any
 * node) is the expected peer. */
int ald_tls_new_for_peer(
        const AldPkiIdentity *identity, bool server, const char *node_id, AldTls **ret, char **ret_error);

/* Creates a context for connections between two machines that have the same key, without certificates. */
int ald_tls_new_for_key(const AldSharedKey *key, bool server, AldTls **ret, char **ret_error);

/* Frees a context that no connection uses any more. */
void ald_tls_free(AldTls *tls);

/* Returns the context for SSL_new() and MOSQ_OPT_SSL_CTX, which `tls` owns. */
SSL_CTX *ald_tls_context(AldTls *tls);

/*
 * Returns why the last handshake failed: what is wrong with the peer's certificate, or what the peer reported
 * about ours; NULL if neither has happened since the last call. With TLS 1.3 a server refuses our certificate
 * after SSL_connect() has succeeded, so also ask when reading fails.
 */
char *ald_tls_take_reason(AldTls *tls);

/* Does the same after a call on the connection has returned `result`; without such a reason it returns that
 * of OpenSSL or errno. Never returns NULL. Call it before any other OpenSSL function in this thread. */
char *ald_tls_explain(AldTls *tls, SSL *ssl, int result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTls, ald_tls_free)
