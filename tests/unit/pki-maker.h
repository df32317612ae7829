/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/identity.h"

#define PKI_NOW (UINT64_C(1800000000) * G_USEC_PER_SEC) /* 2027-01-15 08:00 UTC */
#define PKI_DAY (UINT64_C(86400) * G_USEC_PER_SEC)
#define PKI_A "0123456789abcdef0123456789abcdef"
#define PKI_B "fedcba9876543210fedcba9876543210"

/* The CA of a cluster with an empty revocation list, and one key for all that it signs. */
typedef struct PkiMaker {
        EVP_PKEY *ca_key;
        X509 *ca;
        X509_CRL *crl;
        EVP_PKEY *key;
} PkiMaker;

void pki_maker_init(PkiMaker *maker, const char *cluster, uint64_t now);
void pki_maker_clear(PkiMaker *maker);

/* As ald_pki_sign() makes it; a broker has the name broker.example and the addresses 192.0.2.1 and
 * 2001:db8::1. */
X509 *pki_maker_sign(const PkiMaker *maker, AldPkiRole role, const char *name, uint64_t now);

/* The next revocation list, in which this certificate is, too. */
void pki_maker_revoke(PkiMaker *maker, X509 *certificate, uint64_t now);

/* What the library would not sign. */
typedef struct PkiOdd {
        const char *names[3]; /* common names */
        int name_bytes;       /* of each; 0: up to the NUL */
        const char *usage;    /* extended key usage; NULL: none */
        const char *alt_name; /* NULL: none */
        const char *constraints;
        bool critical_unknown; /* has an extension that nobody knows and everybody must */
} PkiOdd;

X509 *pki_maker_odd(const PkiMaker *maker, const PkiOdd *odd);

/* References to what a node with this certificate holds. */
AldPkiIdentity pki_maker_identity(const PkiMaker *maker, X509 *certificate);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PkiMaker, pki_maker_clear)
