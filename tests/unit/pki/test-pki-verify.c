/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/sign.h"
#include "pki/verify.h"
#include "tests/unit/pki-maker.h"

typedef struct Lab {
        PkiMaker maker;
        X509 *node, *broker, *bridge;
} Lab;

static void set_up(Lab *lab, const void *data)
{
        pki_maker_init(&lab->maker, "lab", PKI_NOW);
        lab->node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        lab->broker = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_BROKER, PKI_A, PKI_NOW);
        lab->bridge = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_BRIDGE, "north", PKI_NOW);
}

static void tear_down(Lab *lab, const void *data)
{
        X509_free(lab->node);
        X509_free(lab->broker);
        X509_free(lab->bridge);
        pki_maker_clear(&lab->maker);
}

/* reason NULL: it is fine. */
static void check(const PkiMaker *maker, X509 *certificate, AldPkiRole role, const char *expected,
        uint64_t now, int code, const char *reason)
{
        g_autofree char *told = NULL;

        g_assert_cmpint(
                ald_pki_verify(maker->ca, maker->crl, certificate, role, expected, now, &told), ==, code);
        g_assert_cmpstr(told, ==, reason);
        g_assert_cmpint(
                ald_pki_verify(maker->ca, maker->crl, certificate, role, expected, now, NULL), ==, code);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

static void test_fine(Lab *lab, const void *data)
{
        static const char *const names[] = { "broker.example", "BROKER.example", "192.0.2.1", "2001:db8::1",
                "2001:DB8:0::1", NULL };

        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, NULL, PKI_NOW, 0, NULL);
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, 0, NULL);
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, 0, NULL);
        for (unsigned i = 0; names[i]; i++)
                check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, names[i], PKI_NOW, 0, NULL);
        check(&lab->maker, lab->bridge, ALD_PKI_ROLE_BRIDGE, NULL, PKI_NOW, 0, NULL);
        check(&lab->maker, lab->bridge, ALD_PKI_ROLE_BRIDGE, "north", PKI_NOW, 0, NULL);
        /* A clock that is half an hour behind that of the CA. */
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW - PKI_DAY / 48, 0, NULL);
}

static void test_other_ca(Lab *lab, const void *data)
{
        g_autoptr(X509) stranger = NULL, twin = NULL;
        g_auto(PkiMaker) other, same;

        pki_maker_init(&other, "other", PKI_NOW);
        pki_maker_init(&same, "lab", PKI_NOW);
        stranger = pki_maker_sign(&other, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        twin = pki_maker_sign(&same, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        check(&lab->maker, stranger, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_A " is not signed by the CA of cluster \"lab\"");
        check(&lab->maker, twin, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_A " is not signed by the CA of cluster \"lab\"");
        check(&lab->maker, other.ca, ALD_PKI_ROLE_NODE, NULL, PKI_NOW, -EKEYREJECTED,
                "the certificate of other is not signed by the CA of cluster \"lab\"");
}

static void test_same_name_without_key_id(Lab *lab, const void *data)
{
        static const PkiOdd odd = { .names = { PKI_A }, .usage = "clientAuth" };
        g_autoptr(X509) made = NULL;
        g_auto(PkiMaker) same;

        pki_maker_init(&same, "lab", PKI_NOW);
        made = pki_maker_odd(&same, &odd);
        check(&lab->maker, made, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_A
                " has an invalid signature: it was altered, or is from another CA with the "
                "name of the CA of cluster \"lab\"");
}

static void test_altered(Lab *lab, const void *data)
{
        g_autofree unsigned char *der = NULL;
        int n = i2d_X509(lab->node, NULL);
        unsigned char *out = der = g_malloc((gsize) n);
        const unsigned char *in = der;
        unsigned char *name;
        g_autoptr(X509) altered = NULL;

        i2d_X509(lab->node, &out);
        name = memmem(der, (size_t) n, PKI_A, strlen(PKI_A));
        g_assert_nonnull(name);
        memcpy(name, PKI_B, strlen(PKI_B));
        altered = d2i_X509(NULL, &in, n);
        check(&lab->maker, altered, ALD_PKI_ROLE_NODE, PKI_B, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_B
                " has an invalid signature: it was altered, or is from another CA with the "
                "name of the CA of cluster \"lab\"");
}

static void test_times(Lab *lab, const void *data)
{
        const uint64_t end = PKI_NOW + ALD_PKI_DAYS * PKI_DAY;

        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, end - PKI_DAY, 0, NULL);
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, end + PKI_DAY, -EKEYEXPIRED,
                "the certificate of " PKI_A " has expired: it was valid until 2028-02-16 08:00 UTC");
}

static void test_not_yet_valid(Lab *lab, const void *data)
{
        g_autoptr(X509) later = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_B, PKI_NOW + 2 * PKI_DAY);

        check(&lab->maker, later, ALD_PKI_ROLE_NODE, PKI_B, PKI_NOW, -EAGAIN,
                "the certificate of " PKI_B " is not valid before 2027-01-17 07:00 UTC; here it is "
                "2027-01-15 08:00 UTC: check the clocks");
}

static void test_revoked(Lab *lab, const void *data)
{
        pki_maker_revoke(&lab->maker, lab->broker, PKI_NOW);
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, 0, NULL);
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, -EKEYREVOKED,
                "the certificate of broker-" PKI_A " is revoked");
        /* More telling than that it has expired. */
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW + 500 * PKI_DAY, -EKEYREVOKED,
                "the certificate of broker-" PKI_A " is revoked");
}

/* Whoever keeps the CA may have a clock that is wrong, and yet only who is revoked is shut out. */
static void test_revoked_at_a_wrong_time(Lab *lab, const void *data)
{
        static const int years[] = { 1, -1 };

        for (size_t i = 0; i < G_N_ELEMENTS(years); i++) {
                pki_maker_revoke(&lab->maker, lab->broker,
                        (uint64_t) ((int64_t) PKI_NOW + years[i] * 365 * (int64_t) PKI_DAY));
                check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, 0, NULL);
                check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, -EKEYREVOKED,
                        "the certificate of broker-" PKI_A " is revoked");
        }
}

static void test_crl(Lab *lab, const void *data)
{
        PkiMaker view = lab->maker;
        g_auto(PkiMaker) other, same, later;

        pki_maker_init(&other, "other", PKI_NOW);
        pki_maker_init(&same, "lab", PKI_NOW);
        view.crl = NULL;
        check(&view, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -ENOKEY,
                "there is no revocation list of the cluster");
        view.crl = other.crl;
        check(&view, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -ENOKEY,
                "the revocation list is from another CA");
        view.crl = same.crl;
        check(&view, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -ENOKEY,
                "the revocation list is not signed by the CA of the cluster, or was altered");
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW + 7400 * PKI_DAY, -ENOKEY,
                "the revocation list has expired: it was valid until 2047-01-15 08:00 UTC");
        pki_maker_init(&later, "lab", PKI_NOW + 5 * PKI_DAY);
        check(&later, lab->node, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -ENOKEY,
                "the revocation list is not valid before 2027-01-20 07:00 UTC; here it is 2027-01-15 08:00 "
                "UTC: check "
                "the clocks");
}

static void test_roles(Lab *lab, const void *data)
{
        check(&lab->maker, lab->node, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, -EPERM,
                "the certificate of " PKI_A
                " is not for a broker but for a node: it does not allow use by a server (serverAuth)");
        check(&lab->maker, lab->bridge, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, -EPERM,
                "the certificate of bridge-north is not for a broker: it does not allow use by a server "
                "(serverAuth)");
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_NODE, NULL, PKI_NOW, -EPERM,
                "the certificate of broker-" PKI_A
                " is not for a node: it does not allow use by a client (clientAuth)");
        check(&lab->maker, lab->bridge, ALD_PKI_ROLE_NODE, NULL, PKI_NOW, -EPERM,
                "the certificate of bridge-north is not for a node: its name is not a node id");
        check(&lab->maker, lab->node, ALD_PKI_ROLE_BRIDGE, NULL, PKI_NOW, -EPERM,
                "the certificate of " PKI_A " is not for a bridge");
        check(&lab->maker, lab->maker.ca, ALD_PKI_ROLE_BROKER, NULL, PKI_NOW, -EPERM,
                "the certificate of lab is not for a broker: it does not allow use by a server (serverAuth)");
}

static void test_names(Lab *lab, const void *data)
{
        check(&lab->maker, lab->node, ALD_PKI_ROLE_NODE, PKI_B, PKI_NOW, -ENXIO,
                "the certificate of " PKI_A " is not for node " PKI_B);
        check(&lab->maker, lab->bridge, ALD_PKI_ROLE_BRIDGE, "south", PKI_NOW, -ENXIO,
                "the certificate of bridge-north is not for site south");
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, "wanted.example", PKI_NOW, -ENXIO,
                "the certificate of broker-" PKI_A
                " is for broker.example, 192.0.2.1, 2001:db8::1, not for wanted.example");
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, "192.0.2.2", PKI_NOW, -ENXIO,
                "the certificate of broker-" PKI_A
                " is for broker.example, 192.0.2.1, 2001:db8::1, not for 192.0.2.2");
        /* Its common name is no host's. */
        check(&lab->maker, lab->broker, ALD_PKI_ROLE_BROKER, "broker-" PKI_A, PKI_NOW, -ENXIO,
                "the certificate of broker-" PKI_A
                " is for broker.example, 192.0.2.1, 2001:db8::1, not for broker-" PKI_A);
}

/* Signed by the CA, but not by us. */
static void test_odd_names(Lab *lab, const void *data)
{
        static const PkiOdd odd[] = {
                { .names = { PKI_A, PKI_B }, .usage = "clientAuth" },
                { .names = { PKI_B, PKI_A }, .usage = "clientAuth" },
                { .names = { PKI_A "\0.example" }, .name_bytes = 41, .usage = "clientAuth" },
                { .names = { NULL }, .usage = "clientAuth" },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autoptr(X509) made = pki_maker_odd(&lab->maker, &odd[i]);

                check(&lab->maker, made, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EPERM,
                        "the certificate, whose name is not plain text, is not for a node: its name is "
                        "not a node id");
        }
}

static void odd(const Lab *lab, const PkiOdd *how, AldPkiRole role, const char *expected, int code,
        const char *reason)
{
        g_autoptr(X509) made = pki_maker_odd(&lab->maker, how);

        check(&lab->maker, made, role, expected, PKI_NOW, code, reason);
}

static void test_odd_usages(Lab *lab, const void *data)
{
        const PkiOdd both = {
                .names = { PKI_A }, .usage = "clientAuth,serverAuth", .alt_name = "DNS:b.example"
        };
        const PkiOdd none = { .names = { PKI_A } };
        const PkiOdd any = { .names = { PKI_A }, .usage = "anyExtendedKeyUsage" };
        const PkiOdd wrong = { .names = { PKI_A }, .usage = "codeSigning" };
        const PkiOdd unknown = { .names = { PKI_A }, .usage = "clientAuth", .critical_unknown = true };
        const char *no_client = "the certificate of " PKI_A
                                " is not for a node: it does not allow use by a client (clientAuth)";
        const char *no_server = "the certificate of " PKI_A
                                " is not for a broker: it does not allow use by a server (serverAuth)";

        /* Who holds the CA may say so. */
        odd(lab, &both, ALD_PKI_ROLE_NODE, PKI_A, 0, NULL);
        odd(lab, &both, ALD_PKI_ROLE_BROKER, "b.example", 0, NULL);
        odd(lab, &none, ALD_PKI_ROLE_NODE, PKI_A, -EPERM, no_client);
        odd(lab, &none, ALD_PKI_ROLE_BROKER, NULL, -EPERM, no_server);
        odd(lab, &any, ALD_PKI_ROLE_NODE, PKI_A, -EPERM, no_client);
        odd(lab, &any, ALD_PKI_ROLE_BROKER, NULL, -EPERM, no_server);
        odd(lab, &wrong, ALD_PKI_ROLE_NODE, PKI_A, -EPERM, no_client);
        odd(lab, &unknown, ALD_PKI_ROLE_NODE, PKI_A, -EKEYREJECTED,
                "the certificate of " PKI_A " cannot be used: unhandled critical extension");
}

static void test_odd_hosts(Lab *lab, const void *data)
{
        const PkiOdd no_san = { .names = { "broker.example" }, .usage = "serverAuth" };
        const PkiOdd wildcard = { .names = { "b" }, .usage = "serverAuth", .alt_name = "DNS:*.lab.example" };

        odd(lab, &no_san, ALD_PKI_ROLE_BROKER, NULL, 0, NULL);
        odd(lab, &no_san, ALD_PKI_ROLE_BROKER, "broker.example", -ENXIO,
                "the certificate of broker.example is for no name or address, not for broker.example");
        odd(lab, &wildcard, ALD_PKI_ROLE_BROKER, "b.lab.example", -ENXIO,
                "the certificate of b is for no name or address, not for b.lab.example");
}

static void test_weak_key(Lab *lab, const void *data)
{
        const PkiOdd usual = { .names = { PKI_A }, .usage = "clientAuth" };
        g_autoptr(EVP_PKEY) weak = EVP_RSA_gen(1024);
        PkiMaker view = lab->maker;
        g_autoptr(X509) made = NULL;

        view.key = weak;
        made = pki_maker_odd(&view, &usual);
        check(&lab->maker, made, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_A " cannot be used: EE certificate key too weak");
}

/* A certificate of a certificate: only the CA itself signs. */
static void test_chain(Lab *lab, const void *data)
{
        const PkiOdd sub = { .names = { "sub" }, .usage = "clientAuth", .constraints = "critical,CA:TRUE" };
        const PkiOdd leaf = { .names = { PKI_A }, .usage = "clientAuth" };
        g_autoptr(X509) between = pki_maker_odd(&lab->maker, &sub), made = NULL;
        PkiMaker as_ca = { .ca = between, .ca_key = lab->maker.key, .key = lab->maker.key };

        made = pki_maker_odd(&as_ca, &leaf);
        check(&lab->maker, made, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW, -EKEYREJECTED,
                "the certificate of " PKI_A " is not signed by the CA of cluster \"lab\"");
}

#define ADD(name, function) g_test_add("/pki/verify/" name, Lab, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        ADD("fine", test_fine);
        ADD("other-ca", test_other_ca);
        ADD("same-name-without-key-id", test_same_name_without_key_id);
        ADD("altered", test_altered);
        ADD("times", test_times);
        ADD("not-yet-valid", test_not_yet_valid);
        ADD("revoked", test_revoked);
        ADD("revoked-at-a-wrong-time", test_revoked_at_a_wrong_time);
        ADD("crl", test_crl);
        ADD("roles", test_roles);
        ADD("names", test_names);
        ADD("odd-names", test_odd_names);
        ADD("odd-usages", test_odd_usages);
        ADD("odd-hosts", test_odd_hosts);
        ADD("weak-key", test_weak_key);
        ADD("chain", test_chain);
        return g_test_run();
}
