/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pki/crl.h"
#include "pki/error.h"
#include "pki/pem.h"
#include "pki/serial.h"

static bool read_number(X509_CRL *crl, uint64_t *ret)
{
        ASN1_INTEGER *number = X509_CRL_get_ext_d2i(crl, NID_crl_number, NULL, NULL);
        bool ok = number && ASN1_INTEGER_get_uint64(ret, number);

        ASN1_INTEGER_free(number);
        ERR_clear_error();
        return ok;
}

int ald_pki_crl_parse(const char *pem, size_t n, X509_CRL **ret, char **ret_error)
{
        g_autoptr(X509_CRL) crl = NULL;
        g_autoptr(BIO) bio = NULL;
        uint64_t number;
        int r = ald_pki_pem_open(pem, n, ALD_PKI_CRL_MAX, "the revocation list", &bio, ret_error);

        if (r < 0)
                return r;
        crl = PEM_read_bio_X509_CRL(bio, NULL, ald_pki_pem_no_passphrase, NULL);
        if (!crl)
                return ald_pki_openssl_failed(-EBADMSG, "not a revocation list", ret_error);
        if (!read_number(crl, &number))
                return ald_pki_refuse(-EBADMSG, ret_error, "the revocation list has no number");
        *ret = g_steal_pointer(&crl);
        return 0;
}

int ald_pki_crl_load(const char *path, X509_CRL **ret, char **ret_error)
{
        g_autofree char *text = NULL, *reason = NULL;
        size_t n;
        int r = ald_pki_pem_load(path, ALD_PKI_CRL_MAX, &text, &n, ret_error);

        if (r < 0)
                return r;
        r = ald_pki_crl_parse(text, n, ret, &reason);
        return r < 0 ? ald_pki_refuse(r, ret_error, "%s: %s", path, reason) : 0;
}

char *ald_pki_crl_to_pem(X509_CRL *crl)
{
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());

        /* Nothing but memory can fail here. */
        if (!bio || !PEM_write_bio_X509_CRL(bio, crl))
                g_error("Cannot write a revocation list");
        return ald_pki_pem_text(bio);
}

int ald_pki_crl_verify(X509_CRL *crl, X509 *ca, char **ret_reason)
{
        EVP_PKEY *key = X509_get0_pubkey(ca);

        if (X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_get_subject_name(ca)) != 0)
                return ald_pki_refuse(-EKEYREJECTED, ret_reason, "the revocation list is from another CA");
        if (!key || X509_CRL_verify(crl, key) != 1)
                return ald_pki_refuse(-EKEYREJECTED, ret_reason,
                        "the revocation list is not signed by the CA of the cluster, or was altered");
        return 0;
}

int ald_pki_crl_accept(X509_CRL *crl, X509 *ca, X509_CRL *current, char **ret_reason)
{
        int r = ald_pki_crl_verify(crl, ca, ret_reason);
        uint64_t number = ald_pki_crl_number(crl);

        if (r < 0)
                return r;
        if (current && number <= ald_pki_crl_number(current))
                return ald_pki_refuse(-ESTALE, ret_reason,
                        "the revocation list has number %" PRIu64 " and is not newer than number %" PRIu64,
                        number, ald_pki_crl_number(current));
        return 0;
}

uint64_t ald_pki_crl_number(X509_CRL *crl)
{
        uint64_t number;

        return read_number(crl, &number) ? number : 0;
}

size_t ald_pki_crl_count(X509_CRL *crl)
{
        return (size_t) MAX(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(crl)), 0);
}

char **ald_pki_crl_beyond(X509_CRL *crl, X509_CRL *other)
{
        const STACK_OF(X509_REVOKED) *all = X509_CRL_get_REVOKED(crl);
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        for (int i = 0; i < sk_X509_REVOKED_num(all); i++) {
                char serial[ALD_PKI_SERIAL_SIZE];

                ald_pki_serial_format(X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(all, i)), serial);
                if (*serial && !ald_pki_crl_contains(other, serial))
                        g_strv_builder_add(builder, serial);
        }
        return g_strv_builder_end(builder);
}

bool ald_pki_crl_contains(X509_CRL *crl, const char *serial)
{
        ASN1_INTEGER *number = ald_pki_serial_parse(serial);
        X509_REVOKED *revoked;
        bool found = number && X509_CRL_get0_by_serial(crl, &revoked, number) == 1;

        ASN1_INTEGER_free(number);
        ERR_clear_error();
        return found;
}
