/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/rdma/driver-process.h"
#include "probes/rdma/rdma-client.h"
#include "probes/rdma/rdma-listener.h"
#include "probes/rdma/rdma-measurement.h"

/* alidade-probe-rdma: measures the path between two machines over RDMA, run by hand or by the service. */

static char *format_result(
        const AldRdmaOptions *options, const AldRdmaMeasurement *result, const AldFailure *failure)
{
        if (failure->message)
                return options->link.json ? ald_failure_to_json(failure) : g_strdup(failure->message);
        return options->link.json ? ald_rdma_measurement_to_json(result)
                                  : ald_rdma_measurement_to_text(result);
}

static int measure_path(const AldRdmaOptions *options, AldRdmaSession *session, AldProgress *progress,
        AldRdmaMeasurement *ret)
{
        AldOrigin origin = { .device = options->link.interface, .small_segments = true };
        AldTls *tls = NULL;
        AldAddress to;
        int fd = -1, r = ald_verbs_port_open(options->device, &session->port, session->failure);

        ald_progress_report(progress, "connect", 0);
        if (r >= 0)
                r = ald_address_resolve(
                        options->link.host, options->link.port, AF_UNSPEC, &to, session->failure);
        if (r >= 0)
                r = ald_keys_load(&options->link.keys, false, &tls, session->failure);
        if (r >= 0)
                r = ald_address_connect(&to, &origin, session->channel.stop, &fd, session->failure);
        if (r < 0) {
                g_clear_pointer(&tls, ald_tls_free);
                return r;
        }
        return ald_rdma_client_run(options, session, fd, tls, progress, ret);
}

static void run_client(int answer, int stop, void *userdata)
{
        const AldRdmaOptions *options = userdata;
        AldProgress progress = { .fd = options->link.progress_fd, .terminal = isatty(STDERR_FILENO) == 1 };
        AldFailure failure = {};
        AldRdmaSession session = { .failure = &failure, .channel = { .fd = -1, .stop = stop } };
        AldRdmaMeasurement result = {};
        g_autofree char *text = NULL;

        (void) measure_path(options, &session, &progress, &result);
        ald_progress_end(&progress);
        text = format_result(options, &result, &failure);
        ald_driver_process_answer(answer, failure.message ? EXIT_FAILURE : EXIT_SUCCESS, text);
        ald_rdma_session_close(&session);
        ald_failure_clear(&failure);
}

static int run_connect(AldRdmaOptions *options)
{
        uint64_t deadline = ald_now() + options->timeout * ALD_NSEC_PER_SEC;
        AldFailure failure = {};
        g_autofree char *text = NULL;
        int code = -1, stop;

        if (ald_process_limits_apply(
                    &ald_process_limits_rdma, options->link.progress_fd >= 0 ? SIGKILL : 0, getppid()) < 0)
                return EXIT_FAILURE;
        stop = ald_stop_fd();
        if (stop < 0)
                (void) ald_fail(&failure, ALD_FAILURE_INTERNAL, "no signals");
        else
                code = ald_driver_process_run(run_client, options, stop, deadline, &text, &failure);
        if (code < 0) {
                text = format_result(options, NULL, &failure);
                code = EXIT_FAILURE;
        }
        ald_failure_clear(&failure);
        if (code != EXIT_SUCCESS && !options->link.json)
                fprintf(stderr, "alidade-probe-rdma: %s\n", text);
        else
                printf("%s%s", text, options->link.json ? "\n" : "");
        return fflush(stdout) == 0 ? code : EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
        g_auto(AldRdmaOptions) options = {};
        g_autofree char *output = NULL, *error = NULL;
        int r;

        ald_command_line_set_up();
        r = ald_rdma_options_parse(argc, argv, &options, &output, &error);
        if (r != 0)
                return ald_command_line_end(&ald_rdma_command_line, r, output, error);
        if (options.link.mode == ALD_LINK_MODE_LISTEN)
                return ald_rdma_listener_run(&options);
        if (options.link.mode == ALD_LINK_MODE_SESSION)
                return ald_rdma_listener_serve(&options, getppid());
        return run_connect(&options);
}
