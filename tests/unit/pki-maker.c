/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <openssl/x509v3.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/private-key.h"
#include "pki/sign.h"
#include "tests/unit/pki-maker.h"

void pki_maker_init(PkiMaker *maker, const char *cluster, uint64_t now)
{
        *maker = (PkiMaker){ 0 };
        g_assert_cmpint(ald_pki_key_generate(&maker->ca_key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_key_generate(&maker->key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_ca_make(maker->ca_key, cluster, now, &maker->ca, NULL), ==, 0);
        g_assert_cmpint(
                ald_pki_crl_make(maker->ca, maker->ca_key, NULL, NULL, 1, now, &maker->crl, NULL), ==, 0);
}

void pki_maker_clear(PkiMaker *maker)
{
        EVP_PKEY_free(maker->ca_key);
        EVP_PKEY_free(maker->key);
        X509_free(maker->ca);
        X509_CRL_free(maker->crl);
}

X509 *pki_maker_sign(const PkiMaker *maker, AldPkiRole role, const char *name, uint64_t now)
{
        static const char *const names[] = { "broker.example", "192.0.2.1", "2001:db8::1", NULL };
        AldPkiSubject subject = { .role = role, .name = name, .names = names, .key = maker->key };
        g_autofree char *error = NULL;
        X509 *certificate = NULL;

        ald_pki_sign(maker->ca, maker->ca_key, &subject, now, &certificate, &error);
        g_assert_cmpstr(error, ==, NULL);
        return certificate;
}

void pki_maker_revoke(PkiMaker *maker, X509 *certificate, uint64_t now)
{
        AldPkiFacts facts;
        const char *serials[] = { facts.serial, NULL };
        X509_CRL *crl = NULL;

        ald_pki_certificate_facts(certificate, &facts);
        g_assert_cmpint(ald_pki_crl_make(maker->ca, maker->ca_key, maker->crl, serials,
                                ald_pki_crl_number(maker->crl) + 1, now, &crl, NULL),
                ==, 0);
        X509_CRL_free(maker->crl);
        maker->crl = crl;
}

static void add(X509 *certificate, int nid, const char *value)
{
        X509_EXTENSION *extension = value ? X509V3_EXT_conf_nid(NULL, NULL, nid, value) : NULL;

        g_assert_true(!value || (extension && X509_add_ext(certificate, extension, -1)));
        X509_EXTENSION_free(extension);
}

static void add_unknown(X509 *certificate)
{
        ASN1_OBJECT *object = OBJ_txt2obj("1.3.6.1.4.1.55555.1", 1);
        ASN1_OCTET_STRING *data = ASN1_OCTET_STRING_new();
        X509_EXTENSION *extension;

        g_assert_true(object && data && ASN1_OCTET_STRING_set(data, (const unsigned char *) "\x05", 2));
        extension = X509_EXTENSION_create_by_OBJ(NULL, object, 1, data);
        g_assert_true(extension && X509_add_ext(certificate, extension, -1));
        X509_EXTENSION_free(extension);
        ASN1_OCTET_STRING_free(data);
        ASN1_OBJECT_free(object);
}

X509 *pki_maker_odd(const PkiMaker *maker, const PkiOdd *odd)
{
        X509 *made = X509_new();
        X509_NAME *name = X509_get_subject_name(made);

        X509_set_version(made, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(made), 5);
        X509_set_issuer_name(made, X509_get_subject_name(maker->ca));
        X509_time_adj_ex(X509_getm_notBefore(made), 0, 0, &(time_t){ PKI_NOW / G_USEC_PER_SEC });
        X509_time_adj_ex(X509_getm_notAfter(made), 100, 0, &(time_t){ PKI_NOW / G_USEC_PER_SEC });
        X509_set_pubkey(made, maker->key);
        for (unsigned i = 0; i < G_N_ELEMENTS(odd->names) && odd->names[i]; i++)
                g_assert_true(X509_NAME_add_entry_by_NID(name, NID_commonName, V_ASN1_UTF8STRING,
                        (const unsigned char *) odd->names[i], odd->name_bytes ? odd->name_bytes : -1, -1,
                        0));
        add(made, NID_basic_constraints, odd->constraints);
        add(made, NID_ext_key_usage, odd->usage);
        add(made, NID_subject_alt_name, odd->alt_name);
        if (odd->critical_unknown)
                add_unknown(made);
        g_assert_cmpint(X509_sign(made, maker->ca_key, EVP_sha256()), >, 0);
        return made;
}

AldPkiIdentity pki_maker_identity(const PkiMaker *maker, X509 *certificate)
{
        X509_up_ref(maker->ca);
        X509_CRL_up_ref(maker->crl);
        X509_up_ref(certificate);
        EVP_PKEY_up_ref(maker->key);
        return (AldPkiIdentity){
                .ca = maker->ca, .crl = maker->crl, .certificate = certificate, .key = maker->key
        };
}
