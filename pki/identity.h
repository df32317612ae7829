/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* What a node shows others, and what it judges them by. */
typedef struct AldPkiIdentity {
        X509 *ca;
        X509_CRL *crl; /* without one nobody is trusted */
        X509 *certificate;
        EVP_PKEY *key;
} AldPkiIdentity;

/*
 * Loads ca.crt, crl.pem, node.crt and node.key of a folder. -ENOENT where one is missing, -EBADMSG where one
 * is damaged, -EKEYREJECTED where the key is not that of the certificate or the list not signed by the CA;
 * that the certificate is valid is for ald_pki_verify() to say. Of crl.pem and newer_crl (a path, maybe NULL,
 * maybe of no file) the one with the greater number is taken.
 */
int ald_pki_identity_load(const char *folder, const char *newer_crl, AldPkiIdentity *ret, char **ret_error);
void ald_pki_identity_clear(AldPkiIdentity *identity);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPkiIdentity, ald_pki_identity_clear)
