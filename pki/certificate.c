/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pki/certificate.h"
#include "pki/openssl.h"

int ald_pki_certificate_parse(const char *pem, size_t n, X509 **ret, char **ret_error)
{
        g_autoptr(BIO) bio = NULL;
        X509 *certificate;
        int r = ald_pki_pem_open(pem, n, ALD_PKI_PEM_MAX, "the certificate", &bio, ret_error);

        if (r < 0)
                return r;
        certificate = PEM_read_bio_X509(bio, NULL, ald_pki_pem_no_passphrase, NULL);
        if (!certificate)
                return ald_pki_openssl_failed(-EBADMSG, "not a certificate", ret_error);
        ERR_clear_error();
        *ret = certificate;
        return 0;
}

int ald_pki_certificate_load(const char *path, X509 **ret, char **ret_error)
{
        g_autofree char *text = NULL, *reason = NULL;
        size_t n;
        int r = ald_pki_pem_load(path, ALD_PKI_PEM_MAX, &text, &n, ret_error);

        if (r < 0)
                return r;
        r = ald_pki_certificate_parse(text, n, ret, &reason);
        return r < 0 ? ald_pki_refuse(r, ret_error, "%s: %s", path, reason) : 0;
}

char *ald_pki_certificate_to_pem(X509 *certificate)
{
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());

        /* This fails only if memory is short. */
        if (!bio || !PEM_write_bio_X509(bio, certificate))
                g_error("Cannot write a certificate");
        return ald_pki_pem_text(bio);
}

static void format_fingerprint(X509 *certificate, char ret[static 65])
{
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned n = 0;

        ret[0] = '\0';
        if (!X509_digest(certificate, EVP_sha256(), digest, &n))
                return;
        for (unsigned i = 0; i < n; i++)
                g_snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

void ald_pki_certificate_facts(X509 *certificate, AldPkiFacts *ret)
{
        const X509_NAME *subject = X509_get_subject_name(certificate);
        uint32_t flags = X509_get_extension_flags(certificate);
        uint32_t usage = flags & EXFLAG_XKUSAGE ? X509_get_extended_key_usage(certificate) : 0;

        *ret = (AldPkiFacts){
                .is_ca = X509_check_ca(certificate) == 1,
                .client = usage & XKU_SSL_CLIENT,
                .server = usage & XKU_SSL_SERVER,
                .not_before = ald_pki_date_read(X509_get0_notBefore(certificate)),
                .not_after = ald_pki_date_read(X509_get0_notAfter(certificate)),
        };
        ald_pki_name_get(subject, NID_commonName, ret->common_name);
        ald_pki_name_get(subject, NID_organizationName, ret->organization);
        ret->is_node = ald_pki_is_node_id(ret->common_name);
        ald_pki_serial_format(X509_get0_serialNumber(certificate), ret->serial);
        format_fingerprint(certificate, ret->fingerprint);
        ERR_clear_error();
}

static char *format_general_name(const GENERAL_NAME *name)
{
        char address[INET6_ADDRSTRLEN];
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
        const char *bytes;
        int n;

        if (type != GEN_DNS && type != GEN_IPADD)
                return NULL;
        bytes = (const char *) ASN1_STRING_get0_data(value);
        n = ASN1_STRING_length(value);
        if (type == GEN_DNS) {
                g_autofree char *text = g_strndup(bytes, (gsize) n);

                return strlen(text) == (size_t) n && ald_pki_is_host_name(text) ? g_steal_pointer(&text)
                                                                                : NULL;
        }
        if ((n != 4 && n != 16) || !inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, address, sizeof address))
                return NULL;
        return g_strdup(address);
}

char **ald_pki_certificate_names(X509 *certificate)
{
        GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
        GPtrArray *names = g_ptr_array_new();

        for (int i = 0; all && i < sk_GENERAL_NAME_num(all); i++) {
                char *name = format_general_name(sk_GENERAL_NAME_value(all, i));

                if (name)
                        g_ptr_array_add(names, name);
        }
        GENERAL_NAMES_free(all);
        ERR_clear_error();
        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}

bool ald_pki_certificate_is_for_host(X509 *certificate, const char *host)
{
        int r = X509_check_ip_asc(certificate, host, 0);

        if (r != -2)
                return r == 1;
        return X509_check_host(certificate, host, 0,
                       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS, NULL) == 1;
}
