/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <openssl/ssl.h>

#include "tests/unit/probes/rdma/rdma-sides.h"

/*
 * The other side of the RDMA probe is killed, or stands still, at each step: before each word that it says,
 * and amid each kind of data. Whoever is left ends by itself, and says why.
 */

typedef struct Death {
        const char *name;
        bool server;
        unsigned word;           /* before its n-th one, from 1 on; 0: before */
        enum ibv_wr_opcode kind; /* the n-th request of this kind */
        unsigned request;
} Death;

static const Death deaths[] = {
        { "client, hello", false, 1, 0, 0 },
        { "client, use", false, 2, 0, 0 },
        { "client, ping", false, 3, 0, 0 },
        { "client, read", false, 4, 0, 0 },
        { "client, upload", false, 5, 0, 0 },
        { "client, drained", false, 6, 0, 0 },
        { "client, download", false, 7, 0, 0 },
        { "client, stop", false, 8, 0, 0 },
        { "client, done", false, 9, 0, 0 },
        { "client, amid pings", false, 0, IBV_WR_SEND, 50 },
        { "client, amid reads", false, 0, IBV_WR_RDMA_READ, 5 },
        { "client, amid what it sends", false, 0, IBV_WR_RDMA_WRITE_WITH_IMM, 20 },
        { "server, offer", true, 1, 0, 0 },
        { "server, ready", true, 2, 0, 0 },
        { "server, go with pings", true, 3, 0, 0 },
        { "server, go with reads", true, 4, 0, 0 },
        { "server, go with the upload", true, 5, 0, 0 },
        { "server, stop", true, 6, 0, 0 },
        { "server, the verdict", true, 7, 0, 0 },
        { "server, go with the download", true, 8, 0, 0 },
        { "server, drained", true, 9, 0, 0 },
        { "server, amid pings", true, 0, IBV_WR_SEND, 50 },
        { "server, amid what it sends", true, 0, IBV_WR_RDMA_WRITE_WITH_IMM, 20 },
};

static const Death *death;
static bool stopped;

static __thread const RdmaSide *dying;
static __thread unsigned words;

static void die(void)
{
        struct pollfd gone = { dying->fd, POLLRDHUP, 0 };

        if (stopped)
                g_assert_cmpint(poll(&gone, 1, -1), ==, 1);
        else
                (void) shutdown(dying->fd, SHUT_RDWR);
}

static void begin_dying(RdmaSide *side)
{
        dying = side;
        if (death->word == 0)
                fake_verbs_at_request(death->kind, death->request, die);
}

/* Goes before that of the library: each word is written at once. */
int SSL_write(SSL *ssl, const void *bytes, int n)
{
        int (*really)(SSL *, const void *, int) = (int (*)(SSL *, const void *, int)) dlsym(
                RTLD_NEXT, "SSL_write");

        if (dying && ++words == death->word)
                die();
        return really(ssl, bytes, n);
}

static void run_one(void)
{
        RdmaSides sides;

        rdma_sides_set_up(&sides, NULL);
        (death->server ? &sides.server : &sides.client)->begin = begin_dying;
        rdma_sides_run(&sides, &(FakeFaults){});
        rdma_side_assert_fails(death->server ? &sides.client : &sides.server,
                stopped ? ALD_FAILURE_TIMEOUT : ALD_FAILURE_ABORTED);
        rdma_sides_tear_down(&sides, NULL);
}

static void test_deaths(gconstpointer userdata)
{
        pid_t children[G_N_ELEMENTS(deaths)];

        stopped = GPOINTER_TO_INT(userdata);
        /* All at once: most of the time they wait. */
        for (size_t i = 0; i < G_N_ELEMENTS(deaths); i++) {
                death = &deaths[i];
                children[i] = fork();
                g_assert_cmpint(children[i], >=, 0);
                if (children[i] == 0) {
                        run_one();
                        _exit(EXIT_SUCCESS);
                }
        }
        for (size_t i = 0; i < G_N_ELEMENTS(deaths); i++) {
                int status = -1;

                g_assert_cmpint(waitpid(children[i], &status, 0), ==, children[i]);
                if (status != 0) {
                        g_test_message("%s: status %d", deaths[i].name, status);
                        g_test_fail();
                }
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        g_test_add_data_func("/rdma/lost-peer/killed", GINT_TO_POINTER(false), test_deaths);
        g_test_add_data_func("/rdma/lost-peer/stopped", GINT_TO_POINTER(true), test_deaths);
        return g_test_run();
}
