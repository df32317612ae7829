/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <openssl/err.h>

#include "pki/certificate.h"
#include "pki/tls.h"
#include "tests/unit/pki-maker.h"

/* One end of a connection, and why it failed. */
typedef struct End {
        AldTls *tls;
        SSL *ssl;
        bool spoken, done, failed;
        char *reason;
} End;

static void end_clear(End *end)
{
        SSL_free(end->ssl);
        if (end->tls)
                ald_tls_free(end->tls);
        g_free(end->reason);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(End, end_clear)

typedef struct Lab {
        PkiMaker maker;
        uint64_t now;
        X509 *node, *other, *broker;
} Lab;

static void set_up(Lab *lab, const void *data)
{
        lab->now = (uint64_t) g_get_real_time();
        pki_maker_init(&lab->maker, "lab", lab->now);
        lab->node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, lab->now);
        lab->other = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_B, lab->now);
        lab->broker = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_BROKER, PKI_B, lab->now);
}

static void tear_down(Lab *lab, const void *data)
{
        X509_free(lab->node);
        X509_free(lab->other);
        X509_free(lab->broker);
        pki_maker_clear(&lab->maker);
        g_assert_cmpuint(ERR_peek_error(), ==, 0);
}

/* As a node with this certificate reaches out for a broker. */
static AldTls *towards_broker(const PkiMaker *maker, X509 *certificate, const char *host)
{
        g_auto(AldPkiIdentity) identity = pki_maker_identity(maker, certificate);
        g_autofree char *error = NULL;
        AldTls *tls = NULL;

        ald_tls_new_for_broker(&identity, host, &tls, &error);
        g_assert_cmpstr(error, ==, NULL);
        return tls;
}

/* A broker is a server that takes any node. */
static AldTls *peer(const PkiMaker *maker, X509 *certificate, bool server, const char *node_id)
{
        g_auto(AldPkiIdentity) identity = pki_maker_identity(maker, certificate);
        g_autofree char *error = NULL;
        AldTls *tls = NULL;

        ald_tls_new_for_peer(&identity, server, node_id, &tls, &error);
        g_assert_cmpstr(error, ==, NULL);
        return tls;
}

/* Shakes hands, says a byte and reads that of the other end, as far as that goes now. */
static int step(End *end)
{
        char byte;
        int r;

        if (!SSL_is_init_finished(end->ssl))
                return SSL_do_handshake(end->ssl);
        if (!end->spoken) {
                end->spoken = true;
                return SSL_write(end->ssl, "x", 1);
        }
        r = SSL_read(end->ssl, &byte, 1);
        end->done = r == 1;
        return r;
}

static void advance(End *end)
{
        int r;

        if (end->done || end->failed)
                return;
        ERR_clear_error();
        r = step(end);
        if (r <= 0 && SSL_get_error(end->ssl, r) != SSL_ERROR_WANT_READ) {
                end->failed = true;
                end->reason = ald_tls_explain(end->tls, end->ssl, r);
        }
}

static void connect_ends(End *client, SSL_CTX *client_context, End *server, SSL_CTX *server_context)
{
        BIO *left, *right;

        g_assert_true(BIO_new_bio_pair(&left, 64 * 1024, &right, 64 * 1024));
        client->ssl = SSL_new(client_context);
        server->ssl = SSL_new(server_context);
        SSL_set_bio(client->ssl, left, left);
        SSL_set_bio(server->ssl, right, right);
        SSL_set_connect_state(client->ssl);
        SSL_set_accept_state(server->ssl);
}

/* Each turn moves at least one flight, and a handshake has few. */
static void talk(End *client, End *server)
{
        for (unsigned turn = 0; turn < 10; turn++) {
                advance(client);
                advance(server);
        }
}

/* Takes both contexts. The reasons of both; NULL: that end is fine. */
static void shake(
        AldTls *client_tls, AldTls *server_tls, const char *client_reason, const char *server_reason)
{
        g_auto(End) client = { .tls = client_tls }, server = { .tls = server_tls };

        connect_ends(&client, ald_tls_context(client_tls), &server, ald_tls_context(server_tls));
        talk(&client, &server);
        g_assert_cmpstr(client.reason, ==, client_reason);
        g_assert_cmpstr(server.reason, ==, server_reason);
        g_assert_true(client_reason ? client.failed : client.done);
        g_assert_true(server_reason ? server.failed : server.done);
        if (!client_reason)
                g_assert_cmpint(SSL_version(client.ssl), ==, TLS1_3_VERSION);
}

static void test_fine(Lab *lab, const void *data)
{
        static const char *const hosts[] = { NULL, "broker.example", "192.0.2.1", "2001:db8::1" };

        for (unsigned i = 0; i < G_N_ELEMENTS(hosts); i++)
                shake(towards_broker(&lab->maker, lab->node, hosts[i]),
                        peer(&lab->maker, lab->broker, true, NULL), NULL, NULL);
        shake(peer(&lab->maker, lab->node, false, PKI_B), peer(&lab->maker, lab->other, true, PKI_A), NULL,
                NULL);
        shake(peer(&lab->maker, lab->node, false, PKI_B), peer(&lab->maker, lab->other, true, NULL), NULL,
                NULL);
}

static void test_node_as_broker(Lab *lab, const void *data)
{
        shake(towards_broker(&lab->maker, lab->node, NULL), peer(&lab->maker, lab->other, true, NULL),
                "the certificate of " PKI_B
                " is not for a broker but for a node: it does not allow use by a server (serverAuth)",
                "the other node refused the certificate of this machine: it is not valid for this purpose");
}

static void test_broker_as_node(Lab *lab, const void *data)
{
        const char *reason = "the certificate of broker-" PKI_B
                             " is not for a node: it does not allow use by a client (clientAuth)";

        shake(towards_broker(&lab->maker, lab->broker, NULL), peer(&lab->maker, lab->broker, true, NULL),
                "the broker refused the certificate of this machine: it is not valid for this purpose",
                reason);
        shake(peer(&lab->maker, lab->node, false, NULL), peer(&lab->maker, lab->broker, true, NULL), reason,
                "the other node refused the certificate of this machine: it is not valid for this purpose");
}

static void test_host(Lab *lab, const void *data)
{
        shake(towards_broker(&lab->maker, lab->node, "wanted.example"),
                peer(&lab->maker, lab->broker, true, NULL),
                "the certificate of broker-" PKI_B
                " is for broker.example, 192.0.2.1, 2001:db8::1, not for wanted.example",
                "the other node refused the certificate of this machine: it is not valid yet, or not for "
                "this name; check "
                "the clocks");
}

static void test_node_id(Lab *lab, const void *data)
{
        const char *alert = "the other node refused the certificate of this machine: it is not valid yet, or "
                            "not for this name; check "
                            "the clocks";

        shake(peer(&lab->maker, lab->node, false, PKI_A), peer(&lab->maker, lab->other, true, PKI_A),
                "the certificate of " PKI_B " is not for node " PKI_A, alert);
        shake(peer(&lab->maker, lab->node, false, PKI_B), peer(&lab->maker, lab->other, true, PKI_B), alert,
                "the certificate of " PKI_A " is not for node " PKI_B);
}

static void test_revoked_broker(Lab *lab, const void *data)
{
        AldTls *server = peer(&lab->maker, lab->broker, true, NULL);

        pki_maker_revoke(&lab->maker, lab->broker, lab->now);
        shake(towards_broker(&lab->maker, lab->node, NULL), server,
                "the certificate of broker-" PKI_B " is revoked",
                "the other node refused the certificate of this machine: it is revoked");
}

static void test_revoked_node(Lab *lab, const void *data)
{
        AldTls *client = towards_broker(&lab->maker, lab->node, NULL);

        pki_maker_revoke(&lab->maker, lab->node, lab->now);
        shake(client, peer(&lab->maker, lab->broker, true, NULL),
                "the broker refused the certificate of this machine: it is revoked",
                "the certificate of " PKI_A " is revoked");
}

static void test_other_cluster(Lab *lab, const void *data)
{
        g_autoptr(X509) stranger = NULL;
        g_auto(PkiMaker) elsewhere;

        pki_maker_init(&elsewhere, "elsewhere", lab->now);
        stranger = pki_maker_sign(&elsewhere, ALD_PKI_ROLE_BROKER, PKI_A, lab->now);
        shake(towards_broker(&lab->maker, lab->node, NULL), peer(&elsewhere, stranger, true, NULL),
                "the certificate of broker-" PKI_A " is not signed by the CA of cluster \"lab\"",
                "the other node refused the certificate of this machine: it is from an unknown CA");
}

/* The node trusts the broker, but is not of its cluster. */
static void test_unknown_to_broker(Lab *lab, const void *data)
{
        g_autoptr(X509) stranger = NULL;
        g_auto(PkiMaker) elsewhere;
        PkiMaker mixed;

        pki_maker_init(&elsewhere, "elsewhere", lab->now);
        stranger = pki_maker_sign(&elsewhere, ALD_PKI_ROLE_NODE, PKI_A, lab->now);
        mixed = lab->maker;
        mixed.key = elsewhere.key;
        shake(towards_broker(&mixed, stranger, NULL), peer(&lab->maker, lab->broker, true, NULL),
                "the broker refused the certificate of this machine: it is from an unknown CA",
                "the certificate of " PKI_A " is not signed by the CA of cluster \"lab\"");
}

static char *until(X509 *certificate, const char *who)
{
        g_autoptr(GDateTime) end = NULL;
        g_autofree char *date = NULL;
        AldPkiFacts facts;

        ald_pki_certificate_facts(certificate, &facts);
        end = g_date_time_new_from_unix_utc((gint64) (facts.not_after / G_USEC_PER_SEC));
        date = g_date_time_format(end, "%Y-%m-%d %H:%M UTC");
        return g_strdup_printf("the certificate of %s has expired: it was valid until %s", who, date);
}

static void test_expired(Lab *lab, const void *data)
{
        const uint64_t then = lab->now - 500 * PKI_DAY;
        g_autoptr(X509) broker = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_BROKER, PKI_A, then);
        g_autoptr(X509) node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, then);
        g_autofree char *of_broker = until(broker, "broker-" PKI_A), *of_node = until(node, PKI_A);

        shake(towards_broker(&lab->maker, lab->node, NULL), peer(&lab->maker, broker, true, NULL), of_broker,
                "the other node refused the certificate of this machine: it or the revocation list there has "
                "expired");
        shake(towards_broker(&lab->maker, node, NULL), peer(&lab->maker, lab->broker, true, NULL),
                "the broker refused the certificate of this machine: it or the revocation list there has "
                "expired",
                of_node);
}

static void test_not_yet_valid(Lab *lab, const void *data)
{
        g_autoptr(X509) node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, lab->now + 9 * PKI_DAY);
        g_auto(End) client = { 0 }, server = { 0 };

        client.tls = towards_broker(&lab->maker, node, NULL);
        server.tls = peer(&lab->maker, lab->broker, true, NULL);
        connect_ends(&client, ald_tls_context(client.tls), &server, ald_tls_context(server.tls));
        talk(&client, &server);
        g_assert_cmpstr(client.reason, ==,
                "the broker refused the certificate of this machine: it is not valid yet, or not for this "
                "name; check the "
                "clocks");
        g_assert_true(g_str_has_prefix(server.reason, "the certificate of " PKI_A " is not valid before "));
        g_assert_true(g_str_has_suffix(server.reason, ": check the clocks"));
}

static void test_without_list(Lab *lab, const void *data)
{
        AldPkiIdentity identity = { .ca = lab->maker.ca, .certificate = lab->node, .key = lab->maker.key };
        AldTls *client = NULL;

        g_assert_cmpint(ald_tls_new_for_broker(&identity, NULL, &client, NULL), ==, 0);
        shake(client, peer(&lab->maker, lab->broker, true, NULL),
                "there is no revocation list of the cluster",
                "the other node ended the TLS connection: internal error");
}

static void test_list_not_valid_yet(Lab *lab, const void *data)
{
        PkiMaker view = lab->maker;
        g_auto(End) client = { 0 }, server = { 0 };
        g_auto(PkiMaker) later;

        pki_maker_init(&later, "lab", lab->now + 9 * PKI_DAY);
        view.ca = later.ca;
        view.crl = later.crl;
        client.tls = towards_broker(&view, lab->node, NULL);
        server.tls = peer(&lab->maker, lab->broker, true, NULL);
        connect_ends(&client, ald_tls_context(client.tls), &server, ald_tls_context(server.tls));
        talk(&client, &server);
        g_assert_true(g_str_has_prefix(client.reason, "the revocation list is not valid before "));
}

/* A stranger with plain OpenSSL. */
static void shake_with_plain(Lab *lab, int version, const char *server_reason)
{
        g_autoptr(SSL_CTX) plain = SSL_CTX_new(TLS_client_method());
        g_auto(End) client = { 0 }, server = { 0 };

        g_assert_true(SSL_CTX_set_max_proto_version(plain, version));
        server.tls = peer(&lab->maker, lab->broker, true, NULL);
        client.tls = towards_broker(&lab->maker, lab->node, NULL);
        connect_ends(&client, plain, &server, ald_tls_context(server.tls));
        talk(&client, &server);
        g_assert_true(client.failed && server.failed);
        g_assert_cmpstr(server.reason, ==, server_reason);
}

static void test_no_certificate(Lab *lab, const void *data)
{
        shake_with_plain(lab, TLS1_3_VERSION, "the other node sent no certificate");
}

static void test_old_client(Lab *lab, const void *data)
{
        shake_with_plain(lab, TLS1_2_VERSION, "the other node does not speak TLS 1.3");
}

static void test_old_broker(Lab *lab, const void *data)
{
        g_autoptr(SSL_CTX) plain = SSL_CTX_new(TLS_server_method());
        g_auto(End) client = { 0 }, server = { 0 };

        g_assert_true(SSL_CTX_set_max_proto_version(plain, TLS1_2_VERSION));
        g_assert_true(SSL_CTX_use_certificate(plain, lab->broker));
        g_assert_true(SSL_CTX_use_PrivateKey(plain, lab->maker.key));
        client.tls = towards_broker(&lab->maker, lab->node, NULL);
        server.tls = peer(&lab->maker, lab->broker, true, NULL);
        connect_ends(&client, ald_tls_context(client.tls), &server, plain);
        talk(&client, &server);
        g_assert_cmpstr(client.reason, ==, "the broker does not speak TLS 1.3");
}

static void test_no_tls(Lab *lab, const void *data)
{
        g_auto(End) client = { .tls = towards_broker(&lab->maker, lab->node, NULL) };
        BIO *left, *right;

        g_assert_true(BIO_new_bio_pair(&left, 0, &right, 0));
        client.ssl = SSL_new(ald_tls_context(client.tls));
        SSL_set_bio(client.ssl, left, left);
        SSL_set_connect_state(client.ssl);
        g_assert_cmpint(BIO_write(right, "HTTP/1.1 400 Bad Request\r\n\r\n", 28), ==, 28);
        advance(&client);
        g_assert_true(client.failed);
        g_assert_cmpstr(client.reason, ==, "wrong version number");
        BIO_free(right);
}

static void test_closed(Lab *lab, const void *data)
{
        g_auto(End) client = { .tls = towards_broker(&lab->maker, lab->node, NULL) };
        BIO *left, *right;

        g_assert_true(BIO_new_bio_pair(&left, 0, &right, 0));
        client.ssl = SSL_new(ald_tls_context(client.tls));
        SSL_set_bio(client.ssl, left, left);
        SSL_set_connect_state(client.ssl);
        advance(&client);
        g_assert_false(client.failed);
        BIO_shutdown_wr(right);
        advance(&client);
        g_assert_true(client.failed);
        g_assert_cmpstr(client.reason, ==, "the connection was closed");
        BIO_free(right);
}

/* Whoever was fine once is judged again. */
static void test_no_resumption(Lab *lab, const void *data)
{
        g_auto(End) first = { .tls = towards_broker(&lab->maker, lab->node, NULL) };
        g_auto(End) second = { .tls = towards_broker(&lab->maker, lab->node, NULL) };
        g_auto(End) before = { .tls = peer(&lab->maker, lab->broker, true, NULL) }, after = { 0 };
        SSL_SESSION *session;

        connect_ends(&first, ald_tls_context(first.tls), &before, ald_tls_context(before.tls));
        talk(&first, &before);
        g_assert_true(first.done && before.done);
        session = SSL_get1_session(first.ssl);
        g_assert_false(SSL_SESSION_is_resumable(session));
        pki_maker_revoke(&lab->maker, lab->node, lab->now);
        after.tls = peer(&lab->maker, lab->broker, true, NULL);
        connect_ends(&second, ald_tls_context(second.tls), &after, ald_tls_context(after.tls));
        SSL_set_session(second.ssl, session);
        SSL_SESSION_free(session);
        talk(&second, &after);
        g_assert_cmpstr(after.reason, ==, "the certificate of " PKI_A " is revoked");
}

static void test_reason_is_taken_once(Lab *lab, const void *data)
{
        g_auto(End) client = { 0 }, server = { 0 };
        g_autofree char *first = NULL, *second = NULL;

        client.tls = towards_broker(&lab->maker, lab->node, "wanted.example");
        server.tls = peer(&lab->maker, lab->broker, true, NULL);
        connect_ends(&client, ald_tls_context(client.tls), &server, ald_tls_context(server.tls));
        SSL_do_handshake(client.ssl);
        SSL_do_handshake(server.ssl);
        g_assert_cmpint(SSL_do_handshake(client.ssl), ==, -1);
        ERR_clear_error();
        first = ald_tls_take_reason(client.tls);
        second = ald_tls_take_reason(client.tls);
        g_assert_true(g_str_has_suffix(first, "not for wanted.example"));
        g_assert_null(second);
}

static void test_key_of_another(Lab *lab, const void *data)
{
        AldPkiIdentity identity = {
                .ca = lab->maker.ca, .crl = lab->maker.crl, .certificate = lab->node, .key = lab->maker.ca_key
        };
        g_autofree char *error = NULL;
        AldTls *none = NULL;

        g_assert_cmpint(ald_tls_new_for_broker(&identity, NULL, &none, &error), ==, -EKEYREJECTED);
        g_assert_cmpstr(
                error, ==, "the certificate or key of this machine cannot be used: key values mismatch");
        g_assert_null(none);
}

/* Both sides have a key, maybe the same. */
static AldTls *by_key(uint8_t first, bool server)
{
        AldSharedKey key = { { first } };
        AldTls *tls = NULL;

        g_assert_cmpint(ald_tls_new_for_key(&key, server, &tls, NULL), ==, 0);
        return tls;
}

static void test_key(Lab *lab, const void *data)
{
        static const char differ[] = "the shared keys of the two sides differ";

        shake(by_key(1, false), by_key(1, true), NULL, NULL);
        shake(by_key(1, false), by_key(2, true), differ, differ);
}

/* Who has certificates is no substitute for the key, and the other way round. */
static void test_key_and_certificate(Lab *lab, const void *data)
{
        shake(by_key(1, false), peer(&lab->maker, lab->other, true, NULL),
                "the other side has a certificate instead of the shared key",
                "the other node refused the certificate of this machine: it is not valid for this purpose");
        shake(peer(&lab->maker, lab->node, false, NULL), by_key(1, true),
                "the other node ended the TLS connection: handshake failure",
                "only one side has a shared key");
}

#define ADD(name, function) g_test_add("/pki/tls/" name, Lab, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        ADD("fine", test_fine);
        ADD("node-as-broker", test_node_as_broker);
        ADD("broker-as-node", test_broker_as_node);
        ADD("host", test_host);
        ADD("node-id", test_node_id);
        ADD("revoked-broker", test_revoked_broker);
        ADD("revoked-node", test_revoked_node);
        ADD("other-cluster", test_other_cluster);
        ADD("unknown-to-broker", test_unknown_to_broker);
        ADD("expired", test_expired);
        ADD("not-yet-valid", test_not_yet_valid);
        ADD("without-list", test_without_list);
        ADD("list-not-valid-yet", test_list_not_valid_yet);
        ADD("no-certificate", test_no_certificate);
        ADD("old-client", test_old_client);
        ADD("old-broker", test_old_broker);
        ADD("no-tls", test_no_tls);
        ADD("closed", test_closed);
        ADD("no-resumption", test_no_resumption);
        ADD("reason-is-taken-once", test_reason_is_taken_once);
        ADD("key-of-another", test_key_of_another);
        ADD("shared-key", test_key);
        ADD("shared-key-and-certificate", test_key_and_certificate);
        return g_test_run();
}
