/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "probes/common/address.h"
#include "probes/common/clock.h"
#include "probes/common/fd.h"
#include "probes/common/keys.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/socket/result.h"
#include "probes/socket/server/listener.h"
#include "probes/socket/server/server.h"

#define CHILDREN_MAX 8u
#define PAUSE_NS (100 * ALD_NSEC_PER_MSEC)

/* Exit status of a child that measured nothing. */
enum {
        UNAUTHENTICATED = 3, /* no client with the right keys connected */
        REFUSED = 4,         /* with --listen only: the client was refused */
};

typedef struct Child {
        pid_t pid;
        int fd; /* its pidfd */
} Child;

typedef struct Listener {
        const AldSocketOptions *options;
        int fd, stop, lock;
        Child children[CHILDREN_MAX];
        unsigned n;
        bool done;
        int code;
} Listener;

static void report(
        const AldSocketOptions *options, const AldSocketSessionReport *served, const AldFailure *failure)
{
        g_autofree char *json = ald_socket_session_report_to_json(served, failure);
        g_autofree char *text = ald_socket_session_report_to_text(served, failure);

        if (options->link.report_fd >= 0)
                (void) dprintf(options->link.report_fd, "%s\n", json);
        if (options->link.json)
                printf("%s\n", json);
        else if (options->link.mode == ALD_LINK_MODE_LISTEN)
                fputs(text, stdout);
        fflush(stdout);
}

int ald_socket_listener_serve(const AldSocketOptions *options, int fd, int lock, int parent)
{
        AldFailure failure = {};
        AldSocketSessionReport served = {};
        AldTls *tls = NULL;
        int r = ald_process_limits_apply(&ald_process_limits_socket, SIGKILL, parent), stop = ald_stop_fd();

        if (r < 0)
                return EXIT_FAILURE;
        if (stop < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
                r = ald_fail(&failure, ALD_FAILURE_INTERNAL, "no connection: %s", g_strerror(errno));
        if (r >= 0)
                r = ald_keys_load(&options->link.keys, true, &tls, &failure);
        if (r >= 0)
                r = ald_socket_server_run(options, fd, tls, stop, lock, &served, &failure);
        report(options, &served, &failure);
        ald_socket_session_report_clear(&served);
        g_free(failure.message);
        if (!served.authenticated)
                return UNAUTHENTICATED;
        if (served.refused && options->link.mode == ALD_LINK_MODE_LISTEN)
                return REFUSED;
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The child has ended. */
static void reap(Listener *listener, unsigned i)
{
        int status = 0, code;

        while (waitpid(listener->children[i].pid, &status, 0) < 0 && errno == EINTR)
                ;
        ald_fd_close(&listener->children[i].fd);
        listener->children[i] = listener->children[--listener->n];
        code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
        if (listener->options->link.once && code != UNAUTHENTICATED && code != REFUSED) {
                listener->done = true;
                listener->code = code;
        }
}

static void start_child(Listener *listener, int fd)
{
        pid_t parent = getpid(), pid = fork();
        Child *child = &listener->children[listener->n];

        if (pid == 0) {
                ald_fd_close(&listener->fd);
                for (unsigned i = 0; i < listener->n; i++)
                        ald_fd_close(&listener->children[i].fd);
                /* The child reads signals from a descriptor of its own. */
                ald_fd_close(&listener->stop);
                _exit(ald_socket_listener_serve(listener->options, fd, listener->lock, parent));
        }
        close(fd);
        if (pid < 0)
                return;
        *child = (Child){ pid, pidfd_open(pid, 0) };
        if (child->fd < 0)
                (void) kill(pid, SIGKILL);
        listener->n++;
        if (child->fd < 0)
                reap(listener, listener->n - 1);
}

static void step(Listener *listener)
{
        struct pollfd fds[2 + CHILDREN_MAX] = { { listener->stop, POLLIN, 0 } };
        /* While there are too many children, connections wait in the kernel. */
        bool room = listener->n < CHILDREN_MAX;
        unsigned n = listener->n;

        for (unsigned i = 0; i < n; i++)
                fds[1 + i] = (struct pollfd){ listener->children[i].fd, POLLIN, 0 };
        fds[1 + n] = (struct pollfd){ listener->fd, POLLIN, 0 };
        if (ald_wait(fds, 1 + n + room, UINT64_MAX / 2) < 0 || fds[0].revents) {
                listener->done = true;
                return;
        }
        for (unsigned i = n; i-- > 0;)
                if (fds[1 + i].revents)
                        reap(listener, i);
        if (room && fds[1 + n].revents) {
                int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (fd >= 0)
                        start_child(listener, fd);
                else if (errno != EAGAIN && errno != ECONNABORTED)
                        /* Trying again at once would not help if a resource is exhausted. */
                        (void) ald_wait(fds, 1, ald_now() + PAUSE_NS);
        }
}

static int listen_at(Listener *listener, const char *host, AldFailure *failure)
{
        AldAddress at;
        int r = ald_address_resolve(host, listener->options->link.port, AF_UNSPEC, &at, failure);

        return r < 0 ? r
                     : ald_address_listen(
                               &at, listener->options->link.interface, CHILDREN_MAX, &listener->fd, failure);
}

static int open_listener(Listener *listener, AldFailure *failure)
{
        const AldSocketOptions *options = listener->options;
        AldTls *tls = NULL;
        int r;

        /* Reports unusable keys now instead of at the first connection. */
        r = ald_keys_load(&options->link.keys, true, &tls, failure);
        if (r < 0)
                return r;
        ald_tls_free(tls);
        r = listen_at(listener, options->link.host ?: options->source, failure);
        if (r < 0 && !options->link.host && !options->source) {
                /* A kernel without IPv6. */
                g_clear_pointer(&failure->message, g_free);
                r = listen_at(listener, "0.0.0.0", failure);
        }
        if (r < 0)
                return r;
        listener->lock = memfd_create("alidade-probe-session", MFD_CLOEXEC);
        listener->stop = ald_stop_fd();
        return listener->lock < 0 || listener->stop < 0
                       ? ald_fail(failure, ALD_FAILURE_INTERNAL, "%s", g_strerror(errno))
                       : 0;
}

int ald_socket_listener_run(const AldSocketOptions *options)
{
        Listener listener = { .options = options, .fd = -1, .stop = -1, .lock = -1 };
        AldFailure failure = {};

        if (open_listener(&listener, &failure) < 0) {
                fprintf(stderr, "alidade-probe-socket: %s\n", failure.message);
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
                (void) kill(listener.children[i].pid, SIGTERM);
        while (listener.n > 0)
                reap(&listener, 0);
        ald_fd_close(&listener.fd);
        ald_fd_close(&listener.lock);
        ald_fd_close(&listener.stop);
        g_free(failure.message);
        return listener.code;
}
