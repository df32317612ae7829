/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "probes/listen/listener.h"
#include "probes/rdma/rdma-session.h"
#include "tests/unit/probes/rdma/rdma-sides.h"

#define KEY "a secret of which both know, and nobody else"

AldTls *rdma_sides_keys(const RdmaSide *side, bool server)
{
        AldFailure failure = {};
        AldTls *tls = NULL;

        g_assert_cmpint(ald_keys_load(&side->options.link.keys, server, &tls, &failure), ==, 0);
        return tls;
}

static AldRdmaSession begin(RdmaSide *side, int stop)
{
        if (side->lies)
                fake_verbs_lie();
        if (side->begin)
                side->begin(side);
        return (AldRdmaSession){ .failure = &side->failure, .channel = { .fd = -1, .stop = stop } };
}

/* As the listener does, which closes the connection if it is cut before. */
static int take_preamble(RdmaSide *side)
{
        struct pollfd wait = { side->fd, POLLIN, 0 };
        char preamble[ALD_FIRST_BYTES_RDMA_SIZE];

        g_assert_cmpint(poll(&wait, 1, -1), ==, 1);
        if (recv(side->fd, preamble, sizeof preamble, 0) != sizeof preamble)
                return ald_fail(&side->failure, ALD_FAILURE_ABORTED, "the other side is gone");
        g_assert_cmpmem(preamble, sizeof preamble, ALD_FIRST_BYTES_RDMA, ALD_FIRST_BYTES_RDMA_SIZE);
        return 0;
}

static gpointer serve(gpointer userdata)
{
        RdmaSide *side = userdata;
        int stop = eventfd(0, EFD_CLOEXEC);
        AldRdmaSession session = begin(side, stop);

        if (take_preamble(side) < 0)
                close(side->fd);
        else
                (void) ald_rdma_server_run(
                        &side->options, &session, side->fd, rdma_sides_keys(side, true), &side->served);
        ald_rdma_session_close(&session);
        close(stop);
        return NULL;
}

static gpointer measure(gpointer userdata)
{
        RdmaSides *sides = userdata;
        RdmaSide *side = &sides->client;
        int stop = eventfd(0, EFD_CLOEXEC);
        AldRdmaSession session = begin(side, stop);
        AldProgress progress = { .fd = -1 };

        g_assert_cmpint(ald_verbs_port_open(NULL, &session.port, &side->failure), ==, 0);
        if (sides->measure)
                sides->measure(sides, &session);
        else
                (void) ald_rdma_client_run(&side->options, &session, side->fd, rdma_sides_keys(side, false),
                        &progress, &sides->result);
        ald_rdma_session_close(&session);
        close(stop);
        return NULL;
}

void rdma_sides_set_up(RdmaSides *sides, gconstpointer userdata)
{
        const AldRdmaOptions options = { .link = { .report_fd = -1,
                                                 .progress_fd = -1,
                                                 .seconds_max = 1,
                                                 .bytes_max = UINT64_C(20) << 20 } };

        *sides = (RdmaSides){ .folder = g_dir_make_tmp("rdma-XXXXXX", NULL) };
        sides->key = g_build_filename(sides->folder, "key", NULL);
        g_assert_true(g_file_set_contents_full(sides->key, KEY, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        sides->client.options = sides->server.options = options;
        sides->client.options.link.keys.key_file = sides->server.options.link.keys.key_file = sides->key;
}

void rdma_sides_tear_down(RdmaSides *sides, gconstpointer userdata)
{
        ald_failure_clear(&sides->client.failure);
        ald_failure_clear(&sides->server.failure);
        g_unlink(sides->key);
        g_rmdir(sides->folder);
        g_free(sides->key);
        g_free(sides->folder);
}

void rdma_sides_connect(int ends[static 2])
{
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), ==, 0);
}

void rdma_sides_run(RdmaSides *sides, const FakeFaults *faults)
{
        int ends[2];
        GThread *server, *client;

        if (sides->client.fd == 0) {
                rdma_sides_connect(ends);
                sides->client.fd = ends[0];
                sides->server.fd = ends[1];
        }
        fake_verbs_begin(faults);
        server = g_thread_new("server", serve, &sides->server);
        client = g_thread_new("client", measure, sides);
        g_thread_join(client);
        g_thread_join(server);
        g_assert_true(fake_verbs_end());
}

void rdma_side_assert_fails(const RdmaSide *side, AldFailureKind kind)
{
        g_assert_nonnull(side->failure.message);
        g_test_message("%s", side->failure.message);
        g_assert_cmpstr(ald_failure_to_string(side->failure.kind), ==, ald_failure_to_string(kind));
}
