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
        char *name; /* name of the node when it was signed; NULL if unknown */
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

/* Opens the authority, and creates whatever is missing, so that an interrupted attempt is continued. */
int ald_authority_make(const AldClusterFiles *files, const char *cluster, AldAuthority *ret);
/* Opens an existing authority, and merges the revocation list that the cluster service has received. */
int ald_authority_open(const AldClusterFiles *files, AldAuthority *ret);
/* Reads the certificates that were signed and revoked, without the key, and changes nothing. */
int ald_authority_read(const AldClusterFiles *files, AldAuthority *ret);
void ald_authority_close(AldAuthority *authority);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAuthority, ald_authority_close)

/* Signs a certificate and keeps a copy, which the authority owns, with the name of the node; with NULL, the
 * name stays as it was. */
int ald_authority_sign(
        AldAuthority *authority, const AldPkiSubject *subject, const char *name, const AldIssued **ret);

/* Forgets a certificate that was not given to anybody. */
void ald_authority_forget(AldAuthority *authority, const AldIssued *issued);

/* Returns whether a certificate is for this key; false without a key. */
bool ald_issued_has_key(const AldIssued *issued, EVP_PKEY *key);

/* Returns whether a certificate has neither expired nor been revoked. */
bool ald_authority_is_valid(const AldAuthority *authority, const AldIssued *issued);

/*
 * Returns the name of a node, NULL if none is known. A certificate contains only the id of its node, since
 * names change. The name that the node had when its newest certificate was signed is kept beside it, so that
 * users find it even after the state service has forgotten the node.
 */
const char *ald_authority_name(const AldAuthority *authority, const char *node);
/* Returns "node3 (ID)", or the id if no name is known. Free with g_free(). */
char *ald_authority_label(const AldAuthority *authority, const char *node);

/* Returns the valid certificate of this id for this key, for the node or its broker, that expires last; NULL
 * if there is none. */
const AldIssued *ald_authority_find(
        const AldAuthority *authority, const char *node, bool broker, EVP_PKEY *key);

/* Returns whether the certificate of a broker is for all of these addresses. */
bool ald_authority_has_addresses(const AldIssued *broker, char **addresses);

/* Returns whether a certificate belongs to a node: to the node itself, its broker, or a bridge with the key
 * of its broker. */
bool ald_authority_is_of(const AldAuthority *authority, const AldIssued *issued, const char *node);

/* Returns the hosts under which other nodes know the broker of a node: the first name in each of its
 * certificates. */
char **ald_authority_broker_hosts(const AldAuthority *authority, const char *node);

/* Adds serials (NULL-terminated) to the revocation list, and installs it here. */
int ald_authority_revoke(AldAuthority *authority, const char *const *serials);
