/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "pki/tls-private.h"

/* TLS 1.3 with an external key that both sides have. Its hash is SHA-256, so the ciphers must have that too.
 */

#define IDENTITY "alidade"
#define CIPHERS "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

static SSL_SESSION *session_of(SSL *ssl)
{
        static const unsigned char aes_128_gcm_sha256[] = { 0x13, 0x01 };
        const AldTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
        const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
        SSL_SESSION *session = SSL_SESSION_new();

        if (session && cipher &&
                SSL_SESSION_set1_master_key(session, tls->key.bytes, sizeof tls->key.bytes) == 1 &&
                SSL_SESSION_set_cipher(session, cipher) == 1 &&
                SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
                return session;
        SSL_SESSION_free(session);
        return NULL;
}

static int offer(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_id, size_t *ret_n,
        SSL_SESSION **ret_session)
{
        *ret_session = NULL;
        if (digest && !EVP_MD_is_a(digest, "SHA256"))
                return 1;
        *ret_id = (const unsigned char *) IDENTITY;
        *ret_n = sizeof IDENTITY - 1;
        *ret_session = session_of(ssl);
        return *ret_session != NULL;
}

static int find(SSL *ssl, const unsigned char *id, size_t n, SSL_SESSION **ret_session)
{
        *ret_session = NULL;
        if (n != sizeof IDENTITY - 1 || memcmp(id, IDENTITY, n) != 0)
                return 1;
        *ret_session = session_of(ssl);
        return *ret_session != NULL;
}

/* A certificate is asked about only if the key was not taken. */
static int refuse(X509_STORE_CTX *store, void *data)
{
        AldTls *tls = data;

        X509_STORE_CTX_set_error(store, X509_V_ERR_INVALID_PURPOSE);
        ald_tls_set_reason(tls, g_strdup("the other side has a certificate instead of the shared key"));
        return 0;
}

bool ald_tls_key_set_up(AldTls *tls, bool server)
{
        SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

        tls->context = context;
        if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
                !SSL_CTX_set_ciphersuites(context, CIPHERS) || !SSL_CTX_set_num_tickets(context, 0))
                return false;
        /* A server without a certificate can take nothing but the key. */
        if (server) {
                SSL_CTX_set_psk_find_session_callback(context, find);
                return true;
        }
        SSL_CTX_set_psk_use_session_callback(context, offer);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_cert_verify_callback(context, refuse, tls);
        return true;
}
