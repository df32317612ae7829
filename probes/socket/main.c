/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/common/confine.h"
#include "probes/common/keys.h"
#include "probes/common/wait.h"
#include "probes/socket/client.h"
#include "probes/socket/listener.h"

/* alidade-probe-socket: measures the path between two machines over TCP, run by hand or by the service. */

enum { EXIT_USAGE = 2 };

static int finish(const AldProbeOptions *options, const AldResult *result, const AldFailure *failure)
{
        g_autofree char *text = NULL;

        if (failure->message && !options->link.json) {
                /* What was measured until then is valid. */
                text = result->rtt_known ? ald_result_to_text(result) : g_strdup("");
                fputs(text, stdout);
                fflush(stdout);
                fprintf(stderr, "alidade-probe-socket: %s\n", failure->message);
                return EXIT_FAILURE;
        }
        text = failure->message     ? ald_failure_to_json(failure)
               : options->link.json ? ald_result_to_json(result)
                                    : ald_result_to_text(result);
        printf("%s%s", text, options->link.json ? "\n" : "");
        return fflush(stdout) == 0 && !failure->message ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int measure(const AldProbeOptions *options, AldResult *result, AldFailure *failure)
{
        AldProgress progress = { .fd = options->link.progress_fd, .terminal = isatty(STDERR_FILENO) == 1 };
        AldOrigin origin = { .device = options->link.interface };
        AldAddress to, source;
        AldTls *tls = NULL;
        int r = 0, stop;

        if (options->source) {
                r = ald_address_resolve(options->source, 0, AF_UNSPEC, &source, failure);
                origin.source = &source;
        }
        /* If a name has addresses of both families, uses one of the family of the source. */
        if (r >= 0)
                r = ald_address_resolve(options->link.host, options->link.port,
                        options->source ? source.storage.ss_family : AF_UNSPEC, &to, failure);
        if (r < 0)
                return r;
        stop = ald_stop_fd();
        if (stop < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no signals: %s", g_strerror(-stop));
        r = ald_keys_load(&options->link.keys, false, &tls, failure);
        if (r < 0)
                return r;
        r = ald_client_run(options, &to, &origin, tls, stop, &progress, result, failure);
        ald_progress_end(&progress);
        return r;
}

static int run_connect(const AldProbeOptions *options)
{
        g_auto(AldResult) result = {};
        AldFailure failure = {};
        int code;

        if (ald_confine(ALD_CONFINE_SOCKET, options->link.progress_fd >= 0 ? SIGKILL : 0, getppid()) >= 0)
                (void) measure(options, &result, &failure);
        else
                ald_fail(&failure, ALD_FAILURE_ABORTED, "the parent process has ended");
        code = finish(options, &result, &failure);
        g_free(failure.message);
        return code;
}

int main(int argc, char *argv[])
{
        AldProbeOptions options;
        g_autofree char *error = NULL;

        (void) setlocale(LC_CTYPE, "");
        (void) signal(SIGPIPE, SIG_IGN);
        if (ald_probe_options_parse(argc, argv, &options, &error) < 0) {
                fprintf(stderr, "alidade-probe-socket: %s\n", error);
                return EXIT_USAGE;
        }
        switch (options.link.mode) {
        case ALD_LINK_MODE_HELP:
                fputs(ald_probe_help, stdout);
                return EXIT_SUCCESS;
        case ALD_LINK_MODE_VERSION:
                puts("alidade-probe-socket " ALD_VERSION);
                return EXIT_SUCCESS;
        case ALD_LINK_MODE_LISTEN:
                return ald_listener_run(&options);
        case ALD_LINK_MODE_SESSION:
                return ald_listener_serve(&options, options.link.session_fd, -1, getppid());
        case ALD_LINK_MODE_CONNECT:
                break;
        }
        return run_connect(&options);
}
