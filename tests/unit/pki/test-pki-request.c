/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pki/private-key.h"
#include "pki/request.h"
#include "tests/unit/pki-maker.h"

static int parse(const char *pem, char **ret_error)
{
        g_autofree char *statement = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        char id[ALD_PKI_ID_SIZE] = "untouched";
        int r = ald_pki_request_parse(pem, strlen(pem), id, &key, &statement, ret_error);

        g_assert_cmpuint(ERR_peek_error(), ==, 0);
        if (r < 0) {
                g_assert_null(key);
                g_assert_null(statement);
                g_assert_cmpstr(id, ==, "untouched");
        }
        return r;
}

static char *to_pem(X509_REQ *request)
{
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());
        char *text;
        long n;

        g_assert_true(PEM_write_bio_X509_REQ(bio, request));
        n = BIO_get_mem_data(bio, &text);
        return g_strndup(text, (gsize) n);
}

static void test_round_trip(void)
{
        g_autoptr(EVP_PKEY) key = NULL, got = NULL;
        g_autofree char *pem = NULL, *statement = NULL;
        char id[ALD_PKI_ID_SIZE];

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_request_make(key, PKI_A, NULL, &pem, NULL), ==, 0);
        g_assert_null(strstr(pem, "PRIVATE"));
        g_assert_cmpint(ald_pki_request_parse(pem, strlen(pem), id, &got, &statement, NULL), ==, 0);
        g_assert_cmpstr(id, ==, PKI_A);
        g_assert_null(statement);
        g_assert_cmpint(EVP_PKEY_eq(key, got), ==, 1);
}

/* What is said in it is signed with it. */
static void test_statement(void)
{
        static const char said[] = "{\"Purpose\":\"renew\",\"Names\":[\"hôte\"]}";
        g_autofree char *pem = NULL, *statement = NULL, *error = NULL, *altered = NULL, *none = NULL;
        g_autoptr(EVP_PKEY) key = NULL, got = NULL, stranger = NULL;
        char id[ALD_PKI_ID_SIZE], *plain, *at;
        g_autofree guchar *der = NULL;
        gsize n;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_request_make(key, PKI_A, said, &pem, NULL), ==, 0);
        g_assert_cmpint(ald_pki_request_parse(pem, strlen(pem), id, &got, &statement, NULL), ==, 0);
        g_assert_cmpstr(statement, ==, said);

        plain = strchr(pem, '\n') + 1;
        *strstr(plain, "-----END") = '\0';
        der = g_base64_decode(plain, &n);
        at = memmem(der, n, "renew", 5);
        g_assert_nonnull(at);
        memcpy(at, "other", 5);
        g_free(pem);
        pem = g_base64_encode(der, n);
        altered = g_strdup_printf(
                "-----BEGIN CERTIFICATE REQUEST-----\n%s\n-----END CERTIFICATE REQUEST-----\n", pem);
        g_assert_cmpint(ald_pki_request_parse(altered, strlen(altered), id, &stranger, &none, &error), ==,
                -EKEYREJECTED);
        g_assert_null(none);
}

/* Of two that contradict each other neither is believed, nor what is not plain text. */
static void test_odd_statements(void)
{
        static const char oid[] = "2.25.49143227820350215737830133247034294825";
        static const struct {
                int type, n;
                const char *text;
                unsigned times;
        } odd[] = { { V_ASN1_UTF8STRING, 1, "a", 2 }, { V_ASN1_OCTET_STRING, 1, "a", 1 },
                { V_ASN1_UTF8STRING, 3, "a\0b", 1 }, { V_ASN1_UTF8STRING, 1, "\xff", 1 } };
        g_autoptr(EVP_PKEY) key = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autoptr(X509_REQ) request = X509_REQ_new();
                ASN1_OBJECT *name = OBJ_txt2obj(oid, 1);
                g_autofree char *pem = NULL;

                g_assert_true(X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(request), NID_commonName,
                        V_ASN1_UTF8STRING, (const unsigned char *) PKI_A, -1, -1, 0));
                g_assert_true(X509_REQ_set_pubkey(request, key));
                for (unsigned j = 0; j < odd[i].times; j++) {
                        X509_ATTRIBUTE *attribute = X509_ATTRIBUTE_create_by_OBJ(
                                NULL, name, odd[i].type, odd[i].text, odd[i].n);

                        g_assert_true(X509_REQ_add1_attr(request, attribute) || j > 0);
                        if (j > 0)
                                g_assert_true(X509_ATTRIBUTE_set1_data(
                                        X509_REQ_get_attr(request, 0), odd[i].type, odd[i].text, odd[i].n));
                        X509_ATTRIBUTE_free(attribute);
                }
                ASN1_OBJECT_free(name);
                g_assert_cmpint(X509_REQ_sign(request, key, EVP_sha256()), >, 0);
                ERR_clear_error();
                pem = to_pem(request);
                g_assert_cmpint(parse(pem, NULL), ==, -EBADMSG);
        }
}

/* A request as somebody else might make it. */
static char *odd_request(EVP_PKEY *key, EVP_PKEY *signer, const char *name, int n)
{
        g_autoptr(X509_REQ) request = X509_REQ_new();

        g_assert_true(X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(request), NID_commonName,
                V_ASN1_UTF8STRING, (const unsigned char *) name, n, -1, 0));
        g_assert_true(X509_REQ_set_pubkey(request, key));
        g_assert_cmpint(X509_REQ_sign(request, signer, EVP_sha256()), >, 0);
        return to_pem(request);
}

static void test_names_that_are_no_ids(void)
{
        static const char with_nul[] = PKI_A "\0.example";
        g_autoptr(EVP_PKEY) key = NULL;
        static const char *const names[] = { "broker-" PKI_A, "../../etc/passwd",
                "0123456789ABCDEF0123456789abcdef", "00000000000000000000000000000000", PKI_A "0",
                "0123456789abcdef0123456789abcde" };
        g_autofree char *nul = NULL, *error = NULL, *unmade = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *pem = odd_request(key, key, names[i], -1);

                g_assert_cmpint(parse(pem, NULL), ==, -EINVAL);
                g_assert_cmpint(ald_pki_request_make(key, names[i], NULL, &unmade, NULL), ==, -EINVAL);
                g_assert_null(unmade);
        }
        nul = odd_request(key, key, with_nul, sizeof with_nul - 1);
        g_assert_cmpint(parse(nul, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "the common name of the request is not a node id");
}

static void test_signature_of_another_key(void)
{
        g_autoptr(EVP_PKEY) key = NULL, other = NULL;
        g_autofree char *pem = NULL, *error = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_key_generate(&other, NULL), ==, 0);
        pem = odd_request(key, other, PKI_A, -1);
        g_assert_cmpint(parse(pem, &error), ==, -EKEYREJECTED);
        g_assert_cmpstr(error, ==, "the request is not signed with its own key, or was altered in transit");
}

static void test_other_kinds_of_key(void)
{
        g_autoptr(EVP_PKEY) p384 = EVP_EC_gen("P-384"), ed25519 = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        g_autofree char *pem = odd_request(p384, p384, PKI_A, -1), *error = NULL;

        g_assert_nonnull(ed25519);
        g_assert_cmpint(parse(pem, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "the key of the request is not on P-256");
}

static void test_damage(void)
{
        g_autofree char *huge = g_strnfill(ALD_PKI_PEM_MAX + 1, '\n'), *pem = NULL, *error = NULL;
        g_autoptr(EVP_PKEY) key = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        g_assert_cmpint(ald_pki_request_make(key, PKI_A, NULL, &pem, NULL), ==, 0);
        for (size_t n = 0; n < strlen(pem) - 2; n += 7) {
                g_autofree char *cut = g_strndup(pem, n);

                g_assert_cmpint(parse(cut, NULL), ==, -EBADMSG);
        }
        g_assert_cmpint(parse(huge, &error), ==, -E2BIG);
        g_assert_cmpstr(error, ==, "the request is too big: 65537 bytes, at most 65536 are read");
        /* Within the key, then within the signature. */
        for (const char *at = strchr(pem, '\n') + 100; at < strstr(pem, "-----END") - 8; at += 31) {
                g_autofree char *altered = g_strdup(pem);
                char *byte = altered + (at - pem);

                *byte = *byte == 'A' ? 'B' : 'A';
                g_assert_cmpint(parse(altered, NULL), <, 0);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pki/request/round-trip", test_round_trip);
        g_test_add_func("/pki/request/statement", test_statement);
        g_test_add_func("/pki/request/odd-statements", test_odd_statements);
        g_test_add_func("/pki/request/no-ids", test_names_that_are_no_ids);
        g_test_add_func("/pki/request/signature", test_signature_of_another_key);
        g_test_add_func("/pki/request/other-keys", test_other_kinds_of_key);
        g_test_add_func("/pki/request/damage", test_damage);
        return g_test_run();
}
