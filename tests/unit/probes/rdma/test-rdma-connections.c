/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/rdma/rdma-listener.h"
#include "probes/rdma/rdma-session.h"
#include "tests/unit/probes/rdma/rdma-sides.h"

/* Those who come to a listener of the RDMA probe that was started by hand, several at a time. */

#define TIMEOUT_NS (60 * ALD_NSEC_PER_SEC)
#define N_UNAUTHENTICATED 8u

typedef struct Fixture {
        RdmaSides sides;
        unsigned port;
        pid_t listener;
} Fixture;

typedef struct Client {
        AldFailure failure;
        AldRdmaSession session;
        int stop;
} Client;

static int make_socket(const char *source, unsigned port)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(inet_pton(AF_INET, source, &address.sin_addr), ==, 1);
        g_assert_cmpint(bind(fd, (struct sockaddr *) &address, sizeof address), ==, 0);
        return fd;
}

/* One that is free now. */
static unsigned find_port(void)
{
        int fd = make_socket("127.0.0.1", 0);
        struct sockaddr_in address;
        socklen_t size = sizeof address;

        g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
        close(fd);
        return ntohs(address.sin_port);
}

static int reach(const Fixture *fixture, const char *source)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                .sin_port = htons((uint16_t) fixture->port),
                .sin_addr = { htonl(INADDR_LOOPBACK) } };
        int fd = make_socket(source, 0);

        g_assert_cmpint(connect(fd, (struct sockaddr *) &address, sizeof address), ==, 0);
        g_assert_cmpint(fcntl(fd, F_SETFL, O_NONBLOCK), ==, 0);
        return fd;
}

static _Noreturn void be_listener(const Fixture *fixture, int output)
{
        AldRdmaOptions options = fixture->sides.server.options;

        options.link.mode = ALD_LINK_MODE_LISTEN;
        options.link.host = "127.0.0.1";
        options.link.port = fixture->port;
        options.timeout = 60;
        /* A test that fails leaves nothing behind. */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || dup2(output, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        fake_verbs_begin(&(FakeFaults){});
        _exit(ald_rdma_listener_run(&options));
}

static void set_up(Fixture *fixture, gconstpointer userdata)
{
        int ends[2];
        char first;

        rdma_sides_set_up(&fixture->sides, NULL);
        fixture->port = find_port();
        g_assert_cmpint(pipe(ends), ==, 0);
        fflush(stdout);
        fixture->listener = fork();
        g_assert_cmpint(fixture->listener, >=, 0);
        if (fixture->listener == 0) {
                close(ends[0]);
                be_listener(fixture, ends[1]);
        }
        close(ends[1]);
        /* What it prints first is that it listens; what comes later is nobody's. */
        g_assert_cmpint(read(ends[0], &first, 1), ==, 1);
        close(ends[0]);
        fake_verbs_begin(&(FakeFaults){});
}

static void tear_down(Fixture *fixture, gconstpointer userdata)
{
        int status = 0;

        g_assert_true(fake_verbs_end());
        g_assert_cmpint(kill(fixture->listener, SIGTERM), ==, 0);
        g_assert_cmpint(waitpid(fixture->listener, &status, 0), ==, fixture->listener);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, EXIT_SUCCESS);
        rdma_sides_tear_down(&fixture->sides, NULL);
}

/* Comes with the right keys and says what it wants; negative where it is not let in. */
static int come(Fixture *fixture, const char *source, Client *client)
{
        const AldRdmaHello hello = { .version = ald_rdma_protocol.version };
        int fd = reach(fixture, source), r;

        *client = (Client){ .stop = eventfd(0, EFD_CLOEXEC) };
        client->session = (AldRdmaSession){ .failure = &client->failure,
                .timeout = TIMEOUT_NS,
                .channel = { .fd = -1, .stop = client->stop } };
        if (ald_rdma_session_send_preamble(fd, &client->failure) < 0) {
                close(fd);
                return -ECONNRESET;
        }
        r = ald_channel_open(&client->session.channel, &ald_rdma_protocol, fd,
                rdma_sides_keys(&fixture->sides.client, false), false, client->stop, &client->failure);
        return r < 0 ? r : ald_channel_send(&client->session.channel, ALD_KIND_RDMA_HELLO, &hello);
}

static int hear(Client *client)
{
        return ald_rdma_session_expect(&client->session, ALD_KIND_RDMA_OFFER, NULL);
}

static void leave(Client *client)
{
        ald_rdma_session_close(&client->session);
        ald_failure_clear(&client->failure);
        close(client->stop);
}

static void test_turns(Fixture *fixture, gconstpointer userdata)
{
        Client first, second;

        g_assert_cmpint(come(fixture, "127.0.0.1", &first), ==, 0);
        g_assert_cmpint(hear(&first), ==, 0);
        g_assert_cmpint(come(fixture, "127.0.0.1", &second), ==, 0);
        leave(&first);
        g_assert_cmpint(hear(&second), ==, 0);
        leave(&second);
}

static void test_busy(Fixture *fixture, gconstpointer userdata)
{
        Client first, second;

        g_assert_cmpint(come(fixture, "127.0.0.1", &first), ==, 0);
        g_assert_cmpint(hear(&first), ==, 0);
        g_assert_cmpint(come(fixture, "127.0.0.1", &second), ==, 0);
        g_assert_cmpint(hear(&second), <, 0);
        g_assert_cmpint(second.failure.kind, ==, ALD_FAILURE_BUSY);
        g_assert_cmpstr(second.failure.message, ==, "the other side: another peer is measured");
        leave(&second);
        leave(&first);
}

static bool is_closed(int fd)
{
        char ignored;

        return recv(fd, &ignored, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

/* Come again as soon as they are closed, each from an address that it shares with another one. */
static void connect_unauthenticated(const Fixture *fixture, int unauthenticated[static N_UNAUTHENTICATED])
{
        for (unsigned i = 0; i < N_UNAUTHENTICATED; i++) {
                g_autofree char *source = g_strdup_printf("127.0.0.%u", 2 + i / 2);

                if (unauthenticated[i] >= 0 && !is_closed(unauthenticated[i]))
                        continue;
                ald_fd_close(&unauthenticated[i]);
                unauthenticated[i] = reach(fixture, source);
        }
}

/* Connections that send nothing keep nobody out. */
static void test_unauthenticated(Fixture *fixture, gconstpointer userdata)
{
        uint64_t deadline = ald_now() + TIMEOUT_NS;
        int unauthenticated[N_UNAUTHENTICATED];
        bool met = false;

        memset(unauthenticated, -1, sizeof unauthenticated);
        while (!met && ald_now() < deadline) {
                Client client;

                connect_unauthenticated(fixture, unauthenticated);
                met = come(fixture, "127.0.0.1", &client) >= 0 && hear(&client) >= 0;
                leave(&client);
        }
        g_assert_true(met);
        for (unsigned i = 0; i < N_UNAUTHENTICATED; i++)
                close(unauthenticated[i]);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        g_test_add("/rdma/connections/turns", Fixture, NULL, set_up, test_turns, tear_down);
        g_test_add("/rdma/connections/busy", Fixture, NULL, set_up, test_busy, tear_down);
        g_test_add(
                "/rdma/connections/unauthenticated", Fixture, NULL, set_up, test_unauthenticated, tear_down);
        return g_test_run();
}
