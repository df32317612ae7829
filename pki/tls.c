/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/openssl.h"
#include "pki/shared-key.h"
#include "pki/tls.h"
#include "pki/verify.h"

/* Used with a shared key only. */
#define KEY_IDENTITY "alidade"
#define KEY_CIPHERS "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

struct AldTls {
        SSL_CTX *context;
        X509 *ca;
        X509_CRL *crl;
        AldPkiRole peer;
        char *expected;
        bool by_key; /* with a shared key instead of certificates */
        AldSharedKey key;
        GMutex lock;
        char *reason;
};

static void set_reason(AldTls *tls, char *reason)
{
        g_mutex_lock(&tls->lock);
        g_free(tls->reason);
        tls->reason = reason;
        g_mutex_unlock(&tls->lock);
}

/* Makes the session of TLS 1.3 for an external key that both sides have. The hash of such a session is
 * SHA-256, so the cipher must use that too. */
static SSL_SESSION *new_key_session(SSL *ssl)
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

static int offer_key(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_id, size_t *ret_n,
        SSL_SESSION **ret_session)
{
        *ret_session = NULL;
        if (digest && !EVP_MD_is_a(digest, "SHA256"))
                return 1;
        *ret_id = (const unsigned char *) KEY_IDENTITY;
        *ret_n = sizeof KEY_IDENTITY - 1;
        *ret_session = new_key_session(ssl);
        return *ret_session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *id, size_t n, SSL_SESSION **ret_session)
{
        *ret_session = NULL;
        if (n != sizeof KEY_IDENTITY - 1 || memcmp(id, KEY_IDENTITY, n) != 0)
                return 1;
        *ret_session = new_key_session(ssl);
        return *ret_session != NULL;
}

/* Refuses every certificate. It is called only if the key was not accepted. */
static int refuse_certificate(X509_STORE_CTX *store, void *data)
{
        AldTls *tls = data;

        X509_STORE_CTX_set_error(store, X509_V_ERR_INVALID_PURPOSE);
        set_reason(tls, g_strdup("the other side has a certificate instead of the shared key"));
        return 0;
}

static bool set_up_key(AldTls *tls, bool server)
{
        SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

        tls->context = context;
        if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
                !SSL_CTX_set_ciphersuites(context, KEY_CIPHERS) || !SSL_CTX_set_num_tickets(context, 0))
                return false;
        /* A server without a certificate can accept only the key. */
        if (server) {
                SSL_CTX_set_psk_find_session_callback(context, find_key);
                return true;
        }
        SSL_CTX_set_psk_use_session_callback(context, offer_key);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_cert_verify_callback(context, refuse_certificate, tls);
        return true;
}

/* Returns the error whose alert is sent to the peer. A problem with our own list is not the peer's fault. */
static int alert_error(int r)
{
        switch (r) {
        case -EKEYREVOKED:
                return X509_V_ERR_CERT_REVOKED;
        case -EKEYEXPIRED:
                return X509_V_ERR_CERT_HAS_EXPIRED;
        case -EKEYREJECTED:
                return X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
        case -EPERM:
                return X509_V_ERR_INVALID_PURPOSE;
        case -EAGAIN:
                return X509_V_ERR_CERT_NOT_YET_VALID;
        case -ENXIO:
                return X509_V_ERR_HOSTNAME_MISMATCH;
        default:
                return X509_V_ERR_UNSPECIFIED;
        }
}

/* Replaces OpenSSL's verification of the peer's certificate. */
static int verify_peer(X509_STORE_CTX *store, void *data)
{
        AldTls *tls = data;
        g_autofree char *reason = NULL;
        int r = ald_pki_verify(tls->ca, tls->crl, X509_STORE_CTX_get0_cert(store), tls->peer, tls->expected,
                (uint64_t) MAX(g_get_real_time(), 0), &reason);

        if (r == 0) {
                X509_STORE_CTX_set_error(store, X509_V_OK);
                return 1;
        }
        X509_STORE_CTX_set_error(store, alert_error(r));
        set_reason(tls, g_steal_pointer(&reason));
        return 0;
}

/* Returns why a peer refused our certificate, or NULL. */
static const char *refusal(int alert)
{
        switch (alert) {
        case SSL_AD_BAD_CERTIFICATE:
                return "it is not valid yet, or not for this name; check the clocks";
        case SSL_AD_UNSUPPORTED_CERTIFICATE:
                return "it is not valid for this purpose";
        case SSL_AD_CERTIFICATE_REVOKED:
                return "it is revoked";
        case SSL_AD_CERTIFICATE_EXPIRED:
                return "it or the revocation list there has expired";
        case SSL_AD_UNKNOWN_CA:
                return "it is from an unknown CA";
        case SSL_AD_CERTIFICATE_UNKNOWN:
                return "it cannot be used";
        case SSL_AD_DECRYPT_ERROR:
                return "a signature is invalid";
        default:
                return NULL;
        }
}

/* Describe an alert that was received or sent. Return NULL if there is nothing to report, as for a close. */
static char *describe_received_alert(const char *peer, int value)
{
        int alert = value & 0xff;
        const char *why = refusal(alert);

        if (alert == SSL_AD_CLOSE_NOTIFY || alert == SSL_AD_USER_CANCELLED)
                return NULL;
        if (why)
                return g_strdup_printf("%s refused the certificate of this machine: %s", peer, why);
        if (alert == TLS13_AD_CERTIFICATE_REQUIRED)
                return g_strdup_printf("%s received no certificate from this machine", peer);
        if (alert == SSL_AD_PROTOCOL_VERSION)
                return g_strdup_printf("%s does not speak TLS 1.3", peer);
        return g_strdup_printf("%s ended the TLS connection: %s", peer, SSL_alert_desc_string_long(value));
}

static char *describe_sent_alert(const char *peer, int value)
{
        switch (value & 0xff) {
        case TLS13_AD_CERTIFICATE_REQUIRED:
                return g_strdup_printf("%s sent no certificate", peer);
        case SSL_AD_PROTOCOL_VERSION:
                return g_strdup_printf("%s does not speak TLS 1.3", peer);
        default:
                return NULL;
        }
}

/* Describes an alert in either direction, if both sides have a key instead of certificates. */
static char *describe_alert_by_key(int value)
{
        switch (value & 0xff) {
        case SSL_AD_ILLEGAL_PARAMETER: /* sent by OpenSSL if the proof was made with another key */
        case SSL_AD_DECRYPT_ERROR:
                return g_strdup("the shared keys of the two sides differ");
        case SSL_AD_HANDSHAKE_FAILURE:
                return g_strdup("only one side has a shared key");
        case SSL_AD_PROTOCOL_VERSION:
                return g_strdup("the other side does not speak TLS 1.3");
        default:
                return NULL;
        }
}

static void note_alert(const SSL *ssl, int where, int value)
{
        AldTls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
        const char *peer = tls->peer == ALD_PKI_ROLE_BROKER ? "the broker" : "the other node";
        char *reason = NULL;

        if (tls->by_key) {
                if (where & SSL_CB_ALERT)
                        reason = describe_alert_by_key(value);
        } else if (where == SSL_CB_READ_ALERT)
                reason = describe_received_alert(peer, value);
        else if (where == SSL_CB_WRITE_ALERT)
                reason = describe_sent_alert(peer, value);
        if (reason)
                set_reason(tls, reason);
}

static bool set_up_certificates(AldTls *tls, const AldPkiIdentity *identity, bool server)
{
        SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

        tls->context = context;
        if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
                SSL_CTX_use_certificate(context, identity->certificate) != 1 ||
                SSL_CTX_use_PrivateKey(context, identity->key) != 1 ||
                (server && (!SSL_CTX_add_client_CA(context, identity->ca) ||
                                   !SSL_CTX_set_num_tickets(context, 0))))
                return false;
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        SSL_CTX_set_cert_verify_callback(context, verify_peer, tls);
        return true;
}

/* Sets up what contexts with certificates and with keys have in common. */
static void finish_context(AldTls *tls)
{
        SSL_CTX *context = tls->context;

        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_max_cert_list(context, ALD_PKI_PEM_MAX);
        SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_app_data(context, tls);
        SSL_CTX_set_info_callback(context, note_alert);
        ERR_clear_error();
}

static int new_context(const AldPkiIdentity *identity, bool server, AldPkiRole peer, const char *expected,
        AldTls **ret, char **ret_error)
{
        g_autoptr(AldTls) tls = g_new0(AldTls, 1);

        g_mutex_init(&tls->lock);
        tls->peer = peer;
        tls->expected = g_strdup(expected);
        X509_up_ref(identity->ca);
        tls->ca = identity->ca;
        if (identity->crl)
                X509_CRL_up_ref(identity->crl);
        tls->crl = identity->crl;
        if (!set_up_certificates(tls, identity, server))
                return ald_pki_openssl_failed(
                        -EKEYREJECTED, "the certificate or key of this machine cannot be used", ret_error);
        finish_context(tls);
        *ret = g_steal_pointer(&tls);
        return 0;
}

int ald_tls_new_for_broker(const AldPkiIdentity *identity, const char *host, AldTls **ret, char **ret_error)
{
        return new_context(identity, false, ALD_PKI_ROLE_BROKER, host, ret, ret_error);
}

int ald_tls_new_for_peer(
        const AldPkiIdentity *identity, bool server, const char *node_id, AldTls **ret, char **ret_error)
{
        return new_context(identity, server, ALD_PKI_ROLE_NODE, node_id, ret, ret_error);
}

int ald_tls_new_for_key(const AldSharedKey *key, bool server, AldTls **ret, char **ret_error)
{
        g_autoptr(AldTls) tls = g_new0(AldTls, 1);

        g_mutex_init(&tls->lock);
        tls->by_key = true;
        tls->key = *key;
        if (!set_up_key(tls, server))
                return ald_pki_openssl_failed(-EKEYREJECTED, "the shared key cannot be used", ret_error);
        finish_context(tls);
        *ret = g_steal_pointer(&tls);
        return 0;
}

void ald_tls_free(AldTls *tls)
{
        SSL_CTX_free(tls->context);
        X509_free(tls->ca);
        X509_CRL_free(tls->crl);
        g_free(tls->expected);
        g_free(tls->reason);
        OPENSSL_cleanse(&tls->key, sizeof tls->key);
        g_mutex_clear(&tls->lock);
        g_free(tls);
}

SSL_CTX *ald_tls_context(AldTls *tls)
{
        return tls->context;
}

char *ald_tls_take_reason(AldTls *tls)
{
        char *reason;

        g_mutex_lock(&tls->lock);
        reason = g_steal_pointer(&tls->reason);
        g_mutex_unlock(&tls->lock);
        return reason;
}

char *ald_tls_explain(AldTls *tls, SSL *ssl, int result)
{
        int saved_errno = errno;
        char *reason = ald_tls_take_reason(tls);
        unsigned long first = ERR_peek_error();

        if (!reason && SSL_get_error(ssl, result) == SSL_ERROR_SSL &&
                ERR_GET_REASON(first) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
                return ald_pki_take_openssl_error();
        if (!reason && first == 0 && SSL_get_error(ssl, result) == SSL_ERROR_SYSCALL && saved_errno != 0)
                reason = g_strdup(g_strerror(saved_errno));
        ERR_clear_error();
        return reason ? reason : g_strdup("the connection was closed");
}
