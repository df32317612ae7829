/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/request.h"
#include "pki/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW (UINT64_C(1800000000) * G_USEC_PER_SEC)

/* As its own CA, too, so that what is only read behind a signature is also reached. */
static void use_certificate(X509 *certificate, X509_CRL *crl)
{
        g_autofree char *pem = ald_pki_certificate_to_pem(certificate), *reason = NULL;
        g_auto(GStrv) names = ald_pki_certificate_names(certificate);
        AldPkiFacts facts;

        g_assert_true(g_str_has_prefix(pem, "-----BEGIN CERTIFICATE-----"));
        for (unsigned i = 0; names[i]; i++)
                g_assert_true(g_utf8_validate(names[i], -1, NULL));
        ald_pki_certificate_facts(certificate, &facts);
        g_assert_true(g_utf8_validate(facts.common_name, -1, NULL));
        g_assert_true(g_utf8_validate(facts.organization, -1, NULL));
        g_assert_true(!facts.is_node || ald_pki_is_node_id(facts.common_name));
        g_assert_true(strlen(facts.serial) < ALD_PKI_SERIAL_SIZE);
        for (AldPkiRole role = ALD_PKI_ROLE_NODE; role <= ALD_PKI_ROLE_BRIDGE; role++) {
                g_clear_pointer(&reason, g_free);
                if (ald_pki_verify(certificate, crl, certificate, role, "broker.example", NOW, &reason) < 0)
                        g_assert_true(g_utf8_validate(reason, -1, NULL));
        }
}

static void use_crl(X509_CRL *crl)
{
        g_autofree char *pem = ald_pki_crl_to_pem(crl);
        g_autoptr(X509_CRL) again = NULL;

        g_assert_cmpuint(ald_pki_crl_count(crl), <=, ALD_PKI_CRL_MAX);
        ald_pki_crl_contains(crl, "05");
        if (ald_pki_crl_parse(pem, strlen(pem), &again, NULL) == 0)
                g_assert_cmpuint(ald_pki_crl_number(crl), ==, ald_pki_crl_number(again));
}

static void read_all(const char *pem, size_t n)
{
        g_autofree char *in_certificate = NULL, *in_crl = NULL, *in_request = NULL, *statement = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        g_autoptr(X509) certificate = NULL;
        g_autoptr(X509_CRL) crl = NULL;
        char id[ALD_PKI_ID_SIZE];

        if (ald_pki_crl_parse(pem, n, &crl, &in_crl) == 0)
                use_crl(crl);
        else
                g_assert_true(g_utf8_validate(in_crl, -1, NULL));
        if (ald_pki_certificate_parse(pem, n, &certificate, &in_certificate) == 0)
                use_certificate(certificate, crl);
        else
                g_assert_true(g_utf8_validate(in_certificate, -1, NULL));
        if (ald_pki_request_parse(pem, n, id, &key, &statement, &in_request) == 0)
                g_assert_true(key && ald_pki_is_node_id(id) &&
                              (!statement || g_utf8_validate(statement, -1, NULL)));
        else
                g_assert_true(g_utf8_validate(in_request, -1, NULL));
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static char *wrap(const char *label, const uint8_t *der, size_t n)
{
        g_autofree char *base64 = g_malloc(n / 3 * 4 + n / 24 + 16);
        int state = 0, save = 0;
        gsize used = g_base64_encode_step(der, n, TRUE, base64, &state, &save);

        used += g_base64_encode_close(TRUE, base64 + used, &state, &save);
        base64[used] = '\0';
        return g_strdup_printf("-----BEGIN %s-----\n%s-----END %s-----\n", label, base64, label);
}

/* DER is wrapped, since mutations rarely survive in base64; all else is PEM. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const labels[] = { "CERTIFICATE", "X509 CRL", "CERTIFICATE REQUEST" };

        if (size == 0 || data[0] != (V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED)) {
                read_all((const char *) data, size);
                return 0;
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(labels); i++) {
                g_autofree char *pem = wrap(labels[i], data, size);

                read_all(pem, strlen(pem));
        }
        return 0;
}
