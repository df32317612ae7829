/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/socket/server/data-listener.h"

#define TIMEOUT (5 * ALD_NSEC_PER_SEC)
#define ACCEPTS 16u /* in one step, lest a flood leave no time for other work */

int ald_data_listener_open(
        AldDataListener *listener, int control, unsigned first, unsigned n, AldFailure *failure)
{
        AldAddress local;
        AldFailure last = {};
        int r = -EADDRINUSE;

        *listener = (AldDataListener){ .fd = -1 };
        for (unsigned i = 0; i < ALD_DATA_LISTENER_PENDING; i++)
                listener->pending[i].fd = -1;
        if (ald_address_local(control, &local) < 0 || ald_address_peer(control, &listener->peer) < 0)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "the other side is gone");
        for (unsigned i = 0; i < n && r < 0; i++) {
                g_clear_pointer(&last.message, g_free);
                listener->port = first + i;
                ald_address_set_port(&local, listener->port);
                r = ald_address_listen(&local, NULL, ALD_DATA_LISTENER_PENDING, &listener->fd, &last);
        }
        if (r < 0)
                ald_fail(failure, last.kind, "%s", last.message ?: "no port");
        g_free(last.message);
        return r;
}

unsigned ald_data_listener_fds(const AldDataListener *listener, struct pollfd *ret)
{
        unsigned n = 0;

        if (listener->fd >= 0)
                ret[n++] = (struct pollfd){ listener->fd, POLLIN, 0 };
        for (unsigned i = 0; i < ALD_DATA_LISTENER_PENDING; i++)
                if (listener->pending[i].fd >= 0)
                        ret[n++] = (struct pollfd){ listener->pending[i].fd, POLLIN, 0 };
        return n;
}

static struct AldPendingConnection *free_slot(AldDataListener *listener)
{
        struct AldPendingConnection *oldest = &listener->pending[0];

        for (unsigned i = 0; i < ALD_DATA_LISTENER_PENDING; i++) {
                if (listener->pending[i].fd < 0)
                        return &listener->pending[i];
                if (listener->pending[i].since < oldest->since)
                        oldest = &listener->pending[i];
        }
        ald_fd_close(&oldest->fd);
        return oldest;
}

static void accept_connections(AldDataListener *listener, uint64_t now)
{
        for (unsigned i = 0; i < ACCEPTS; i++) {
                AldAddress from = { .size = sizeof from.storage };
                ald_fd int fd = accept4(listener->fd, (struct sockaddr *) &from.storage, &from.size,
                        SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (fd < 0)
                        return;
                if (ald_address_same_host(&from, &listener->peer))
                        *free_slot(listener) = (struct AldPendingConnection){ ald_fd_steal(&fd), now + i, 0,
                                {} };
        }
}

/* Returns 1 once the token is complete, 0 while it is not, or a negative errno if the connection failed
 * before. */
static int read_token(struct AldPendingConnection *pending)
{
        while (pending->n < ALD_TOKEN_SIZE) {
                ssize_t n = recv(pending->fd, pending->text + pending->n, ALD_TOKEN_SIZE - pending->n, 0);

                if (n == 0)
                        return -ECONNRESET;
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                pending->n += (size_t) n;
        }
        return 1;
}

bool ald_data_listener_step(
        AldDataListener *listener, uint64_t now, int *ret_fd, AldSocketOpenPurpose *ret_purpose)
{
        if (listener->fd >= 0)
                accept_connections(listener, now);
        for (unsigned i = 0; i < ALD_DATA_LISTENER_PENDING; i++) {
                struct AldPendingConnection *pending = &listener->pending[i];
                int r = pending->fd >= 0 ? read_token(pending) : 0;

                if (r > 0 && ald_tokens_take(&listener->tokens, pending->text, now, ret_purpose) &&
                        fcntl(pending->fd, F_SETFL, 0) >= 0) {
                        *ret_fd = ald_fd_steal(&pending->fd);
                        return true;
                }
                if (r != 0 || now - MIN(pending->since, now) > TIMEOUT)
                        ald_fd_close(&pending->fd);
        }
        return false;
}

void ald_data_listener_close(AldDataListener *listener)
{
        ald_fd_close(&listener->fd);
        for (unsigned i = 0; i < ALD_DATA_LISTENER_PENDING; i++)
                ald_fd_close(&listener->pending[i].fd);
}
