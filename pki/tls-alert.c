/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pki/tls-alert.h"
#include "pki/types.h"

/* Why a peer refused our certificate. */
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

char *ald_tls_alert_received(const char *peer, int value)
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

char *ald_tls_alert_sent(const char *peer, int value)
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

char *ald_tls_alert_by_key(int value)
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
