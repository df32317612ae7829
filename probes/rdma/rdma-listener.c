/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/listen/stand-alone.h"
#include "probes/rdma/driver-process.h"
#include "probes/rdma/rdma-listener.h"
#include "probes/rdma/rdma-measurement.h"
#include "probes/rdma/rdma-server.h"

/* The time that a peer waits while another one is measured. Clients wait longer for the offer. */
#define WAIT_MSEC 4000u

/* Formats the report as JSON for the service or if requested, else as text. */
static char *format_report(
        const AldRdmaOptions *options, const AldRdmaSessionReport *served, const AldFailure *failure)
{
        return options->link.json || options->link.mode == ALD_LINK_MODE_SESSION
                       ? ald_rdma_session_report_to_json(served, failure)
                       : ald_rdma_session_report_to_text(served, failure);
}

static void run_server(int answer, int stop, void *userdata)
{
        const AldRdmaOptions *options = userdata;
        AldFailure failure = {};
        AldRdmaSession session = { .failure = &failure, .channel = { .fd = -1, .stop = stop } };
        AldRdmaSessionReport served = {};
        g_autofree char *text = NULL;
        AldTls *tls = NULL;

        if (ald_keys_load(&options->link.keys, true, &tls, &failure) >= 0)
                (void) ald_rdma_server_run(options, &session, options->link.session_fd, tls, &served);
        text = format_report(options, &served, &failure);
        ald_driver_process_answer(answer,
                !served.authenticated ? ALD_STAND_ALONE_NOTHING_MEASURED
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

int ald_rdma_listener_serve(const AldRdmaOptions *options, int parent)
{
        AldRdmaOptions own = *options;
        AldRdmaSessionReport unknown = {};
        AldFailure failure = {};
        g_autofree char *text = NULL;
        int fd = options->link.session_fd, code, stop;

        if (ald_process_limits_apply(&ald_process_limits_rdma, SIGKILL, parent) < 0)
                return EXIT_FAILURE;
        stop = ald_stop_fd();
        if (stop < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
                return EXIT_FAILURE;
        code = ald_driver_process_run(
                run_server, &own, stop, ald_now() + options->timeout * ALD_NSEC_PER_SEC, &text, &failure);
        if (code < 0) {
                text = format_report(options, &unknown, &failure);
                code = EXIT_FAILURE;
        }
        ald_failure_clear(&failure);
        print_report(options, text);
        return code;
}

static int serve_session(const void *options, int parent)
{
        return ald_rdma_listener_serve(options, parent);
}

int ald_rdma_listener_run(const AldRdmaOptions *options)
{
        AldRdmaOptions own = *options;
        const AldStandAlone parts = { .program = ald_rdma_command_line.program,
                .link = &own.link,
                .rdma = true,
                .wait_msec = WAIT_MSEC,
                .busy = "another peer is measured",
                .serve = serve_session,
                .options = &own };

        return ald_stand_alone_run(&parts);
}
