/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/common/keys.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/listen/stand-alone.h"
#include "probes/socket/server/socket-listener.h"
#include "probes/socket/server/socket-server.h"
#include "probes/socket/transfer/socket-result.h"

static void report_session(
        const AldSocketOptions *options, const AldSocketSessionReport *served, const AldFailure *failure)
{
        g_autofree char *json = ald_socket_session_report_to_json(served, failure);
        g_autofree char *text = ald_socket_session_report_to_text(served, failure);

        if (options->link.report_fd >= 0 && options->link.mode == ALD_LINK_MODE_SESSION)
                (void) dprintf(options->link.report_fd, "%s\n", json);
        if (options->link.json)
                printf("%s\n", json);
        else if (options->link.mode == ALD_LINK_MODE_LISTEN)
                fputs(text, stdout);
        fflush(stdout);
}

int ald_socket_listener_serve(const AldSocketOptions *options, int parent)
{
        AldFailure failure = {};
        AldSocketSessionReport served = {};
        AldTls *tls = NULL;
        int fd = options->link.session_fd, r, stop;

        if (ald_process_limits_apply(&ald_process_limits_socket, SIGKILL, parent) < 0)
                return EXIT_FAILURE;
        stop = ald_stop_fd();
        if (stop < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
                r = ald_fail(&failure, ALD_FAILURE_INTERNAL, "no connection: %s", g_strerror(errno));
        else
                r = ald_keys_load(&options->link.keys, true, &tls, &failure);
        if (r >= 0)
                r = ald_socket_server_run(options, fd, tls, stop, &served, &failure);
        report_session(options, &served, &failure);
        ald_socket_session_report_clear(&served);
        g_free(failure.message);
        if (!served.authenticated || (served.refused && options->link.mode == ALD_LINK_MODE_LISTEN))
                return ALD_STAND_ALONE_NOTHING_MEASURED;
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int serve_session(const void *options, int parent)
{
        return ald_socket_listener_serve(options, parent);
}

int ald_socket_listener_run(const AldSocketOptions *options)
{
        AldSocketOptions own = *options;
        const AldStandAlone parts = { .program = ald_socket_command_line.program,
                .link = &own.link,
                .busy = "another session is under way",
                .serve = serve_session,
                .options = &own };

        own.link.host = options->link.host ?: options->source;
        return ald_stand_alone_run(&parts);
}
