/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/cluster/cluster-files.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/sign.h"

/* A certificate that was issued here. */
typedef struct AldIssued {
        X509 *certificate;
        AldPkiFacts facts;
        char node[ALD_PKI_ID_SIZE]; /* the id of the node; "" for a bridge */
        bool is_broker;
        char *name; /* of the node when it was signed; NULL if unknown */
        char *path;
} AldIssued;

/* The certificate authority of a cluster, on the machine that keeps its key. Functions report errors and
 * return an exit code. */
typedef struct AldAuthority {
        const AldClusterFiles *files;
        X509 *ca;
        EVP_PKEY *key;
        X509_CRL *crl;
        GPtrArray *issued; /* AldIssued */
        char *folder;      /* CONFIG/cluster/ca */
} AldAuthority;

/* Creates whatever is missing, and so continues an interrupted attempt. */
int ald_authority_make(const AldClusterFiles *files, const char *cluster, AldAuthority *ret);
/* Also reads revocation lists that the cluster service has received. */
int ald_authority_open(const AldClusterFiles *files, AldAuthority *ret);
/* Reads the certificates that were signed and revoked, without the key, and changes nothing. */
int ald_authority_read(const AldClusterFiles *files, AldAuthority *ret);
void ald_authority_close(AldAuthority *authority);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAuthority, ald_authority_close)

/* Signs a certificate and keeps a copy, which the authority owns, with the name of the node; NULL: as before.
 */
int ald_authority_sign(
        AldAuthority *authority, const AldPkiSubject *subject, const char *name, const AldIssued **ret);

/* Forgets a certificate that was not handed out. */
void ald_authority_forget(AldAuthority *authority, const AldIssued *issued);

/* Whether it has not expired and is not revoked. */
bool ald_authority_is_valid(const AldAuthority *authority, const AldIssued *issued);

/*
 * A certificate contains the id of its node alone, since names change. The name that the node had when the
 * newest was signed is kept beside it, so that people find it even after the state service has forgotten the
 * node. NULL if none is known.
 */
const char *ald_authority_name(const AldAuthority *authority, const char *node);
/* "node3 (ID)", or the id if no name is known. Free with g_free(). */
char *ald_authority_label(const AldAuthority *authority, const char *node);

/* Whether this id has a valid certificate for this key, as a node or for its broker. */
bool ald_authority_knows(const AldAuthority *authority, const char *node, EVP_PKEY *key);
bool ald_authority_knows_broker(const AldAuthority *authority, const char *node, EVP_PKEY *key);

/* The valid certificate of this id for this key, for the node or its broker, that expires last; NULL if
 * there is none. */
const AldIssued *ald_authority_find(
        const AldAuthority *authority, const char *node, bool broker, EVP_PKEY *key);

/* Whether the certificate of a broker is for all of these. */
bool ald_authority_has_addresses(const AldIssued *broker, char **addresses);

/* Whether it belongs to a node: to the node itself, its broker, or a bridge with the key of its broker. */
bool ald_authority_is_of(const AldAuthority *authority, const AldIssued *issued, const char *node);

/* Hosts under which others know the broker of a node: the first name in each of its certificates. */
char **ald_authority_broker_hosts(const AldAuthority *authority, const char *node);

/* Adds serials (NULL-terminated) to the revocation list, and installs it here. */
int ald_authority_revoke(AldAuthority *authority, const char *const *serials);
