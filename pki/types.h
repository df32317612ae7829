/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

/*
 * Keys, certificates and revocation lists are OpenSSL's own objects. Functions return a negative errno and,
 * if they have *ret_error or *ret_reason (may be NULL), one line that describes the error, which the caller
 * frees; they leave OpenSSL's error queue empty. Times are arguments, in µs of CLOCK_REALTIME.
 */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BIO, BIO_free_all)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EVP_PKEY, EVP_PKEY_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SSL, SSL_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SSL_CTX, SSL_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(X509, X509_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(X509_CRL, X509_CRL_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(X509_REQ, X509_REQ_free)

#define ALD_PKI_ID_SIZE 33             /* a node id: 32 lower-case hexadecimal digits, and the NUL */
#define ALD_PKI_SERIAL_SIZE 41         /* a serial: at most 20 bytes as hexadecimal digits, and the NUL */
#define ALD_PKI_PEM_MAX (64u * 1024)   /* bytes of a key, a certificate or a request */
#define ALD_PKI_CRL_MAX (1024u * 1024) /* bytes of a revocation list */
#define ALD_PKI_SAN_MAX 64u            /* names and addresses of a broker */
#define ALD_PKI_NAME_MAX 64u           /* bytes of a common name (X.520), thus of a cluster's name */

/* The purpose of a certificate, from which its extended key usage and the form of its common name follow. */
typedef enum AldPkiRole {
        ALD_PKI_ROLE_NODE,   /* CN = node id, clientAuth */
        ALD_PKI_ROLE_BROKER, /* CN = broker-ID, serverAuth, names and addresses in the SAN */
        ALD_PKI_ROLE_BRIDGE, /* CN = bridge-SITE, clientAuth */
} AldPkiRole;

/* Prefixes of common names, except those of nodes. */
#define ALD_PKI_BROKER_PREFIX "broker-"
#define ALD_PKI_BRIDGE_PREFIX "bridge-"

/* Returns whether it is a node id: 32 lower-case hexadecimal digits, not all of them 0. */
bool ald_pki_is_node_id(const char *text);

/* Returns whether it is a valid host name for a certificate, and not an address. */
bool ald_pki_is_host_name(const char *text);

/* Returns a copy of a host, without the dot that may end a name ("broker.lan.") and only marks it as
 * complete, since names in certificates have none. Free with g_free(). */
char *ald_pki_host_without_dot(const char *host);

/* Returns whether it is a valid name of a site: letters, digits, '-', '_' and '.', and not too long. */
bool ald_pki_is_site(const char *text);
