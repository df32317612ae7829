/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/identity.h"
#include "pki/openssl.h"
#include "pki/private-key.h"

static int load_crl(const char *path, X509 *ca, X509_CRL **ret, char **ret_error)
{
        g_autoptr(X509_CRL) crl = NULL;
        g_autofree char *reason = NULL;
        int r = ald_pki_crl_load(path, &crl, ret_error);

        if (r < 0)
                return r;
        if (ald_pki_crl_verify(crl, ca, &reason) < 0)
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "%s: %s", path, reason);
        *ret = g_steal_pointer(&crl);
        return 0;
}

/* Chooses the newer list. The second may be missing, but a damaged or foreign one is an error. */
static int load_newest_crl(
        const char *path, const char *newer_path, X509 *ca, X509_CRL **ret, char **ret_error)
{
        g_autoptr(X509_CRL) crl = NULL, newer = NULL;
        g_autofree char *reason = NULL;
        int r = load_crl(path, ca, &crl, ret_error);

        if (r < 0)
                return r;
        r = newer_path ? load_crl(newer_path, ca, &newer, &reason) : -ENOENT;
        if (r < 0 && r != -ENOENT)
                return ald_pki_refuse(r, ret_error, "%s", reason);
        *ret = newer && ald_pki_crl_number(newer) > ald_pki_crl_number(crl) ? g_steal_pointer(&newer)
                                                                            : g_steal_pointer(&crl);
        return 0;
}

int ald_pki_identity_load(const char *folder, const char *newer_crl, AldPkiIdentity *ret, char **ret_error)
{
        g_autofree char *ca = g_build_filename(folder, "ca.crt", NULL);
        g_autofree char *crl = g_build_filename(folder, "crl.pem", NULL);
        g_autofree char *certificate = g_build_filename(folder, "node.crt", NULL);
        g_autofree char *key = g_build_filename(folder, "node.key", NULL);
        g_auto(AldPkiIdentity) loaded = { 0 };
        int r = ald_pki_certificate_load(ca, &loaded.ca, ret_error);

        if (r == 0)
                r = load_newest_crl(crl, newer_crl, loaded.ca, &loaded.crl, ret_error);
        if (r == 0)
                r = ald_pki_certificate_load(certificate, &loaded.certificate, ret_error);
        if (r == 0)
                r = ald_pki_key_load(key, &loaded.key, ret_error);
        if (r < 0)
                return r;
        if (!X509_check_private_key(loaded.certificate, loaded.key))
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "%s is not the key of %s", key, certificate);
        *ret = loaded;
        loaded = (AldPkiIdentity){ 0 };
        return 0;
}

void ald_pki_identity_clear(AldPkiIdentity *identity)
{
        X509_free(identity->ca);
        X509_CRL_free(identity->crl);
        X509_free(identity->certificate);
        EVP_PKEY_free(identity->key);
        *identity = (AldPkiIdentity){ 0 };
}
