/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/common/clock.h"
#include "probes/common/confine.h"
#include "probes/common/wait.h"
#include "probes/fd.h"
#include "probes/rdma/guard.h"
#include "probes/rdma/listener.h"
#include "probes/rdma/preamble.h"
#include "probes/rdma/session.h"

#define BACKLOG 4u
#define PAUSE_NS (100 * ALD_NSEC_PER_MSEC)

/* Exit status where nobody with the right keys has spoken. */
enum { STRANGER = 3 };

typedef struct Visit {
        const AldRdmaOptions *options;
        int fd;
} Visit;

static int serve(const AldRdmaOptions *options, AldTalk *talk, int fd, AldRdmaServed *ret)
{
        AldTls *tls = NULL;
        int r = 0;

        /* Who gives us a session has read what chooses the program. */
        if (options->link.mode == ALD_LINK_MODE_LISTEN)
                r = ald_preamble_take(fd, talk->channel.stop, talk->failure);
        if (r >= 0)
                r = ald_keys_load(&options->link.keys, true, &tls, talk->failure);
        return r < 0 ? r : ald_session_serve(options, talk, fd, tls, ret);
}

/* A daemon reads JSON; who listens by hand reads words, unless JSON was asked for. */
static char *describe(const AldRdmaOptions *options, const AldRdmaServed *served, const AldFailure *failure)
{
        return options->link.json || options->link.report_fd >= 0 ? ald_rdma_served_to_json(served, failure)
                                                                  : ald_rdma_served_to_text(served, failure);
}

static void work(int answer, int stop, void *userdata)
{
        const Visit *visit = userdata;
        AldFailure failure = {};
        AldTalk talk = { .failure = &failure, .channel = { .fd = -1, .stop = stop } };
        AldRdmaServed served = {};
        g_autofree char *text = NULL;

        (void) serve(visit->options, &talk, visit->fd, &served);
        text = describe(visit->options, &served, &failure);
        ald_guard_answer(answer,
                !served.authenticated ? STRANGER
                : failure.message     ? EXIT_FAILURE
                                      : EXIT_SUCCESS,
                text);
        ald_talk_close(&talk);
        ald_failure_clear(&failure);
}

static void tell(const AldRdmaOptions *options, const char *text)
{
        if (options->link.report_fd >= 0)
                (void) dprintf(options->link.report_fd, "%s\n", text);
        if (options->link.json || options->link.mode == ALD_LINK_MODE_LISTEN)
                printf("%s\n", text);
        fflush(stdout);
}

static int guard(const AldRdmaOptions *options, int fd, int stop)
{
        uint64_t deadline = ald_now() + options->timeout * ALD_NSEC_PER_SEC;
        Visit visit = { options, fd };
        AldRdmaServed unknown = {};
        AldFailure failure = {};
        g_autofree char *text = NULL;
        int code = ald_guard_run(work, &visit, stop, deadline, &text, &failure);

        if (code < 0) {
                text = describe(options, &unknown, &failure);
                code = EXIT_FAILURE;
        }
        ald_failure_clear(&failure);
        tell(options, text);
        return code;
}

int ald_rdma_listener_serve(const AldRdmaOptions *options)
{
        int stop;

        if (ald_confine(ALD_CONFINE_RDMA, SIGKILL, getppid()) < 0)
                return EXIT_FAILURE;
        stop = ald_stop_fd();
        if (stop < 0 || fcntl(options->link.session_fd, F_SETFD, FD_CLOEXEC) < 0 ||
                fcntl(options->link.session_fd, F_SETFL, O_NONBLOCK) < 0)
                return EXIT_FAILURE;
        return guard(options, options->link.session_fd, stop);
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

        /* Keys that are of no use are better told of now. */
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

static int serve_all(const AldRdmaOptions *options, int listener, int stop)
{
        for (;;) {
                struct pollfd fds[] = { { listener, POLLIN, 0 }, { stop, POLLIN, 0 } };
                int fd, code;

                if (ald_wait(fds, 2, UINT64_MAX / 2) < 0 || fds[1].revents)
                        return EXIT_SUCCESS;
                ald_guard_reap();
                fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
                if (fd < 0) {
                        /* Out of something, which is not there any sooner for asking again at once. */
                        if (errno != EAGAIN && errno != ECONNABORTED)
                                (void) ald_wait(&fds[1], 1, ald_now() + PAUSE_NS);
                        continue;
                }
                code = guard(options, fd, stop);
                close(fd);
                if (options->link.once && code != STRANGER)
                        return code;
        }
}

int ald_rdma_listener_run(const AldRdmaOptions *options)
{
        AldFailure failure = {};
        ald_fd int listener = -1, stop = ald_stop_fd();

        if (stop < 0 || open_listener(options, &listener, &failure) < 0) {
                fprintf(stderr, "alidade-probe-rdma: %s\n", failure.message ?: "no signals");
                ald_failure_clear(&failure);
                return EXIT_FAILURE;
        }
        printf(options->link.json ? "{\"listening\":%u}\n" : "Listening on port %u\n", options->link.port);
        fflush(stdout);
        return serve_all(options, listener, stop);
}
