/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "pki/openssl.h"
#include "pki/private-key.h"
#include "pki/sign.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GENERAL_NAMES, GENERAL_NAMES_free)

/* An extension with its value in the syntax of openssl.cnf, which must not contain untrusted text. */
typedef struct Extension {
        int nid;
        const char *value;
} Extension;

static const Extension ca_extensions[] = {
        { NID_basic_constraints, "critical,CA:TRUE,pathlen:0" },
        { NID_key_usage, "critical,keyCertSign,cRLSign" },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, "keyid:always" },
};

static const Extension leaf_extensions[] = {
        { NID_basic_constraints, "critical,CA:FALSE" },
        { NID_key_usage, "critical,digitalSignature" },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, "keyid:always" },
};

static const Extension client_usage = { NID_ext_key_usage, "clientAuth" };
static const Extension server_usage = { NID_ext_key_usage, "serverAuth" };

static bool add_extensions(X509 *certificate, X509 *issuer, const Extension *extensions, size_t n)
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

/* Adds names and addresses to the SAN. Returns -EINVAL if there are none, too many or an invalid one, which
 * *ret_error names. */
static int add_names(X509 *certificate, const char *const *names, char **ret_error)
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

/* Makes a certificate with everything except its name and extensions. */
static X509 *new_certificate(EVP_PKEY *key, X509_NAME *issuer, uint64_t now, unsigned days)
{
        g_autoptr(X509) made = X509_new();

        if (!made || !X509_set_version(made, X509_VERSION_3) ||
                !ald_pki_serial_random(X509_get_serialNumber(made)) ||
                (issuer && !X509_set_issuer_name(made, issuer)) ||
                !ald_pki_date_set(X509_getm_notBefore(made), now, 0, -ALD_PKI_BACKDATE_SECONDS) ||
                !ald_pki_date_set(X509_getm_notAfter(made), now, (int) days, 0) ||
                !X509_set_pubkey(made, key))
                return NULL;
        return g_steal_pointer(&made);
}

int ald_pki_ca_make(EVP_PKEY *key, const char *cluster, uint64_t now, X509 **ret, char **ret_error)
{
        g_autoptr(X509) ca = new_certificate(key, NULL, now, ALD_PKI_CA_DAYS);
        X509_NAME *name;

        if (!ca)
                return ald_pki_openssl_failed(-EIO, "Cannot create the certificate of the CA", ret_error);
        name = X509_get_subject_name(ca);
        if (ald_pki_name_add(name, NID_organizationName, cluster) < 0 ||
                ald_pki_name_add(name, NID_commonName, cluster) < 0)
                return ald_pki_refuse(-EINVAL, ret_error,
                        "the name of a cluster is printable text of at most %u bytes", ALD_PKI_NAME_MAX);
        if (!X509_set_issuer_name(ca, name) ||
                !add_extensions(ca, ca, ca_extensions, G_N_ELEMENTS(ca_extensions)) ||
                X509_sign(ca, key, EVP_sha256()) <= 0)
                return ald_pki_openssl_failed(-EIO, "Cannot sign the certificate of the CA", ret_error);
        ERR_clear_error();
        *ret = g_steal_pointer(&ca);
        return 0;
}

static int add_common_name(X509 *made, const AldPkiSubject *subject, char **ret_error)
{
        static const char *const prefix[] = {
                [ALD_PKI_ROLE_NODE] = "",
                [ALD_PKI_ROLE_BROKER] = ALD_PKI_BROKER_PREFIX,
                [ALD_PKI_ROLE_BRIDGE] = ALD_PKI_BRIDGE_PREFIX,
        };
        g_autofree char *name = g_strconcat(prefix[subject->role], subject->name, NULL);

        if (subject->role == ALD_PKI_ROLE_BRIDGE && !ald_pki_is_site(subject->name))
                return ald_pki_refuse(-EINVAL, ret_error,
                        "\"%s\" is not a valid site name: use letters, digits, '-', '_' and '.'",
                        subject->name);
        if (subject->role != ALD_PKI_ROLE_BRIDGE && !ald_pki_is_node_id(subject->name))
                return ald_pki_refuse(-EINVAL, ret_error, "\"%s\" is not a node id", subject->name);
        if (ald_pki_name_add(X509_get_subject_name(made), NID_commonName, name) < 0)
                return ald_pki_openssl_failed(-ENOMEM, "Cannot set the common name", ret_error);
        return 0;
}

/* Ends the certificate with its CA, since it would only confuse if it outlived that. */
static bool limit_to_ca(X509 *made, X509 *ca)
{
        const ASN1_TIME *end = X509_get0_notAfter(ca);

        return ASN1_TIME_compare(X509_get0_notAfter(made), end) <= 0 || X509_set1_notAfter(made, end);
}

int ald_pki_sign(
        X509 *ca, EVP_PKEY *ca_key, const AldPkiSubject *subject, uint64_t now, X509 **ret, char **ret_error)
{
        const Extension *usage = subject->role == ALD_PKI_ROLE_BROKER ? &server_usage : &client_usage;
        g_autoptr(X509) made = NULL;
        int r;

        if (!X509_check_private_key(ca, ca_key))
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "the key does not belong to the CA");
        if (!ald_pki_key_is_p256(subject->key))
                return ald_pki_refuse(-EINVAL, ret_error, "the key is not on P-256");
        made = new_certificate(
                subject->key, X509_get_subject_name(ca), now, subject->days ? subject->days : ALD_PKI_DAYS);
        if (!made || !limit_to_ca(made, ca) ||
                !add_extensions(made, ca, leaf_extensions, G_N_ELEMENTS(leaf_extensions)) ||
                !add_extensions(made, ca, usage, 1))
                return ald_pki_openssl_failed(-EIO, "Cannot create a certificate", ret_error);
        r = add_common_name(made, subject, ret_error);
        if (r == 0 && subject->role == ALD_PKI_ROLE_BROKER)
                r = add_names(made, subject->names, ret_error);
        if (r < 0)
                return r;
        if (X509_sign(made, ca_key, EVP_sha256()) <= 0)
                return ald_pki_openssl_failed(-EIO, "Cannot sign a certificate", ret_error);
        ERR_clear_error();
        *ret = g_steal_pointer(&made);
        return 0;
}
