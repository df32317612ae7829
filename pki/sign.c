/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/date.h"
#include "pki/error.h"
#include "pki/extensions.h"
#include "pki/key.h"
#include "pki/name.h"
#include "pki/serial.h"
#include "pki/sign.h"

static const AldPkiExtension ca_extensions[] = {
        { NID_basic_constraints, "critical,CA:TRUE,pathlen:0" },
        { NID_key_usage, "critical,keyCertSign,cRLSign" },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, "keyid:always" },
};

static const AldPkiExtension leaf_extensions[] = {
        { NID_basic_constraints, "critical,CA:FALSE" },
        { NID_key_usage, "critical,digitalSignature" },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, "keyid:always" },
};

static const AldPkiExtension client_usage = { NID_ext_key_usage, "clientAuth" };
static const AldPkiExtension server_usage = { NID_ext_key_usage, "serverAuth" };

/* What all certificates have, but for name and extensions. */
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
                !ald_pki_extensions_add(ca, ca, ca_extensions, G_N_ELEMENTS(ca_extensions)) ||
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

/* A certificate that outlives its CA only confuses. */
static bool limit_to_ca(X509 *made, X509 *ca)
{
        const ASN1_TIME *end = X509_get0_notAfter(ca);

        return ASN1_TIME_compare(X509_get0_notAfter(made), end) <= 0 || X509_set1_notAfter(made, end);
}

int ald_pki_sign(
        X509 *ca, EVP_PKEY *ca_key, const AldPkiSubject *subject, uint64_t now, X509 **ret, char **ret_error)
{
        const AldPkiExtension *usage = subject->role == ALD_PKI_ROLE_BROKER ? &server_usage : &client_usage;
        g_autoptr(X509) made = NULL;
        int r;

        if (!X509_check_private_key(ca, ca_key))
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "the key does not belong to the CA");
        if (!ald_pki_key_is_p256(subject->key))
                return ald_pki_refuse(-EINVAL, ret_error, "the key is not on P-256");
        made = new_certificate(
                subject->key, X509_get_subject_name(ca), now, subject->days ? subject->days : ALD_PKI_DAYS);
        if (!made || !limit_to_ca(made, ca) ||
                !ald_pki_extensions_add(made, ca, leaf_extensions, G_N_ELEMENTS(leaf_extensions)) ||
                !ald_pki_extensions_add(made, ca, usage, 1))
                return ald_pki_openssl_failed(-EIO, "Cannot create a certificate", ret_error);
        r = add_common_name(made, subject, ret_error);
        if (r == 0 && subject->role == ALD_PKI_ROLE_BROKER)
                r = ald_pki_names_add(made, subject->names, ret_error);
        if (r < 0)
                return r;
        if (X509_sign(made, ca_key, EVP_sha256()) <= 0)
                return ald_pki_openssl_failed(-EIO, "Cannot sign a certificate", ret_error);
        ERR_clear_error();
        *ret = g_steal_pointer(&made);
        return 0;
}
