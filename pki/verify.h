/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/*
 * Verifies that a certificate was issued by this CA for this role and is valid now. expected (may be NULL:
 * any) is the node id of a node, the host name or address of a broker, or the site of a bridge. *ret_reason
 * describes what is wrong.
 *   -EKEYREJECTED  not signed by the CA, altered, or not usable for another reason
 *   -EKEYEXPIRED   it has expired, or the CA has
 *   -EAGAIN        not yet valid; some clock is wrong
 *   -EKEYREVOKED   on the revocation list
 *   -EPERM         not valid for the role
 *   -ENXIO         another name than the expected one
 *   -ENOKEY        there is no revocation list, it is from another CA, or not valid now
 */
int ald_pki_verify(X509 *ca, X509_CRL *crl, X509 *certificate, AldPkiRole role, const char *expected,
        uint64_t now, char **ret_reason);
