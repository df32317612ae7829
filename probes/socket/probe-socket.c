/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "probes/common/keys.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/socket/client/socket-client.h"
#include "probes/socket/server/socket-listener.h"

/* alidade-probe-socket: measures the path between two machines over TCP, run by hand or by the service. */

static int print_result(
        const AldSocketOptions *options, const AldSocketMeasurement *result, const AldFailure *failure)
{
        g_autofree char *text = NULL;

        if (failure->message && !options->link.json) {
                /* The figures measured until then are valid. */
                text = result->rtt_known ? ald_socket_measurement_to_text(result) : g_strdup("");
                fputs(text, stdout);
                fflush(stdout);
                fprintf(stderr, "alidade-probe-socket: %s\n", failure->message);
                return EXIT_FAILURE;
        }
        text = failure->message     ? ald_failure_to_json(failure)
               : options->link.json ? ald_socket_measurement_to_json(result)
                                    : ald_socket_measurement_to_text(result);
        printf("%s%s", text, options->link.json ? "\n" : "");
        return fflush(stdout) == 0 && !failure->message ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int measure_path(const AldSocketOptions *options, AldSocketMeasurement *result, AldFailure *failure)
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
        r = ald_socket_client_run(options, &to, &origin, tls, stop, &progress, result, failure);
        ald_progress_end(&progress);
        return r;
}

static int run_connect(const AldSocketOptions *options)
{
        g_auto(AldSocketMeasurement) result = {};
        AldFailure failure = {};
        int code;

        if (ald_process_limits_apply(
                    &ald_process_limits_socket, options->link.progress_fd >= 0 ? SIGKILL : 0, getppid()) >= 0)
                (void) measure_path(options, &result, &failure);
        else
                ald_fail(&failure, ALD_FAILURE_ABORTED, "the parent process has ended");
        code = print_result(options, &result, &failure);
        g_free(failure.message);
        return code;
}

int main(int argc, char *argv[])
{
        g_auto(AldSocketOptions) options = {};
        g_autofree char *output = NULL, *error = NULL;
        int r;

        ald_command_line_set_up();
        r = ald_socket_options_parse(argc, argv, &options, &output, &error);
        if (r != 0)
                return ald_command_line_end(&ald_socket_command_line, r, output, error);
        if (options.link.mode == ALD_LINK_MODE_LISTEN)
                return ald_socket_listener_run(&options);
        if (options.link.mode == ALD_LINK_MODE_SESSION)
                return ald_socket_listener_serve(&options, getppid());
        return run_connect(&options);
}
