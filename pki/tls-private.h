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
        bool by_key; /* with a shared key instead of certificates */
        AldSharedKey key;
        GMutex lock;
        char *reason;
};

void ald_tls_set_reason(AldTls *tls, char *reason);

/* Sets up the context if by_key is set. */
bool ald_tls_key_set_up(AldTls *tls, bool server);
