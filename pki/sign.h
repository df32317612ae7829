/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

#define ALD_PKI_CA_DAYS (20u * 365 + 5)
#define ALD_PKI_DAYS 397u             /* validity of a node's, a broker's or a bridge's certificate */
#define ALD_PKI_BACKDATE_SECONDS 3600 /* so that clocks this far behind accept a new certificate */

/* Creates the self-signed CA of a cluster. Returns -EINVAL if the name is empty, not UTF-8 or longer than
 * ALD_PKI_NAME_MAX. */
int ald_pki_ca_make(EVP_PKEY *key, const char *cluster, uint64_t now, X509 **ret, char **ret_error);

typedef struct AldPkiSubject {
        AldPkiRole role;
        const char *name;         /* node id of a node or broker, site of a bridge */
        const char *const *names; /* names and addresses of a broker, at least one, NULL-terminated */
        EVP_PKEY *key;            /* the public part is sufficient */
        unsigned days;            /* 0: ALD_PKI_DAYS; limited by the expiry of the CA */
} AldPkiSubject;

/* Signs a certificate with a random serial. Returns -EINVAL for a bad name, -EKEYREJECTED if the key is not
 * the CA's. */
int ald_pki_sign(
        X509 *ca, EVP_PKEY *ca_key, const AldPkiSubject *subject, uint64_t now, X509 **ret, char **ret_error);
