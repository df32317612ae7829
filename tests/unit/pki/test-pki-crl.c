/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "tests/unit/pki-maker.h"

#define ONE "11111111111111111111111111111111"
#define TWO "22222222222222222222222222222222"

static int make(
        const PkiMaker *maker, X509_CRL *old, const char *const *serials, uint64_t number, X509_CRL **ret)
{
        return ald_pki_crl_make(maker->ca, maker->ca_key, old, serials, number, PKI_NOW, ret, NULL);
}

static void test_grows(void)
{
        static const char *const first[] = { ONE, "5", ONE, NULL }, *const second[] = { "05", TWO, NULL };
        g_autoptr(X509_CRL) one = NULL, two = NULL;
        g_auto(PkiMaker) maker;

        pki_maker_init(&maker, "lab", PKI_NOW);
        g_assert_cmpuint(ald_pki_crl_number(maker.crl), ==, 1);
        g_assert_cmpuint(ald_pki_crl_count(maker.crl), ==, 0);
        g_assert_false(ald_pki_crl_contains(maker.crl, ONE));

        g_assert_cmpint(make(&maker, maker.crl, first, 2, &one), ==, 0);
        g_assert_cmpuint(ald_pki_crl_number(one), ==, 2);
        g_assert_cmpuint(ald_pki_crl_count(one), ==, 2);
        g_assert_cmpint(make(&maker, one, second, 9, &two), ==, 0);
        g_assert_cmpuint(ald_pki_crl_number(two), ==, 9);
        g_assert_cmpuint(ald_pki_crl_count(two), ==, 3);
        g_assert_true(ald_pki_crl_contains(two, ONE));
        g_assert_true(ald_pki_crl_contains(two, TWO));
        g_assert_true(ald_pki_crl_contains(two, "05"));
        g_assert_false(ald_pki_crl_contains(two, "33333333333333333333333333333333"));
        g_assert_false(ald_pki_crl_contains(two, "no serial"));
        g_assert_false(ald_pki_crl_contains(two, ""));
}

static void test_refusals_to_make(void)
{
        static const char *const bad[] = { ONE, "-5", NULL };
        g_autofree char *stale = NULL, *serial = NULL, *key = NULL, *elsewhere = NULL;
        g_auto(PkiMaker) maker, other;
        X509_CRL *none = NULL;

        pki_maker_init(&maker, "lab", PKI_NOW);
        pki_maker_init(&other, "lab", PKI_NOW);
        g_assert_cmpint(ald_pki_crl_make(maker.ca, maker.ca_key, maker.crl, NULL, 1, PKI_NOW, &none, &stale),
                ==, -ESTALE);
        g_assert_cmpstr(stale, ==, "the number of a revocation list must increase: 1 is too low");
        g_assert_cmpint(make(&maker, NULL, NULL, 0, &none), ==, -ESTALE);
        g_assert_cmpint(ald_pki_crl_make(maker.ca, maker.ca_key, maker.crl, bad, 2, PKI_NOW, &none, &serial),
                ==, -EINVAL);
        g_assert_cmpstr(serial, ==, "\"-5\" is not a certificate serial number");
        g_assert_cmpint(ald_pki_crl_make(maker.ca, maker.key, maker.crl, NULL, 2, PKI_NOW, &none, &key), ==,
                -EKEYREJECTED);
        g_assert_cmpstr(key, ==, "the key does not belong to the CA");
        g_assert_cmpint(
                ald_pki_crl_make(maker.ca, maker.ca_key, other.crl, NULL, 2, PKI_NOW, &none, &elsewhere), ==,
                -EKEYREJECTED);
        g_assert_null(none);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static void test_limit(void)
{
        g_autoptr(GPtrArray) serials = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(X509_CRL) big = NULL, none = NULL;
        g_autofree char *error = NULL, *text = NULL;
        g_auto(PkiMaker) maker;

        pki_maker_init(&maker, "lab", PKI_NOW);
        for (unsigned i = 0; i < 20000; i++)
                g_ptr_array_add(serials, g_strdup_printf("7fffffffffffffffffffffff%08x", i));
        g_ptr_array_add(serials, NULL);
        g_assert_cmpint(make(&maker, NULL, (const char *const *) serials->pdata, 2, &big), ==, 0);
        g_assert_cmpuint(ald_pki_crl_count(big), ==, 20000);
        g_assert_true(ald_pki_crl_contains(big, "7fffffffffffffffffffffff00004e1f"));
        g_ptr_array_set_size(serials, 20000);
        for (unsigned i = 20000; i < 30000; i++)
                g_ptr_array_add(serials, g_strdup_printf("7fffffffffffffffffffffff%08x", i));
        g_ptr_array_add(serials, NULL);
        g_assert_cmpint(ald_pki_crl_make(maker.ca, maker.ca_key, big, (const char *const *) serials->pdata, 3,
                                PKI_NOW, &none, &error),
                ==, -E2BIG);
        g_assert_true(g_str_has_prefix(error, "the revocation list is too big: "));

        text = g_strnfill(ALD_PKI_CRL_MAX + 1, '\n');
        g_assert_cmpint(ald_pki_crl_parse(text, ALD_PKI_CRL_MAX + 1, &none, NULL), ==, -E2BIG);
        g_assert_null(none);
}

static void test_pem(void)
{
        g_autoptr(X509_CRL) read = NULL, none = NULL;
        g_autofree char *pem = NULL, *again = NULL;
        g_autoptr(X509) node = NULL;
        g_auto(PkiMaker) maker;
        AldPkiFacts facts;

        pki_maker_init(&maker, "lab", PKI_NOW);
        node = pki_maker_sign(&maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        pki_maker_revoke(&maker, node, PKI_NOW);
        pem = ald_pki_crl_to_pem(maker.crl);
        g_assert_cmpint(ald_pki_crl_parse(pem, strlen(pem), &read, NULL), ==, 0);
        again = ald_pki_crl_to_pem(read);
        g_assert_cmpstr(again, ==, pem);
        ald_pki_certificate_facts(node, &facts);
        g_assert_true(ald_pki_crl_contains(read, facts.serial));
        for (size_t n = 0; n < strlen(pem) - 2; n += 5)
                g_assert_cmpint(ald_pki_crl_parse(pem, n, &none, NULL), ==, -EBADMSG);
        g_assert_null(none);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static void test_without_number(void)
{
        g_autoptr(X509_CRL) crl = X509_CRL_new(), none = NULL;
        g_autofree char *pem = NULL, *error = NULL;
        g_auto(PkiMaker) maker;

        pki_maker_init(&maker, "lab", PKI_NOW);
        g_assert_true(X509_CRL_set_issuer_name(crl, X509_get_subject_name(maker.ca)));
        g_assert_true(X509_CRL_set1_lastUpdate(crl, X509_get0_notBefore(maker.ca)));
        g_assert_cmpint(X509_CRL_sign(crl, maker.ca_key, EVP_sha256()), >, 0);
        pem = ald_pki_crl_to_pem(crl);
        g_assert_cmpint(ald_pki_crl_parse(pem, strlen(pem), &none, &error), ==, -EBADMSG);
        g_assert_cmpstr(error, ==, "the revocation list has no number");
}

/* With this byte of the DER, counted from its end, changed. */
static X509_CRL *altered(X509_CRL *crl, int from_end)
{
        unsigned char *der = NULL;
        int n = i2d_X509_CRL(crl, &der);
        const unsigned char *at = der;
        X509_CRL *made;

        der[n - from_end] ^= 1;
        made = d2i_X509_CRL(NULL, &at, n);
        OPENSSL_free(der);
        g_assert_nonnull(made);
        return made;
}

static void test_accept(void)
{
        g_autofree char *lower = NULL, *same_name = NULL, *other_name = NULL, *changed = NULL;
        g_autoptr(X509_CRL) first = NULL, forged = NULL;
        g_auto(PkiMaker) maker, same, other;
        g_autoptr(X509) node = NULL;

        pki_maker_init(&maker, "lab", PKI_NOW);
        pki_maker_init(&same, "lab", PKI_NOW);
        pki_maker_init(&other, "other", PKI_NOW);
        node = pki_maker_sign(&maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        X509_CRL_up_ref(maker.crl);
        first = maker.crl;
        pki_maker_revoke(&maker, node, PKI_NOW);

        g_assert_cmpint(ald_pki_crl_accept(first, maker.ca, NULL, NULL), ==, 0);
        g_assert_cmpint(ald_pki_crl_accept(maker.crl, maker.ca, first, NULL), ==, 0);
        g_assert_cmpint(ald_pki_crl_accept(maker.crl, maker.ca, maker.crl, NULL), ==, -ESTALE);
        g_assert_cmpint(ald_pki_crl_accept(first, maker.ca, maker.crl, &lower), ==, -ESTALE);
        g_assert_cmpstr(lower, ==, "the revocation list has number 1 and is not newer than number 2");

        g_assert_cmpint(ald_pki_crl_accept(other.crl, maker.ca, NULL, &other_name), ==, -EKEYREJECTED);
        g_assert_cmpstr(other_name, ==, "the revocation list is from another CA");
        g_assert_cmpint(ald_pki_crl_accept(same.crl, maker.ca, NULL, &same_name), ==, -EKEYREJECTED);
        g_assert_cmpstr(
                same_name, ==, "the revocation list is not signed by the CA of the cluster, or was altered");
        forged = altered(maker.crl, 1);
        g_assert_cmpint(ald_pki_crl_accept(forged, maker.ca, first, &changed), ==, -EKEYREJECTED);
        g_assert_cmpstr(changed, ==, same_name);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pki/crl/grows", test_grows);
        g_test_add_func("/pki/crl/refusals", test_refusals_to_make);
        g_test_add_func("/pki/crl/limit", test_limit);
        g_test_add_func("/pki/crl/pem", test_pem);
        g_test_add_func("/pki/crl/without-number", test_without_number);
        g_test_add_func("/pki/crl/accept", test_accept);
        return g_test_run();
}
