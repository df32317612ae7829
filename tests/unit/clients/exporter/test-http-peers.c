/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/exporter/http-peers.h"

/* A peer and the other end of its connection. */
typedef struct TestPeer {
        AldHttpPeer *peer;
        int fds[2];
} TestPeer;

static TestPeer add(AldHttpPeers *peers, const char *address, gint64 now)
{
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
        bool six = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
        TestPeer made;

        g_assert_true(six || inet_pton(AF_INET, address, &v4.sin_addr) == 1);
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.fds), ==, 0);
        made.peer = ald_http_peers_add(
                peers, made.fds[0], six ? (const struct sockaddr *) &v6 : (const struct sockaddr *) &v4, now);
        return made;
}

/* Whether the other end sees the end of the connection. */
static bool has_ended(const TestPeer *made)
{
        char byte;

        return recv(made->fds[1], &byte, 1, MSG_DONTWAIT) == 0;
}

static void take_away(AldHttpPeers *peers, TestPeer *made, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                ald_http_peers_remove(peers, made[i].peer);
                close(made[i].fds[0]);
                close(made[i].fds[1]);
        }
}

static void test_oldest_of_an_address(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[ALD_HTTP_PEERS_OF_ADDRESS_MAX + 3];
        unsigned n = 0;

        made[n++] = add(peers, "192.0.2.1", 0);
        for (unsigned i = 0; i < ALD_HTTP_PEERS_OF_ADDRESS_MAX; i++)
                made[n++] = add(peers, "127.0.0.1", 1);
        g_assert_cmpuint(ald_http_peers_ended(peers), ==, 0);
        made[n++] = add(peers, "127.0.0.1", 2);
        made[n++] = add(peers, "127.0.0.1", 2);
        g_assert_false(has_ended(&made[0]));
        g_assert_true(has_ended(&made[1]));
        g_assert_true(has_ended(&made[2]));
        g_assert_false(has_ended(&made[3]));
        g_assert_cmpuint(ald_http_peers_ended(peers), ==, 2);
        g_assert_cmpuint(ald_http_peers_count(peers), ==, n);
        take_away(peers, made, n);
        g_assert_cmpuint(ald_http_peers_count(peers), ==, 0);
}

/* One machine may have as many addresses of a /64 as it likes. */
static void test_addresses_of_a_prefix(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[ALD_HTTP_PEERS_OF_ADDRESS_MAX + 3];
        unsigned n = 0;

        made[n++] = add(peers, "2001:db8:0:1::1", 0);
        made[n++] = add(peers, "::1", 0);
        for (unsigned i = 0; i <= ALD_HTTP_PEERS_OF_ADDRESS_MAX; i++) {
                g_autofree char *address = g_strdup_printf("2001:db8::%x", i);

                made[n++] = add(peers, address, 1);
        }
        g_assert_cmpuint(ald_http_peers_ended(peers), ==, 1);
        g_assert_true(has_ended(&made[2]));
        take_away(peers, made, n);
}

static void test_oldest_of_all(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[ALD_HTTP_PEERS_MAX + 1];

        for (unsigned i = 0; i <= ALD_HTTP_PEERS_MAX; i++) {
                g_autofree char *address = g_strdup_printf("192.0.2.%u", i % 200);

                made[i] = add(peers, address, i);
        }
        g_assert_true(has_ended(&made[0]));
        g_assert_false(has_ended(&made[1]));
        g_assert_false(has_ended(&made[ALD_HTTP_PEERS_MAX]));
        take_away(peers, made, ALD_HTTP_PEERS_MAX + 1);
}

/* Those that wait end before those that were refused, and these before one with an answer, whose share is its
 * own. */
static void test_ranks(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[ALD_HTTP_PEERS_MAX + 4];
        unsigned n = 0;

        made[n++] = add(peers, "192.0.2.250", 0);
        ald_http_peer_set_rank(made[0].peer, ALD_HTTP_ANSWERED);
        made[n++] = add(peers, "192.0.2.251", 0);
        ald_http_peer_set_rank(made[1].peer, ALD_HTTP_REFUSED);
        while (n < ALD_HTTP_PEERS_MAX + 4) {
                g_autofree char *address = g_strdup_printf("192.0.2.%u", n % 200);

                made[n] = add(peers, address, n);
                n++;
        }
        g_assert_false(has_ended(&made[0]));
        g_assert_false(has_ended(&made[1]));
        g_assert_true(has_ended(&made[2]));
        g_assert_true(has_ended(&made[3]));
        g_assert_false(has_ended(&made[5]));
        take_away(peers, made, n);
}

/* One address with many answers ends none of others'. */
static void test_largest_address(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[ALD_HTTP_ANSWERED_MAX + 8];
        unsigned n = 0;

        for (; n < 80; n++) {
                g_autofree char *address = g_strdup_printf("192.0.2.%u", n);

                made[n] = add(peers, address, n);
                ald_http_peer_set_rank(made[n].peer, ALD_HTTP_ANSWERED);
        }
        for (; n < ALD_HTTP_ANSWERED_MAX + 8; n++) {
                made[n] = add(peers, "192.0.2.250", n);
                ald_http_peer_set_rank(made[n].peer, ALD_HTTP_ANSWERED);
        }
        for (unsigned i = 0; i < 80; i++)
                g_assert_false(has_ended(&made[i]));
        g_assert_true(has_ended(&made[80]));
        g_assert_false(has_ended(&made[n - 1]));
        take_away(peers, made, n);
}

static void test_age(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[2] = { add(peers, "127.0.0.1", 1000), add(peers, "127.0.0.1", 2000) };

        ald_http_peers_end_old(peers, ALD_HTTP_AGE_USEC + 999);
        g_assert_false(has_ended(&made[0]));
        ald_http_peers_end_old(peers, ALD_HTTP_AGE_USEC + 1000);
        g_assert_true(has_ended(&made[0]));
        g_assert_false(has_ended(&made[1]));
        take_away(peers, made, 2);
}

static void test_text(void)
{
        g_autoptr(AldHttpPeers) peers = ald_http_peers_new();
        TestPeer made[3] = { add(peers, "127.0.0.1", 0), add(peers, "127.0.0.1", 0),
                add(peers, "127.0.0.1", 0) };

        made[0].peer->text = 5;
        made[1].peer->text = 6;
        ald_http_peers_end_text(peers, 5);
        g_assert_true(has_ended(&made[0]));
        g_assert_false(has_ended(&made[1]));
        g_assert_false(has_ended(&made[2]));
        take_away(peers, made, 3);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/http-peers/oldest-of-an-address", test_oldest_of_an_address);
        g_test_add_func("/http-peers/addresses-of-a-prefix", test_addresses_of_a_prefix);
        g_test_add_func("/http-peers/oldest-of-all", test_oldest_of_all);
        g_test_add_func("/http-peers/ranks", test_ranks);
        g_test_add_func("/http-peers/largest-address", test_largest_address);
        g_test_add_func("/http-peers/age", test_age);
        g_test_add_func("/http-peers/text", test_text);
        return g_test_run();
}
