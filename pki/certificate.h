/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

/* Reads the first certificate. Returns -EBADMSG if there is none, -E2BIG beyond ALD_PKI_PEM_MAX. */
int ald_pki_certificate_parse(const char *pem, size_t n, X509 **ret, char **ret_error);
int ald_pki_certificate_load(const char *path, X509 **ret, char **ret_error);
char *ald_pki_certificate_to_pem(X509 *certificate);

/* The contents of a certificate. Trust them only if the certificate was verified. */
typedef struct AldPkiFacts {
        char common_name[ALD_PKI_NAME_MAX + 1];  /* "" unless there is exactly one, of plain text */
        char organization[ALD_PKI_NAME_MAX + 1]; /* the same */
        bool is_node;                            /* the common name is a node id */
        bool is_ca;
        bool client;                      /* its extended key usages include clientAuth */
        bool server;                      /* they include serverAuth */
        char serial[ALD_PKI_SERIAL_SIZE]; /* lower-case hexadecimal digits; "" beyond 20 bytes or negative */
        uint64_t not_before;              /* µs; 0 if unreadable or before 1970 */
        uint64_t not_after;
        char fingerprint[65]; /* SHA-256 as lower-case hexadecimal digits */
} AldPkiFacts;

void ald_pki_certificate_facts(X509 *certificate, AldPkiFacts *ret);

/* Returns the names and addresses of the SAN, as text; the list is empty if there are none. Free with
 * g_strfreev(). */
char **ald_pki_certificate_names(X509 *certificate);

/* Returns whether the SAN has this name or address, in any spelling. */
bool ald_pki_certificate_is_for_host(X509 *certificate, const char *host);
