/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/address.h"
#include "probes/common/failure-json.h"
#include "probes/common/keys.h"
#include "probes/common/wait.h"
#include "probes/rdma/session.h"

/* alidade-probe-rdma: measures the way between two machines over RDMA, alone or for the daemon. */

enum { EXIT_USAGE = 2 };

static int tell(const AldRdmaOptions *options, const AldFailure *failure, const char *text)
{
        g_autofree char *json = NULL;

        if (!failure->message) {
                printf("%s%s", text, options->json ? "\n" : "");
                return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        }
        if (options->json) {
                json = ald_failure_to_json(failure);
                puts(json);
                fflush(stdout);
        } else
                fprintf(stderr, "alidade-probe-rdma: %s\n", failure->message);
        return EXIT_FAILURE;
}

static int measure(const AldRdmaOptions *options, int stop)
{
        AldOrigin origin = {};
        AldRdmaResult result = {};
        AldFailure failure = {};
        AldTls *tls = NULL;
        AldAddress to;
        AldPort port = {};
        g_autofree char *text = NULL;
        int fd = -1, code;
        int r = ald_port_open(options->device, &port, &failure);

        if (r >= 0)
                r = ald_address_resolve(options->connect, options->port, AF_UNSPEC, &to, &failure);
        if (r >= 0)
                r = ald_keys_load(&options->keys, false, &tls, &failure);
        if (r >= 0)
                r = ald_address_connect(&to, &origin, stop, &fd, &failure);
        if (r >= 0)
                r = ald_session_measure(options, &port, fd, tls, stop, &result, &failure);
        else
                g_clear_pointer(&tls, ald_tls_free);
        ald_port_close(&port);
        if (r >= 0)
                text = options->json ? ald_rdma_result_to_json(&result) : ald_rdma_result_to_text(&result);
        code = tell(options, &failure, text);
        g_free(failure.message);
        return code;
}

static int serve_one(const AldRdmaOptions *options, int fd, int stop)
{
        AldFailure failure = {};
        AldTls *tls = NULL;
        int code;

        if (ald_keys_load(&options->keys, true, &tls, &failure) >= 0)
                (void) ald_session_serve(options, fd, tls, stop, &failure);
        code = tell(options, &failure, options->json ? "{}" : "done\n");
        g_free(failure.message);
        return code;
}

static int listen_for_peers(const AldRdmaOptions *options, int stop)
{
        AldFailure failure = {};
        AldAddress at;
        int listener = -1, code = EXIT_SUCCESS;
        int r = ald_address_resolve(options->listen, options->port, AF_UNSPEC, &at, &failure);

        if (r >= 0)
                r = ald_address_listen(&at, NULL, 4, &listener, &failure);
        if (r < 0)
                return tell(options, &failure, NULL);
        printf(options->json ? "{\"listening\":%u}\n" : "Listening on port %u\n", options->port);
        fflush(stdout);
        for (;;) {
                struct pollfd fds[] = { { listener, POLLIN, 0 }, { stop, POLLIN, 0 } };
                int fd;

                if (ald_wait(fds, 2, UINT64_MAX / 2) < 0 || fds[1].revents)
                        return code;
                fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
                if (fd >= 0)
                        code = serve_one(options, fd, stop);
                if (fd >= 0 && options->once)
                        return code;
        }
}

int main(int argc, char *argv[])
{
        AldRdmaOptions options;
        g_autofree char *error = NULL;
        int stop;

        (void) signal(SIGPIPE, SIG_IGN);
        if (ald_rdma_options_parse(argc, argv, &options, &error) < 0) {
                fprintf(stderr, "alidade-probe-rdma: %s\n", error);
                return EXIT_USAGE;
        }
        if (options.help || options.version) {
                fputs(options.help ? ald_rdma_help : "alidade-probe-rdma " ALD_VERSION "\n", stdout);
                return EXIT_SUCCESS;
        }
        stop = ald_stop_fd();
        return options.connect ? measure(&options, stop) : listen_for_peers(&options, stop);
}
