/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* The credentials of a node, with the CA and revocation list by which it verifies others. */
typedef struct AldPkiIdentity {
        X509 *ca;
        X509_CRL *crl; /* without one, no peer is trusted */
        X509 *certificate;
        EVP_PKEY *key;
} AldPkiIdentity;

/*
 * Loads ca.crt, crl.pem, node.crt and node.key of a folder. Returns -ENOENT if one is missing, -EBADMSG if
 * one is damaged, -EKEYREJECTED if the key does not match the certificate or the CA did not sign the list.
 * Does not verify the certificate; see ald_pki_verify(). newer_crl (a path; may be NULL or not exist)
 * replaces crl.pem if its number is greater.
 */
int ald_pki_identity_load(const char *folder, const char *newer_crl, AldPkiIdentity *ret, char **ret_error);
void ald_pki_identity_clear(AldPkiIdentity *identity);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPkiIdentity, ald_pki_identity_clear)
