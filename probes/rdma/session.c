/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/common/wait.h"
#include "probes/rdma/session.h"

#define TURNS 8192u
#define POLL_NS (2 * ALD_NSEC_PER_MSEC) /* a look takes as long as a round trip of a fast device */

#define PREAMBLE_SIZE 4u
#define PREAMBLE_TIMEOUT (5 * ALD_NSEC_PER_SEC)

static const AldKind kinds[] = { ALD_KIND_RDMA_HELLO, ALD_KIND_RDMA_OFFER, ALD_KIND_RDMA_USE,
        ALD_KIND_RDMA_READY, ALD_KIND_RDMA_PHASE, ALD_KIND_RDMA_GO, ALD_KIND_RDMA_STOP, ALD_KIND_RDMA_DRAINED,
        ALD_KIND_PROBE_ABORT };

const AldProtocol ald_rdma_protocol = { .version = 3, .kinds = kinds, .n_kinds = G_N_ELEMENTS(kinds) };

static const char preamble[PREAMBLE_SIZE] = { 'R', 'D', 'M', 'A' };

void ald_rdma_session_abort(AldRdmaSession *session)
{
        AldFailure ignored = {};

        if (!session->channel.ready)
                return;
        session->channel.failure = &ignored;
        ald_channel_send_abort(&session->channel, session->failure->kind, session->failure->message ?: "");
        g_free(ignored.message);
}

int ald_rdma_session_unexpected(AldRdmaSession *session)
{
        return ald_fail(session->failure, ALD_FAILURE_PROTOCOL, "the other side sent a message out of turn");
}

int ald_rdma_session_expect(AldRdmaSession *session, AldKind kind, AldRecord **ret)
{
        return ald_channel_expect(&session->channel, ald_now() + session->timeout, kind, ret);
}

int ald_rdma_session_poll(AldRdmaSession *session, uint64_t deadline, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
        struct pollfd stop = { session->channel.stop, POLLIN, 0 };
        uint64_t now;
        int r;

        if (++session->turns < TURNS)
                return 0;
        session->turns = 0;
        now = ald_now();
        if (now - session->polled < POLL_NS)
                return 0;
        session->polled = now;
        r = ald_endpoint_check(&session->endpoint, session->failure);
        if (r < 0)
                return r;
        if (poll(&stop, 1, 0) > 0)
                return ald_fail(session->failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (now > deadline)
                return ald_fail(session->failure, ALD_FAILURE_TIMEOUT, "nothing came over RDMA in time");
        r = ald_channel_try(&session->channel, &record);
        if (r > 0 && ret)
                *ret = g_steal_pointer(&record);
        return r;
}

int ald_rdma_session_wait(AldRdmaSession *session)
{
        session->turns = TURNS;
        return ald_endpoint_wait(&session->endpoint, POLL_NS / ALD_NSEC_PER_MSEC, session->failure);
}

int ald_rdma_session_connect(AldRdmaSession *session)
{
        int r = session->has_gid
                        ? ald_verbs_port_check_gid(&session->port, &session->own_gid, session->failure)
                        : 0;

        return r < 0 ? r
                     : ald_endpoint_connect(&session->endpoint, session->has_gid ? &session->own_gid : NULL,
                               &session->peer_gid, session->failure);
}

void ald_rdma_session_close(AldRdmaSession *session)
{
        ald_channel_close(&session->channel);
        ald_endpoint_close(&session->endpoint);
        ald_rdma_cm_close(&session->manager);
        ald_verbs_port_close(&session->port);
}

int ald_rdma_session_send_preamble(int fd, AldFailure *failure)
{
        /* Nothing was sent before, so the socket has room. */
        return send(fd, preamble, PREAMBLE_SIZE, MSG_NOSIGNAL) == PREAMBLE_SIZE
                       ? 0
                       : ald_fail(failure, ALD_FAILURE_ABORTED, "the connection is gone");
}

int ald_rdma_session_read_preamble(int fd, int stop, AldFailure *failure)
{
        uint64_t deadline = ald_now() + PREAMBLE_TIMEOUT;
        char came[PREAMBLE_SIZE];
        size_t n = 0;

        while (n < PREAMBLE_SIZE) {
                ssize_t now;
                int r = ald_wait_for(fd, POLLIN, stop, deadline, "waited for the first bytes", failure);

                if (r < 0)
                        return r;
                now = recv(fd, came + n, PREAMBLE_SIZE - n, 0);
                if (now == 0 || (now < 0 && errno != EAGAIN && errno != EINTR))
                        return ald_fail(failure, ALD_FAILURE_ABORTED, "the other side is gone");
                n += now > 0 ? (size_t) now : 0;
                if (memcmp(came, preamble, n) != 0)
                        return ald_fail(failure, ALD_FAILURE_PROTOCOL, "the other side is not an RDMA probe");
        }
        return 0;
}
