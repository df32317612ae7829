/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib-unix.h>

#include "probes/common/address.h"
#include "probes/common/admission.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/listen/accept-limit.h"
#include "probes/listen/listener.h"
#include "probes/listen/stand-alone.h"

#define BACKLOG 64u

/* Limits all sessions, including those that were stopped and have not ended yet. */
#define SESSIONS_MAX 16u

/* The time for sessions to end. A session over RDMA waits 2 seconds for its driver. */
#define END_USEC (4 * G_USEC_PER_SEC)

/* Limits for sessions whose peer has not proved its identity. */
static const AldAcceptShare shares[ALD_REMOTE_CLASS_N] = {
        [ALD_REMOTE_UNKNOWN] = { .max = 8, .place_max = 2, .replace_after_usec = 500000 },
        [ALD_REMOTE_MEMBER] = { .max = 8, .place_max = 2, .replace_after_usec = 500000 },
        [ALD_REMOTE_LOCAL] = { .max = 2, .place_max = 2, .replace_after_usec = 500000 },
};

typedef struct StandAlone {
        const AldStandAlone *parts;
        GMainLoop *loop;
        int stop;
        AldListener *listener;
        AldAcceptLimit *limit;
        GPtrArray *sessions;
        GQueue turns; /* sessions that have requested their turn; the first one is measured */
        int code;
} StandAlone;

/* A connection, served by a child process. */
typedef struct Session {
        StandAlone *all;
        pid_t pid;
        int pidfd, report;
        guint line, late, ended;
        bool requested; /* it has requested its turn */
        bool rejected;  /* it was stopped in favor of another, or waited too long */
} Session;

static void session_free(gpointer data)
{
        Session *session = data;

        g_clear_handle_id(&session->line, g_source_remove);
        g_clear_handle_id(&session->late, g_source_remove);
        g_clear_handle_id(&session->ended, g_source_remove);
        ald_fd_close(&session->pidfd);
        ald_fd_close(&session->report);
        ald_accept_limit_leave(session->all->limit, session);
        g_free(session);
}

static void answer_session(Session *session, const char *line)
{
        g_clear_handle_id(&session->late, g_source_remove);
        (void) send(session->report, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void refuse_session(Session *session)
{
        g_autofree char *line = g_strdup_printf("busy %s\n", session->all->parts->busy);

        session->rejected = true;
        answer_session(session, line);
}

static gboolean on_late(gpointer userdata)
{
        Session *session = userdata;

        session->late = 0;
        g_queue_remove(&session->all->turns, session);
        refuse_session(session);
        return G_SOURCE_REMOVE;
}

/* Any first line requests a turn; its content is not needed here. */
static gboolean on_line(gint fd, GIOCondition condition, gpointer userdata)
{
        Session *session = userdata;
        StandAlone *all = session->all;
        char bytes[ALD_ADMISSION_LINE_MAX];
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (n <= 0) {
                session->line = 0;
                return G_SOURCE_REMOVE;
        }
        if (session->requested || !memchr(bytes, '\n', (size_t) n))
                return G_SOURCE_CONTINUE;
        session->requested = true;
        if (session->rejected) {
                refuse_session(session);
                return G_SOURCE_CONTINUE;
        }
        ald_accept_limit_leave(all->limit, session);
        g_queue_push_tail(&all->turns, session);
        if (g_queue_peek_head(&all->turns) == session)
                answer_session(session, "\n");
        else
                session->late = g_timeout_add(all->parts->wait_msec, on_late, session);
        return G_SOURCE_CONTINUE;
}

/* Waits for the child process of the session, and returns its exit status. */
static int reap_child(const Session *session)
{
        int status = 0;

        while (waitpid(session->pid, &status, 0) < 0 && errno == EINTR)
                ;
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static gboolean on_ended(gint fd, GIOCondition condition, gpointer userdata)
{
        Session *session = userdata, *next;
        StandAlone *all = session->all;
        bool counts = all->parts->link->once && session->requested && !session->rejected &&
                      g_main_loop_is_running(all->loop);
        bool first = g_queue_peek_head(&all->turns) == session;
        int code = reap_child(session);

        session->ended = 0;
        g_queue_remove(&all->turns, session);
        g_ptr_array_remove_fast(all->sessions, session);
        next = g_queue_peek_head(&all->turns);
        if (counts && code != ALD_STAND_ALONE_NOTHING_MEASURED) {
                all->code = code;
                g_main_loop_quit(all->loop);
        } else if (first && next) {
                answer_session(next, "\n");
        }
        return G_SOURCE_REMOVE;
}

static int run_child(StandAlone *all, int connection, int report, pid_t parent)
{
        AldLinkOptions *link = all->parts->link;

        /* Connections that the parent closes must not stay open here, and this process needs its own
         * descriptor to read signals from. */
        ald_listener_free(all->listener);
        g_ptr_array_unref(all->sessions);
        ald_fd_close(&all->stop);
        link->session_fd = connection;
        link->report_fd = report;
        link->ask = true;
        return all->parts->serve(all->parts->options, parent);
}

static bool start_child(Session *session, int connection)
{
        pid_t parent = getpid();
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return false;
        session->report = ends[0];
        session->pid = fork();
        if (session->pid == 0)
                _exit(run_child(session->all, connection, ends[1], parent));
        close(ends[1]);
        if (session->pid < 0)
                return false;
        session->pidfd = pidfd_open(session->pid, 0);
        if (session->pidfd < 0) {
                (void) kill(session->pid, SIGKILL);
                (void) reap_child(session);
                return false;
        }
        session->line = g_unix_fd_add(session->report, G_IO_IN | G_IO_HUP | G_IO_ERR, on_line, session);
        session->ended = g_unix_fd_add(session->pidfd, G_IO_IN, on_ended, session);
        return true;
}

/* Starts a session for the connection, or closes it if there is no room. */
static void on_ready(int connection, bool rdma, const AldRemote *remote, const struct sockaddr_storage *local,
        void *userdata)
{
        StandAlone *all = userdata;
        ald_fd int fd = connection;
        Session *session;
        void *evicted = NULL;
        int r;

        if (rdma != all->parts->rdma || all->sessions->len >= SESSIONS_MAX)
                return;
        session = g_new(Session, 1);
        *session = (Session){ .all = all, .pidfd = -1, .report = -1 };
        g_ptr_array_add(all->sessions, session);
        r = ald_accept_limit_enter(all->limit, remote, (uint64_t) g_get_monotonic_time(), session, &evicted);
        if (evicted) {
                ((Session *) evicted)->rejected = true;
                (void) kill(((Session *) evicted)->pid, SIGTERM);
        }
        if (r < 0 || !start_child(session, fd))
                g_ptr_array_remove_fast(all->sessions, session);
}

static int listen_at(const AldLinkOptions *link, const char *host, int *ret, AldFailure *failure)
{
        AldAddress at;
        int r = ald_address_resolve(host, link->port, AF_UNSPEC, &at, failure);

        return r < 0 ? r : ald_address_listen(&at, link->interface, BACKLOG, ret, failure);
}

static int open_socket(const AldLinkOptions *link, int *ret, AldFailure *failure)
{
        AldTls *tls = NULL;
        int r = ald_keys_load(&link->keys, true, &tls, failure);

        /* The keys were loaded to report unusable ones now rather than at the first connection. */
        g_clear_pointer(&tls, ald_tls_free);
        if (r < 0)
                return r;
        r = listen_at(link, link->host, ret, failure);
        /* The kernel may lack IPv6. If the port is taken, IPv4 is not tried alone, since only some clients
         * would reach it. */
        if (r < 0 && failure->kind != ALD_FAILURE_BUSY && !link->host) {
                ald_failure_clear(failure);
                r = listen_at(link, "0.0.0.0", ret, failure);
        }
        return r;
}

static gboolean on_signal(gint fd, GIOCondition condition, gpointer userdata)
{
        g_main_loop_quit(userdata);
        return G_SOURCE_CONTINUE;
}

/* Ends all sessions, and kills those that do not end in time. */
static void end_sessions(StandAlone *all)
{
        gint64 until = g_get_monotonic_time() + END_USEC;

        for (unsigned i = 0; i < all->sessions->len; i++) {
                const Session *session = all->sessions->pdata[i];

                (void) kill(session->pid, SIGTERM);
                /* A session that waits for its turn reads the end of the stream. */
                (void) shutdown(session->report, SHUT_RDWR);
        }
        for (unsigned i = 0; i < all->sessions->len; i++) {
                const Session *session = all->sessions->pdata[i];
                struct pollfd ended = { .fd = session->pidfd, .events = POLLIN };
                gint64 left = MAX(until - g_get_monotonic_time(), 0);

                if (poll(&ended, 1, (int) (left / 1000)) <= 0)
                        (void) kill(session->pid, SIGKILL);
                (void) reap_child(session);
        }
}

/* Serves until the main loop ends, then ends all sessions. */
static void serve_all(StandAlone *all, int fd)
{
        AldMembers *members = ald_members_new();
        guint signals = g_unix_fd_add(all->stop, G_IO_IN, on_signal, all->loop);

        all->limit = ald_accept_limit_new(shares);
        all->sessions = g_ptr_array_new_with_free_func(session_free);
        all->listener = ald_listener_new_for_fd(fd, members, on_ready, all);
        printf(all->parts->link->json ? "{\"listening\":%u}\n" : "Listening on port %u\n",
                all->parts->link->port);
        fflush(stdout);
        g_main_loop_run(all->loop);
        ald_listener_free(all->listener);
        end_sessions(all);
        g_queue_clear(&all->turns);
        g_ptr_array_unref(all->sessions);
        ald_accept_limit_free(all->limit);
        ald_members_free(members);
        g_source_remove(signals);
}

int ald_stand_alone_run(const AldStandAlone *parts)
{
        StandAlone all = { .parts = parts, .stop = ald_stop_fd() };
        AldFailure failure = {};
        int fd = -1;

        if (all.stop < 0 || open_socket(parts->link, &fd, &failure) < 0) {
                fprintf(stderr, "%s: %s\n", parts->program, failure.message ?: "no signals");
                all.code = EXIT_FAILURE;
        } else {
                all.loop = g_main_loop_new(NULL, FALSE);
                serve_all(&all, fd);
                g_main_loop_unref(all.loop);
        }
        ald_fd_close(&all.stop);
        ald_failure_clear(&failure);
        return all.code;
}
