/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "pki/certificate.h"
#include "pki/private-key.h"
#include "pki/sign.h"
#include "tests/unit/pki-maker.h"

#define HOUR (UINT64_C(3600) * G_USEC_PER_SEC)

static void test_ca(void)
{
        g_auto(PkiMaker) maker;
        AldPkiFacts facts;

        pki_maker_init(&maker, "Zürich lab", PKI_NOW);
        ald_pki_certificate_facts(maker.ca, &facts);
        g_assert_cmpstr(facts.common_name, ==, "Zürich lab");
        g_assert_cmpstr(facts.organization, ==, "Zürich lab");
        g_assert_true(facts.is_ca);
        g_assert_false(facts.is_node || facts.client || facts.server);
        g_assert_cmpuint(facts.not_before, ==, PKI_NOW - HOUR);
        g_assert_cmpuint(facts.not_after, ==, PKI_NOW + ALD_PKI_CA_DAYS * PKI_DAY);
        g_assert_cmpint(X509_get_pathlen(maker.ca), ==, 0);
        g_assert_cmpuint(X509_get_key_usage(maker.ca), ==, KU_KEY_CERT_SIGN | KU_CRL_SIGN);
        g_assert_cmpint(X509_self_signed(maker.ca, 1), ==, 1);
}

static void test_names_of_clusters(void)
{
        g_autofree char *longest = g_strnfill(ALD_PKI_NAME_MAX, 'x'),
                        *longer = g_strnfill(ALD_PKI_NAME_MAX + 1, 'x');
        const char *bad[] = { "", longer, "two\nlines", "\xff",
                "a\xe2\x80\xae"
                "b" };
        g_autoptr(EVP_PKEY) key = NULL;
        g_autoptr(X509) ca = NULL, none = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_ca_make(key, longest, PKI_NOW, &ca, NULL), ==, 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(ald_pki_ca_make(key, bad[i], PKI_NOW, &none, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, "the name of a cluster is printable text of at most 64 bytes");
                g_assert_null(none);
        }
}

static void check_common(const PkiMaker *maker, X509 *certificate)
{
        const ASN1_OCTET_STRING *issuer = X509_get0_authority_key_id(certificate);

        g_assert_nonnull(issuer);
        g_assert_cmpint(ASN1_OCTET_STRING_cmp(issuer, X509_get0_subject_key_id(maker->ca)), ==, 0);
        g_assert_nonnull(X509_get0_subject_key_id(certificate));
        g_assert_cmpuint(X509_get_key_usage(certificate), ==, KU_DIGITAL_SIGNATURE);
        g_assert_cmpint(X509_verify(certificate, maker->ca_key), ==, 1);
        g_assert_cmpint(EVP_PKEY_eq(X509_get0_pubkey(certificate), maker->key), ==, 1);
}

static void test_roles(void)
{
        g_auto(PkiMaker) maker;
        g_autoptr(X509) node = NULL, broker = NULL, bridge = NULL;
        g_auto(GStrv) names = NULL, none = NULL;
        g_autofree char *joined = NULL;
        AldPkiFacts facts;

        pki_maker_init(&maker, "lab", PKI_NOW);
        node = pki_maker_sign(&maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        check_common(&maker, node);
        ald_pki_certificate_facts(node, &facts);
        g_assert_cmpstr(facts.common_name, ==, PKI_A);
        g_assert_cmpstr(facts.organization, ==, "");
        g_assert_true(facts.is_node && facts.client && !facts.server && !facts.is_ca);
        g_assert_cmpuint(facts.not_before, ==, PKI_NOW - HOUR);
        g_assert_cmpuint(facts.not_after, ==, PKI_NOW + 397 * PKI_DAY);
        none = ald_pki_certificate_names(node);
        g_assert_cmpuint(g_strv_length(none), ==, 0);

        broker = pki_maker_sign(&maker, ALD_PKI_ROLE_BROKER, PKI_A, PKI_NOW);
        check_common(&maker, broker);
        ald_pki_certificate_facts(broker, &facts);
        g_assert_cmpstr(facts.common_name, ==, "broker-" PKI_A);
        g_assert_true(!facts.is_node && !facts.client && facts.server && !facts.is_ca);
        names = ald_pki_certificate_names(broker);
        joined = g_strjoinv(" ", names);
        g_assert_cmpstr(joined, ==, "broker.example 192.0.2.1 2001:db8::1");

        bridge = pki_maker_sign(&maker, ALD_PKI_ROLE_BRIDGE, "north-2", PKI_NOW);
        check_common(&maker, bridge);
        ald_pki_certificate_facts(bridge, &facts);
        g_assert_cmpstr(facts.common_name, ==, "bridge-north-2");
        g_assert_true(!facts.is_node && facts.client && !facts.server && !facts.is_ca);
}

static void test_serials(void)
{
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_auto(PkiMaker) maker;
        AldPkiFacts facts;

        pki_maker_init(&maker, "lab", PKI_NOW);
        for (unsigned i = 0; i < 50; i++) {
                g_autoptr(X509) node = pki_maker_sign(&maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);

                ald_pki_certificate_facts(node, &facts);
                g_assert_cmpuint(strlen(facts.serial), ==, 32);
                g_assert_true(g_hash_table_add(seen, g_strdup(facts.serial)));
        }
}

static void test_lifetime(void)
{
        g_auto(PkiMaker) maker;
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_NODE, .name = PKI_A, .days = 10 };
        g_autoptr(X509) brief = NULL, endless = NULL;
        AldPkiFacts facts, ca;

        pki_maker_init(&maker, "lab", PKI_NOW);
        subject.key = maker.key;
        g_assert_cmpint(ald_pki_sign(maker.ca, maker.ca_key, &subject, PKI_NOW, &brief, NULL), ==, 0);
        ald_pki_certificate_facts(brief, &facts);
        g_assert_cmpuint(facts.not_after, ==, PKI_NOW + 10 * PKI_DAY);

        subject.days = 100000;
        g_assert_cmpint(ald_pki_sign(maker.ca, maker.ca_key, &subject, PKI_NOW, &endless, NULL), ==, 0);
        ald_pki_certificate_facts(endless, &facts);
        ald_pki_certificate_facts(maker.ca, &ca);
        g_assert_cmpuint(facts.not_after, ==, ca.not_after);
}

static void refused(const PkiMaker *maker, AldPkiRole role, const char *name, const char *const *names,
        const char *reason)
{
        AldPkiSubject subject = { .role = role, .name = name, .names = names, .key = maker->key };
        g_autofree char *error = NULL;
        X509 *none = NULL;

        g_assert_cmpint(
                ald_pki_sign(maker->ca, maker->ca_key, &subject, PKI_NOW, &none, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, reason);
        g_assert_null(none);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static void test_bad_subjects(void)
{
        static const char *const bad_names[] = { "", "a b", "x,DNS:evil", "*.example", "a..b", ".a", "a.",
                "-a", "a-", "1.2.3.999", "[2001:db8::1]", "2001:db8::1%eth0", "host:8883", "127.0.0.1/8" };
        static const char *const fine[] = { "a", "A-1.example", "x_y.local", "127.0.0.1", "::1", NULL };
        g_auto(PkiMaker) maker;
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_BROKER, .name = PKI_A, .names = fine };
        const char *many[ALD_PKI_SAN_MAX + 2] = { NULL };
        g_autoptr(X509) broker = NULL;

        pki_maker_init(&maker, "lab", PKI_NOW);
        refused(&maker, ALD_PKI_ROLE_NODE, "node7", NULL, "\"node7\" is not a node id");
        refused(&maker, ALD_PKI_ROLE_BROKER, "x", fine, "\"x\" is not a node id");
        refused(&maker, ALD_PKI_ROLE_BRIDGE, "a/#", NULL,
                "\"a/#\" is not a valid site name: use letters, digits, '-', '_' and '.'");
        refused(&maker, ALD_PKI_ROLE_BROKER, PKI_A, NULL, "a broker has 1 to 64 names and addresses, not 0");
        for (unsigned i = 0; i <= ALD_PKI_SAN_MAX; i++)
                many[i] = "a";
        refused(&maker, ALD_PKI_ROLE_BROKER, PKI_A, many, "a broker has 1 to 64 names and addresses, not 65");
        for (unsigned i = 0; i < G_N_ELEMENTS(bad_names); i++) {
                const char *names[] = { "good.example", bad_names[i], NULL };
                g_autofree char *reason = g_strdup_printf(
                        "\"%s\" is neither a host name nor an address", bad_names[i]);

                refused(&maker, ALD_PKI_ROLE_BROKER, PKI_A, names, reason);
        }
        subject.key = maker.key;
        g_assert_cmpint(ald_pki_sign(maker.ca, maker.ca_key, &subject, PKI_NOW, &broker, NULL), ==, 0);
}

static void test_keys_that_do_not_fit(void)
{
        g_auto(PkiMaker) maker;
        g_autoptr(EVP_PKEY) p384 = EVP_EC_gen("P-384");
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_NODE, .name = PKI_A };
        g_autofree char *not_ca = NULL, *not_p256 = NULL;
        X509 *none = NULL;

        pki_maker_init(&maker, "lab", PKI_NOW);
        subject.key = maker.key;
        g_assert_cmpint(
                ald_pki_sign(maker.ca, maker.key, &subject, PKI_NOW, &none, &not_ca), ==, -EKEYREJECTED);
        g_assert_cmpstr(not_ca, ==, "the key does not belong to the CA");
        subject.key = p384;
        g_assert_cmpint(
                ald_pki_sign(maker.ca, maker.ca_key, &subject, PKI_NOW, &none, &not_p256), ==, -EINVAL);
        g_assert_cmpstr(not_p256, ==, "the key is not on P-256");
        g_assert_null(none);
}

static void test_odd_facts(void)
{
        static const PkiOdd odd[] = {
                { .names = { PKI_A, PKI_B }, .usage = "clientAuth,serverAuth" },
                { .names = { PKI_A "\0.example" }, .name_bytes = 41, .usage = "clientAuth,serverAuth" },
                { .names = { "tab\there" }, .usage = "clientAuth,serverAuth" },
                { .names = { NULL }, .usage = "clientAuth,serverAuth" },
        };
        const PkiOdd any = { .names = { PKI_A }, .usage = "anyExtendedKeyUsage" },
                     bare = { .names = { PKI_A } };
        g_autoptr(X509) any_made = NULL, bare_made = NULL;
        g_auto(PkiMaker) maker;
        AldPkiFacts facts;

        pki_maker_init(&maker, "lab", PKI_NOW);
        for (unsigned i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autoptr(X509) made = pki_maker_odd(&maker, &odd[i]);

                ald_pki_certificate_facts(made, &facts);
                g_assert_cmpstr(facts.common_name, ==, "");
                g_assert_true(!facts.is_node && facts.client && facts.server);
                g_assert_cmpstr(facts.serial, ==, "05");
        }
        any_made = pki_maker_odd(&maker, &any);
        ald_pki_certificate_facts(any_made, &facts);
        g_assert_true(facts.is_node && !facts.client && !facts.server);
        bare_made = pki_maker_odd(&maker, &bare);
        ald_pki_certificate_facts(bare_made, &facts);
        g_assert_true(facts.is_node && !facts.client && !facts.server);
}

static void test_pem(void)
{
        g_autofree char *huge = g_strnfill(ALD_PKI_PEM_MAX + 1, 'A'), *pem = NULL, *error = NULL;
        g_autoptr(X509) node = NULL, read = NULL, none = NULL;
        g_auto(PkiMaker) maker;
        AldPkiFacts a, b;

        pki_maker_init(&maker, "lab", PKI_NOW);
        node = pki_maker_sign(&maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        pem = ald_pki_certificate_to_pem(node);
        g_assert_cmpint(ald_pki_certificate_parse(pem, strlen(pem), &read, NULL), ==, 0);
        ald_pki_certificate_facts(node, &a);
        ald_pki_certificate_facts(read, &b);
        g_assert_cmpstr(a.fingerprint, ==, b.fingerprint);
        g_assert_cmpuint(strlen(a.fingerprint), ==, 64);
        for (size_t n = 0; n < strlen(pem) - 2; n += 5)
                g_assert_cmpint(ald_pki_certificate_parse(pem, n, &none, NULL), ==, -EBADMSG);
        g_assert_cmpint(ald_pki_certificate_parse(huge, strlen(huge), &none, &error), ==, -E2BIG);
        g_assert_cmpstr(error, ==, "the certificate is too big: 65537 bytes, at most 65536 are read");
        g_assert_null(none);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

/* OpenSSL would ask at the terminal. */
static void test_encrypted_pem(void)
{
        static const char encrypted[] =
                "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
                "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END CERTIFICATE-----\n";
        g_autofree char *error = NULL;
        X509 *none = NULL;

        g_assert_cmpint(ald_pki_certificate_parse(encrypted, strlen(encrypted), &none, &error), ==, -EBADMSG);
        g_assert_cmpstr(error, ==, "not a certificate: bad password read");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pki/ca", test_ca);
        g_test_add_func("/pki/ca/names", test_names_of_clusters);
        g_test_add_func("/pki/sign/roles", test_roles);
        g_test_add_func("/pki/sign/serials", test_serials);
        g_test_add_func("/pki/sign/lifetime", test_lifetime);
        g_test_add_func("/pki/sign/bad-subjects", test_bad_subjects);
        g_test_add_func("/pki/sign/keys", test_keys_that_do_not_fit);
        g_test_add_func("/pki/certificate/odd", test_odd_facts);
        g_test_add_func("/pki/certificate/pem", test_pem);
        g_test_add_func("/pki/certificate/encrypted", test_encrypted_pem);
        return g_test_run();
}
