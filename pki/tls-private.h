/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/shared-key.h"
#include "pki/tls.h"

struct AldTls {
        SSL_CTX *context;
        X509 *ca;
        X509_CRL *crl;
        AldPkiRole peer;
        char *expected;
        bool by_key; /* with a shared key, and no certificates at all */
        AldSharedKey key;
        GMutex lock;
        char *reason;
};

void ald_tls_set_reason(AldTls *tls, char *reason);

/* Makes the context of one that is by_key. */
bool ald_tls_key_set_up(AldTls *tls, bool server);
