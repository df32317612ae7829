/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "probes/common/admission.h"
#include "probes/common/clock.h"
#include "probes/common/fd.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/rdma/driver-process.h"
#include "probes/rdma/listener.h"
#include "probes/rdma/result.h"
#include "probes/rdma/server.h"
#include "probes/rdma/session.h"

#define BACKLOG 64u
#define PAUSE_NS (100 * ALD_NSEC_PER_MSEC)

/* Connections at a time, and unauthenticated ones among them from one address. If there is no room, the
 * oldest unauthenticated one is closed, but not before this time. */
#define CONNECTIONS_MAX 8u
#define UNAUTHENTICATED_PER_ADDRESS_MAX 2u
#define REPLACE_NS (500 * ALD_NSEC_PER_MSEC)

/* How long a peer waits while another one is measured; clients wait longer for the offer. */
#define WAIT_NS (4 * ALD_NSEC_PER_SEC)

/* Exit status if the client did not authenticate. */
enum { EXIT_UNAUTHENTICATED = 3 };

typedef struct Work {
        const AldRdmaOptions *options;
        int fd;
} Work;

static int serve(const AldRdmaOptions *options, AldRdmaSession *session, int fd, AldRdmaSessionReport *ret)
{
        AldTls *tls = NULL;
        int r = 0;

        /* The parent of a session has read the preamble. */
        if (options->link.mode == ALD_LINK_MODE_LISTEN)
                r = ald_rdma_session_read_preamble(fd, session->channel.stop, session->failure);
        if (r >= 0)
                r = ald_keys_load(&options->link.keys, true, &tls, session->failure);
        return r < 0 ? r : ald_rdma_server_run(options, session, fd, tls, ret);
}

/* JSON for the daemon or if requested, else text. */
static char *describe(
        const AldRdmaOptions *options, const AldRdmaSessionReport *served, const AldFailure *failure)
{
        return options->link.json || options->link.mode == ALD_LINK_MODE_SESSION
                       ? ald_rdma_session_report_to_json(served, failure)
                       : ald_rdma_session_report_to_text(served, failure);
}

static void work(int answer, int stop, void *userdata)
{
        const Work *given = userdata;
        AldFailure failure = {};
        AldRdmaSession session = { .failure = &failure, .channel = { .fd = -1, .stop = stop } };
        AldRdmaSessionReport served = {};
        g_autofree char *text = NULL;

        (void) serve(given->options, &session, given->fd, &served);
        text = describe(given->options, &served, &failure);
        ald_driver_process_answer(answer,
                !served.authenticated ? EXIT_UNAUTHENTICATED
                : failure.message     ? EXIT_FAILURE
                                      : EXIT_SUCCESS,
                text);
        ald_rdma_session_close(&session);
        ald_failure_clear(&failure);
}

static void print_report(const AldRdmaOptions *options, const char *text)
{
        if (options->link.report_fd >= 0 && options->link.mode == ALD_LINK_MODE_SESSION)
                (void) dprintf(options->link.report_fd, "%s\n", text);
        if (options->link.json || options->link.mode == ALD_LINK_MODE_LISTEN)
                printf("%s\n", text);
        fflush(stdout);
}

static int serve_in_process(const AldRdmaOptions *options, int fd, int stop)
{
        uint64_t deadline = ald_now() + options->timeout * ALD_NSEC_PER_SEC;
        Work given = { options, fd };
        AldRdmaSessionReport unknown = {};
        AldFailure failure = {};
        g_autofree char *text = NULL;
        int code = ald_driver_process_run(work, &given, stop, deadline, &text, &failure);

        if (code < 0) {
                text = describe(options, &unknown, &failure);
                code = EXIT_FAILURE;
        }
        ald_failure_clear(&failure);
        print_report(options, text);
        return code;
}

int ald_rdma_listener_serve(const AldRdmaOptions *options)
{
        int stop;

        if (ald_process_limits_apply(&ald_process_limits_rdma, SIGKILL, getppid()) < 0)
                return EXIT_FAILURE;
        stop = ald_stop_fd();
        if (stop < 0 || fcntl(options->link.session_fd, F_SETFD, FD_CLOEXEC) < 0 ||
                fcntl(options->link.session_fd, F_SETFL, O_NONBLOCK) < 0)
                return EXIT_FAILURE;
        return serve_in_process(options, options->link.session_fd, stop);
}

static int listen_at(const AldRdmaOptions *options, const char *host, int *ret, AldFailure *failure)
{
        AldAddress at;
        int r = ald_address_resolve(host, options->link.port, AF_UNSPEC, &at, failure);

        return r < 0 ? r : ald_address_listen(&at, options->link.interface, BACKLOG, ret, failure);
}

static int open_listener(const AldRdmaOptions *options, int *ret, AldFailure *failure)
{
        AldTls *tls = NULL;
        int r = ald_keys_load(&options->link.keys, true, &tls, failure);

        /* Report unusable keys at once. */
        g_clear_pointer(&tls, ald_tls_free);
        if (r < 0)
                return r;
        r = listen_at(options, options->link.host, ret, failure);
        if (r < 0 && !options->link.host) {
                /* A kernel without IPv6. */
                ald_failure_clear(failure);
                r = listen_at(options, "0.0.0.0", ret, failure);
        }
        return r;
}

typedef enum ConnectionState {
        UNAUTHENTICATED, /* the peer and its request are not known yet */
        WAITING,         /* for its turn */
        MEASURING,
        REFUSED,
        CLOSING, /* it gave way, and may not have ended yet */
} ConnectionState;

/* A connection, which a process of its own serves. */
typedef struct Connection {
        ConnectionState state;
        pid_t pid;
        int fd, report; /* its pidfd, and the socket of its requests or -1 */
        AldAddress from;
        uint64_t since; /* in this state */
} Connection;

typedef struct Listener {
        const AldRdmaOptions *options;
        int fd, stop;
        Connection connections[2 * CONNECTIONS_MAX];
        unsigned n;
        bool done;
        int code;
} Listener;

static void enter(Connection *connection, ConnectionState state)
{
        connection->state = state;
        connection->since = ald_now();
}

static void reap(Listener *listener, unsigned i)
{
        Connection *connection = &listener->connections[i];
        bool counts = listener->options->link.once && !listener->done && connection->state != REFUSED &&
                      connection->state != CLOSING;
        int status = 0, code;

        while (waitpid(connection->pid, &status, 0) < 0 && errno == EINTR)
                ;
        ald_fd_close(&connection->fd);
        ald_fd_close(&connection->report);
        *connection = listener->connections[--listener->n];
        code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
        if (counts && code != EXIT_UNAUTHENTICATED) {
                listener->done = true;
                listener->code = code;
        }
}

static void run_connection(Listener *listener, int fd, int report, pid_t parent)
{
        AldRdmaOptions options = *listener->options;
        int stop;

        ald_fd_close(&listener->fd);
        /* This process needs a signalfd of its own. */
        ald_fd_close(&listener->stop);
        for (unsigned i = 0; i < listener->n; i++) {
                ald_fd_close(&listener->connections[i].fd);
                ald_fd_close(&listener->connections[i].report);
        }
        stop = ald_stop_fd();
        if (stop < 0 || ald_process_limits_apply(&ald_process_limits_rdma, SIGKILL, parent) < 0)
                _exit(EXIT_FAILURE);
        options.link.report_fd = report;
        options.link.ask = true;
        _exit(serve_in_process(&options, fd, stop));
}

static void start_connection(Listener *listener, int fd, const AldAddress *from)
{
        Connection *connection = &listener->connections[listener->n];
        pid_t parent = getpid(), pid;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return;
        pid = fork();
        if (pid == 0) {
                close(ends[0]);
                run_connection(listener, fd, ends[1], parent);
        }
        close(ends[1]);
        if (pid < 0) {
                close(ends[0]);
                return;
        }
        *connection = (Connection){ .pid = pid, .fd = pidfd_open(pid, 0), .report = ends[0], .from = *from };
        enter(connection, UNAUTHENTICATED);
        listener->n++;
        if (connection->fd < 0) {
                (void) kill(pid, SIGKILL);
                reap(listener, listener->n - 1);
        }
}

/* Whether there is room; if not, *ret_oldest is the oldest unauthenticated connection to close, or NULL. */
static bool has_room(Listener *listener, const AldAddress *from, Connection **ret_oldest)
{
        Connection *oldest = NULL, *oldest_here = NULL;
        unsigned n = 0, here = 0;

        for (unsigned i = 0; i < listener->n; i++) {
                Connection *connection = &listener->connections[i];

                n += connection->state != CLOSING;
                if (connection->state != UNAUTHENTICATED)
                        continue;
                if (!oldest || connection->since < oldest->since)
                        oldest = connection;
                if (!ald_address_same_host(&connection->from, from))
                        continue;
                here++;
                if (!oldest_here || connection->since < oldest_here->since)
                        oldest_here = connection;
        }
        *ret_oldest = here >= UNAUTHENTICATED_PER_ADDRESS_MAX ? oldest_here : oldest;
        return n < CONNECTIONS_MAX && here < UNAUTHENTICATED_PER_ADDRESS_MAX;
}

/* Without room the connection is closed, which the other side reports as busy. */
static void take_connection(Listener *listener, int fd, const AldAddress *from)
{
        Connection *oldest;

        if (listener->n == G_N_ELEMENTS(listener->connections))
                return;
        if (!has_room(listener, from, &oldest)) {
                if (!oldest || ald_now() - oldest->since < REPLACE_NS)
                        return;
                (void) kill(oldest->pid, SIGTERM);
                enter(oldest, CLOSING);
        }
        start_connection(listener, fd, from);
}

static void accept_one(Listener *listener)
{
        AldAddress from = { .size = sizeof from.storage };
        struct pollfd stop = { listener->stop, POLLIN, 0 };
        ald_fd int fd = accept4(
                listener->fd, (struct sockaddr *) &from.storage, &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0)
                take_connection(listener, fd, &from);
        else if (errno != EAGAIN && errno != ECONNABORTED)
                /* A resource is exhausted: trying again at once would not help. */
                (void) ald_wait(&stop, 1, ald_now() + PAUSE_NS);
}

/* A session sends its request in one line, once the peer is authenticated. */
static void read_request(Connection *connection)
{
        char buffer[ALD_ADMISSION_LINE_MAX];
        ssize_t n = recv(connection->report, buffer, sizeof buffer, MSG_DONTWAIT);

        if (n <= 0)
                ald_fd_close(&connection->report);
        else if (connection->state == UNAUTHENTICATED && memchr(buffer, '\n', (size_t) n))
                enter(connection, WAITING);
}

static void answer(Connection *connection, const char *line, ConnectionState state)
{
        (void) send(connection->report, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
        enter(connection, state);
}

/* One peer is measured at a time, in the order of requests. Returns when to look again. */
static uint64_t admit_next(Listener *listener)
{
        uint64_t now = ald_now(), due = UINT64_MAX / 2;
        Connection *next = NULL;
        bool busy = false;

        for (unsigned i = 0; i < listener->n; i++) {
                Connection *connection = &listener->connections[i];

                busy = busy || connection->state == MEASURING;
                if (connection->state == WAITING && (!next || connection->since < next->since))
                        next = connection;
        }
        if (next && !busy)
                answer(next, "\n", MEASURING);
        for (unsigned i = 0; i < listener->n; i++) {
                Connection *connection = &listener->connections[i];

                if (connection->state != WAITING)
                        continue;
                if (now - connection->since >= WAIT_NS)
                        answer(connection, "busy another peer is measured\n", REFUSED);
                else
                        due = MIN(due, connection->since + WAIT_NS);
        }
        return due;
}

static void step(Listener *listener)
{
        struct pollfd fds[2 + 2 * G_N_ELEMENTS(listener->connections)] = { { listener->stop, POLLIN, 0 },
                { listener->fd, POLLIN, 0 } };
        uint64_t due = admit_next(listener);
        unsigned n = listener->n;

        for (unsigned i = 0; i < n; i++) {
                fds[2 + 2 * i] = (struct pollfd){ listener->connections[i].fd, POLLIN, 0 };
                fds[3 + 2 * i] = (struct pollfd){ listener->connections[i].report, POLLIN, 0 };
        }
        if (ald_wait(fds, 2 + 2 * n, due) < 0 || fds[0].revents) {
                listener->done = true;
                return;
        }
        for (unsigned i = n; i-- > 0;) {
                if (fds[3 + 2 * i].revents)
                        read_request(&listener->connections[i]);
                if (fds[2 + 2 * i].revents)
                        reap(listener, i);
        }
        if (fds[1].revents)
                accept_one(listener);
}

int ald_rdma_listener_run(const AldRdmaOptions *options)
{
        Listener listener = { .options = options, .fd = -1, .stop = ald_stop_fd() };
        AldFailure failure = {};

        if (listener.stop < 0 || open_listener(options, &listener.fd, &failure) < 0) {
                fprintf(stderr, "alidade-probe-rdma: %s\n", failure.message ?: "no signals");
                listener.code = EXIT_FAILURE;
                listener.done = true;
        } else {
                printf(options->link.json ? "{\"listening\":%u}\n" : "Listening on port %u\n",
                        options->link.port);
                fflush(stdout);
        }
        while (!listener.done)
                step(&listener);
        for (unsigned i = 0; i < listener.n; i++)
                (void) kill(listener.connections[i].pid, SIGTERM);
        while (listener.n > 0)
                reap(&listener, 0);
        ald_fd_close(&listener.fd);
        ald_fd_close(&listener.stop);
        ald_failure_clear(&failure);
        return listener.code;
}
