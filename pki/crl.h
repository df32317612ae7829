/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

/*
 * Makes a revocation list with the entries of `old` (may be NULL) and the serials (NULL-terminated, may be
 * NULL; as in AldPkiFacts) as revoked now. It is valid as long as the CA, whatever the clock says. Returns
 * -EKEYREJECTED if the key is not the CA's or the old list is not signed by it, -ESTALE unless the number is
 * greater than the old one's, -EINVAL for an invalid serial, -E2BIG beyond ALD_PKI_CRL_MAX. The first list of
 * a cluster is empty and has number 1.
 */
int ald_pki_crl_make(X509 *ca, EVP_PKEY *ca_key, X509_CRL *old, const char *const *serials, uint64_t number,
        uint64_t now, X509_CRL **ret, char **ret_error);

/* Read a list. Return -EBADMSG if it is not a list or has no number, -E2BIG beyond ALD_PKI_CRL_MAX. */
int ald_pki_crl_parse(const char *pem, size_t n, X509_CRL **ret, char **ret_error);
int ald_pki_crl_load(const char *path, X509_CRL **ret, char **ret_error);
char *ald_pki_crl_to_pem(X509_CRL *crl);

/* Returns -EKEYREJECTED unless this CA has signed the list. */
int ald_pki_crl_verify(X509_CRL *crl, X509 *ca, char **ret_reason);

/* Checks whether a list from any source may replace the current one (may be NULL): it must be signed by the
 * CA, else -EKEYREJECTED, and have a greater number, else -ESTALE. */
int ald_pki_crl_accept(X509_CRL *crl, X509 *ca, X509_CRL *current, char **ret_reason);

/* Returns the number of the list; 0 if it has none, which cannot happen for a parsed list. */
uint64_t ald_pki_crl_number(X509_CRL *crl);
/* Returns how many certificates the list revokes. */
size_t ald_pki_crl_count(X509_CRL *crl);
/* Returns the serials, as in AldPkiFacts, that the list revokes and `other` does not. Free with g_strfreev().
 */
char **ald_pki_crl_beyond(X509_CRL *crl, X509_CRL *other);
/* Returns whether the list revokes this serial of AldPkiFacts. */
bool ald_pki_crl_contains(X509_CRL *crl, const char *serial);
