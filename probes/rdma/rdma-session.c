/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <sys/socket.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/listen/listener.h"
#include "probes/rdma/rdma-session.h"

#define TURNS 8192u
#define POLL_NS (2 * ALD_NSEC_PER_MSEC) /* each poll takes as long as a round trip of a fast device */

static const AldKind kinds[] = { ALD_KIND_RDMA_HELLO, ALD_KIND_RDMA_OFFER, ALD_KIND_RDMA_USE,
        ALD_KIND_RDMA_READY, ALD_KIND_RDMA_PHASE, ALD_KIND_RDMA_GO, ALD_KIND_RDMA_STOP, ALD_KIND_RDMA_DRAINED,
        ALD_KIND_PROBE_ABORT };

const AldProtocol ald_rdma_protocol = { .version = 3, .kinds = kinds, .n_kinds = G_N_ELEMENTS(kinds) };

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
        /* These are the first bytes sent, so the socket has room. */
        return send(fd, ALD_FIRST_BYTES_RDMA, ALD_FIRST_BYTES_RDMA_SIZE, MSG_NOSIGNAL) ==
                               ALD_FIRST_BYTES_RDMA_SIZE
                       ? 0
                       : ald_fail(failure, ALD_FAILURE_ABORTED, "the connection is gone");
}
