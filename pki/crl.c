/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pki/crl.h"
#include "pki/openssl.h"

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

        /* This fails only if memory is short. */
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

static bool add_revoked(X509_CRL *crl, X509_REVOKED *revoked)
{
        if (revoked && X509_CRL_add0_revoked(crl, revoked))
                return true;
        X509_REVOKED_free(revoked);
        return false;
}

static bool copy_revoked(X509_CRL *crl, X509_CRL *old, GHashTable *seen)
{
        STACK_OF(X509_REVOKED) *all = X509_CRL_get_REVOKED(old);

        for (int i = 0; i < sk_X509_REVOKED_num(all); i++) {
                const X509_REVOKED *revoked = sk_X509_REVOKED_value(all, i);
                char serial[ALD_PKI_SERIAL_SIZE];

                ald_pki_serial_format(X509_REVOKED_get0_serialNumber(revoked), serial);
                g_hash_table_add(seen, g_strdup(serial));
                if (!add_revoked(crl, X509_REVOKED_dup(revoked)))
                        return false;
        }
        return true;
}

static X509_REVOKED *new_revoked(ASN1_INTEGER *serial, uint64_t now)
{
        X509_REVOKED *revoked = X509_REVOKED_new();
        ASN1_TIME *time = ASN1_TIME_new();

        if (!revoked || !time || !ald_pki_date_set(time, now, 0, 0) ||
                !X509_REVOKED_set_serialNumber(revoked, serial) ||
                !X509_REVOKED_set_revocationDate(revoked, time)) {
                X509_REVOKED_free(revoked);
                revoked = NULL;
        }
        ASN1_TIME_free(time);
        return revoked;
}

/* Adds each serial once. `seen` holds them as text, since OpenSSL would sort the growing list again for each
 * lookup. */
static int revoke_serial(X509_CRL *crl, GHashTable *seen, const char *text, uint64_t now, char **ret_error)
{
        ASN1_INTEGER *serial = ald_pki_serial_parse(text);
        char canonical[ALD_PKI_SERIAL_SIZE];
        int r = 0;

        if (!serial)
                return ald_pki_refuse(-EINVAL, ret_error, "\"%s\" is not a certificate serial number", text);
        ald_pki_serial_format(serial, canonical);
        if (g_hash_table_add(seen, g_strdup(canonical)) && !add_revoked(crl, new_revoked(serial, now)))
                r = ald_pki_openssl_failed(-ENOMEM, "Cannot revoke a certificate", ret_error);
        ASN1_INTEGER_free(serial);
        return r;
}

/* Sets everything except the entries. The list is valid from the start of the CA: if the clock was wrong when
 * a node was revoked, a list valid from that time could lock out all nodes. */
static bool fill_header(X509_CRL *crl, X509 *ca, uint64_t number)
{
        ASN1_INTEGER *value = ASN1_INTEGER_new();
        X509V3_CTX context;
        X509_EXTENSION *issuer;
        bool ok;

        X509V3_set_ctx(&context, ca, NULL, NULL, crl, 0);
        issuer = X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, "keyid:always");
        ok = value && issuer && X509_CRL_set_version(crl, X509_CRL_VERSION_2) &&
             X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca)) &&
             X509_CRL_set1_lastUpdate(crl, X509_get0_notBefore(ca)) &&
             X509_CRL_set1_nextUpdate(crl, X509_get0_notAfter(ca)) && X509_CRL_add_ext(crl, issuer, -1) &&
             ASN1_INTEGER_set_uint64(value, number) &&
             X509_CRL_add1_ext_i2d(crl, NID_crl_number, value, 0, X509V3_ADD_DEFAULT) == 1;
        X509_EXTENSION_free(issuer);
        ASN1_INTEGER_free(value);
        return ok;
}

int ald_pki_crl_make(X509 *ca, EVP_PKEY *ca_key, X509_CRL *old, const char *const *serials, uint64_t number,
        uint64_t now, X509_CRL **ret, char **ret_error)
{
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(X509_CRL) crl = X509_CRL_new();
        g_autofree char *text = NULL;
        int r;

        if (!X509_check_private_key(ca, ca_key))
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "the key does not belong to the CA");
        r = old ? ald_pki_crl_verify(old, ca, ret_error) : 0;
        if (r < 0)
                return r;
        if (number <= (old ? ald_pki_crl_number(old) : 0))
                return ald_pki_refuse(-ESTALE, ret_error,
                        "the number of a revocation list must increase: %" PRIu64 " is too low", number);
        if (!crl || !fill_header(crl, ca, number) || (old && !copy_revoked(crl, old, seen)))
                return ald_pki_openssl_failed(-EIO, "Cannot create a revocation list", ret_error);
        for (size_t i = 0; serials && serials[i]; i++) {
                r = revoke_serial(crl, seen, serials[i], now, ret_error);
                if (r < 0)
                        return r;
        }
        if (!X509_CRL_sort(crl) || X509_CRL_sign(crl, ca_key, EVP_sha256()) <= 0)
                return ald_pki_openssl_failed(-EIO, "Cannot sign a revocation list", ret_error);
        ERR_clear_error();
        /* OpenSSL fills in some of the list only when parsing, which also enforces the size limit. */
        text = ald_pki_crl_to_pem(crl);
        return ald_pki_crl_parse(text, strlen(text), ret, ret_error);
}
