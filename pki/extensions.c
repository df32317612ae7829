/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/x509v3.h>

#include "pki/error.h"
#include "pki/extensions.h"
#include "pki/name.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GENERAL_NAMES, GENERAL_NAMES_free)

bool ald_pki_extensions_add(X509 *certificate, X509 *issuer, const AldPkiExtension *extensions, size_t n)
{
        X509V3_CTX context;

        X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
        for (size_t i = 0; i < n; i++) {
                X509_EXTENSION *extension = X509V3_EXT_conf_nid(
                        NULL, &context, extensions[i].nid, extensions[i].value);
                bool added = extension && X509_add_ext(certificate, extension, -1);

                X509_EXTENSION_free(extension);
                if (!added)
                        return false;
        }
        return true;
}

static bool add_name(GENERAL_NAMES *names, const char *text)
{
        ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
        ASN1_STRING *value = address;
        GENERAL_NAME *name;

        if (!address) {
                value = ASN1_IA5STRING_new();
                if (!value || !ASN1_STRING_set(value, text, -1)) {
                        ASN1_STRING_free(value);
                        return false;
                }
        }
        name = GENERAL_NAME_new();
        if (!name) {
                ASN1_STRING_free(value);
                return false;
        }
        GENERAL_NAME_set0_value(name, address ? GEN_IPADD : GEN_DNS, value);
        if (!sk_GENERAL_NAME_push(names, name)) {
                GENERAL_NAME_free(name);
                return false;
        }
        return true;
}

static bool is_address(const char *text)
{
        ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);

        ASN1_OCTET_STRING_free(address);
        return address != NULL;
}

int ald_pki_names_add(X509 *certificate, const char *const *names, char **ret_error)
{
        g_autoptr(GENERAL_NAMES) all = GENERAL_NAMES_new();
        size_t n = names ? g_strv_length((char **) names) : 0;

        if (n == 0 || n > ALD_PKI_SAN_MAX)
                return ald_pki_refuse(-EINVAL, ret_error, "a broker has 1 to %u names and addresses, not %zu",
                        ALD_PKI_SAN_MAX, n);
        for (size_t i = 0; i < n; i++) {
                if (!is_address(names[i]) && !ald_pki_is_host_name(names[i]))
                        return ald_pki_refuse(
                                -EINVAL, ret_error, "\"%s\" is neither a host name nor an address", names[i]);
                if (!all || !add_name(all, names[i]))
                        return ald_pki_openssl_failed(-ENOMEM, names[i], ret_error);
        }
        if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, all, 0, X509V3_ADD_DEFAULT) != 1)
                return ald_pki_openssl_failed(-EIO, "Cannot add the names", ret_error);
        return 0;
}
