/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/fd.h"
#include "record/message.h"
#include "services/common/witness-client.h"
#include "services/witness/witness-server.h"

#define LOGGED_MAX 8u /* refusals; more of them are only counted */

typedef struct Connection {
        int fd; /* -1: none */
        gint64 asked_usec;
} Connection;

typedef struct Server {
        const AldWitnessTask *task;
        int listener;
        uid_t owner;
        gint64 asked_usec; /* by anyone; first the start */
        unsigned n_refused;
        Connection connections[ALD_WITNESS_CONNECTIONS_MAX];
} Server;

G_GNUC_PRINTF(2, 3)
static void refuse(Server *server, const char *format, ...)
{
        g_autofree char *reason = NULL;
        va_list arguments;

        if (server->n_refused++ >= LOGGED_MAX)
                return;
        va_start(arguments, format);
        reason = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_warning("Closed a connection: %s", reason);
}

/* The service manager gives the file of the socket to the only user who is answered. */
static int find_owner(int listener, uid_t *ret)
{
        struct sockaddr_un address = { 0 };
        socklen_t size = sizeof address - 1;
        struct stat file;

        if (getsockname(listener, (struct sockaddr *) &address, &size) < 0 ||
                stat(address.sun_path, &file) < 0)
                return -errno;
        *ret = file.st_uid;
        return 0;
}

static Connection *find_place(Server *server)
{
        Connection *place = &server->connections[0];

        for (unsigned i = 0; i < ALD_WITNESS_CONNECTIONS_MAX; i++) {
                Connection *connection = &server->connections[i];

                if (connection->fd < 0)
                        return connection;
                if (connection->asked_usec < place->asked_usec)
                        place = connection;
        }
        return place;
}

static void accept_connection(Server *server)
{
        ald_fd int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        const int room = ALD_WITNESS_ANSWER_MAX;
        struct ucred peer;
        socklen_t size = sizeof peer;
        Connection *place;

        if (fd < 0)
                return;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != server->owner) {
                refuse(server, "it is not of the user who is answered");
                return;
        }
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        place = find_place(server);
        ald_fd_close(&place->fd);
        place->fd = ald_fd_steal(&fd);
        place->asked_usec = g_get_monotonic_time();
}

/* Returns 0 if the connection is to be kept, and -EPIPE if the peer has closed it. Nothing waits for a peer
 * that does not read its answer. */
static int answer_connection(Server *server, Connection *connection)
{
        char buffer[ALD_WITNESS_REQUEST_MAX + 1];
        ssize_t n = recv(connection->fd, buffer, ALD_WITNESS_REQUEST_MAX, MSG_DONTWAIT | MSG_TRUNC);
        g_autoptr(AldRecord) request = NULL;
        g_autofree char *answer = NULL;
        int r;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n <= 0)
                return -EPIPE;
        r = n > ALD_WITNESS_REQUEST_MAX ? -E2BIG
                                        : ald_message_parse(server->task->request, buffer, (size_t) n,
                                                  ALD_WITNESS_REQUEST_MAX, &request, NULL);
        if (r < 0)
                return r;
        answer = server->task->answer(server->task->userdata, request, ALD_WITNESS_ANSWER_MAX);
        if (!answer)
                return -ENODATA;
        connection->asked_usec = server->asked_usec = g_get_monotonic_time();
        return send(connection->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void handle_events(Server *server, const struct pollfd *polled)
{
        for (unsigned i = 0; i < ALD_WITNESS_CONNECTIONS_MAX; i++) {
                Connection *connection = &server->connections[i];
                int r = polled[i].revents ? answer_connection(server, connection) : 0;

                if (r < 0 && r != -EPIPE && r != -ECONNRESET)
                        refuse(server, "%s", g_strerror(-r));
                if (r < 0)
                        ald_fd_close(&connection->fd);
        }
        if (polled[ALD_WITNESS_CONNECTIONS_MAX].revents)
                accept_connection(server);
}

static int serve_until_idle(Server *server, gint64 idle_usec)
{
        for (;;) {
                struct pollfd polled[ALD_WITNESS_CONNECTIONS_MAX + 1];
                gint64 left_usec = server->asked_usec + idle_usec - g_get_monotonic_time();

                if (left_usec <= 0)
                        return 0;
                for (unsigned i = 0; i < ALD_WITNESS_CONNECTIONS_MAX; i++)
                        polled[i] = (struct pollfd){ .fd = server->connections[i].fd, .events = POLLIN };
                polled[ALD_WITNESS_CONNECTIONS_MAX] = (struct pollfd){ .fd = server->listener,
                        .events = POLLIN };
                if (poll(polled, G_N_ELEMENTS(polled), (int) (left_usec / 1000) + 1) < 0) {
                        if (errno != EINTR)
                                return -errno;
                        continue;
                }
                handle_events(server, polled);
        }
}

int ald_witness_serve(int listener, const AldWitnessTask *task, int idle_msec)
{
        Server server = { .task = task, .listener = listener, .asked_usec = g_get_monotonic_time() };
        int r = find_owner(listener, &server.owner);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < ALD_WITNESS_CONNECTIONS_MAX; i++)
                server.connections[i].fd = -1;
        r = serve_until_idle(&server, (gint64) idle_msec * 1000);
        for (unsigned i = 0; i < ALD_WITNESS_CONNECTIONS_MAX; i++)
                ald_fd_close(&server.connections[i].fd);
        if (server.n_refused > LOGGED_MAX)
                g_warning("Closed %u connections that did not follow the protocol", server.n_refused);
        return r;
}
