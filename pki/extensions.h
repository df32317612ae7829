/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/types.h"

/* An extension with its value in the syntax of openssl.cnf, which must not contain untrusted text. */
typedef struct AldPkiExtension {
        int nid;
        const char *value;
} AldPkiExtension;

bool ald_pki_extensions_add(X509 *certificate, X509 *issuer, const AldPkiExtension *extensions, size_t n);

/* Names and addresses. -EINVAL if there are none, too many or an invalid one, which *ret_error names. */
int ald_pki_names_add(X509 *certificate, const char *const *names, char **ret_error);
