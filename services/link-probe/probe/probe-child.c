/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/process.h"
#include "services/link-probe/probe/probe-child.h"

#define FREE_WAIT_MS 1000
#define STUCK_USEC (10 * G_USEC_PER_SEC)

/* A stream from the child. */
typedef struct Stream {
        int fd;
        guint source;
        GString *text; /* received, but not processed yet */
} Stream;

struct AldProbeChild {
        const AldProbeChildHandler *handler;
        void *userdata;
        AldProcess process;
        guint pidfd_source, deadline;
        Stream output, side;
        char *failure;
        gint64 killed_usec; /* CLOCK_MONOTONIC; 0: not killed */
};

static void stream_close(Stream *stream)
{
        g_clear_handle_id(&stream->source, g_source_remove);
        ald_fd_close(&stream->fd);
}

void ald_probe_child_end(AldProbeChild *child, const char *failure)
{
        if (!child->failure)
                child->failure = g_strdup(failure);
        g_clear_handle_id(&child->deadline, g_source_remove);
        ald_process_kill(&child->process);
        if (child->killed_usec == 0)
                child->killed_usec = g_get_monotonic_time();
}

bool ald_probe_child_is_stuck(const AldProbeChild *child)
{
        return child->killed_usec != 0 && g_get_monotonic_time() - child->killed_usec > STUCK_USEC;
}

/* Appends the available data. Returns false at the end of the stream. */
static bool read_stream(Stream *stream, size_t max)
{
        char buffer[4096];
        ssize_t n = read(stream->fd, buffer, MIN(sizeof buffer, max - stream->text->len));

        if (n < 0)
                return errno == EAGAIN || errno == EINTR;
        g_string_append_len(stream->text, buffer, n);
        return n > 0;
}

static void take_lines(AldProbeChild *child)
{
        GString *text = child->side.text;
        char *end;

        while ((end = memchr(text->str, '\n', text->len))) {
                size_t length = (size_t) (end - text->str);
                g_autofree char *line = g_strndup(text->str, length);

                g_string_erase(text, 0, (gssize) length + 1);
                if (child->handler->line && !child->failure)
                        child->handler->line(line, child->userdata);
        }
        if (text->len >= ALD_PROBE_LINE_MAX)
                ald_probe_child_end(child, "sent too much output");
}

static gboolean on_side(gint fd, GIOCondition condition, gpointer userdata)
{
        AldProbeChild *child = userdata;
        bool open = read_stream(&child->side, ALD_PROBE_LINE_MAX);

        take_lines(child);
        if (open && child->side.text->len < ALD_PROBE_LINE_MAX)
                return G_SOURCE_CONTINUE;
        child->side.source = 0;
        ald_fd_close(&child->side.fd);
        return G_SOURCE_REMOVE;
}

static gboolean on_output(gint fd, GIOCondition condition, gpointer userdata)
{
        AldProbeChild *child = userdata;

        if (read_stream(&child->output, ALD_PROBE_OUTPUT_MAX) &&
                child->output.text->len < ALD_PROBE_OUTPUT_MAX)
                return G_SOURCE_CONTINUE;
        if (child->output.text->len >= ALD_PROBE_OUTPUT_MAX)
                ald_probe_child_end(child, "sent too much output");
        child->output.source = 0;
        ald_fd_close(&child->output.fd);
        return G_SOURCE_REMOVE;
}

/* Reads the rest of the output after the exit; the capacity of a pipe limits it. */
static void drain_streams(AldProbeChild *child)
{
        while (child->output.fd >= 0 && child->output.text->len < ALD_PROBE_OUTPUT_MAX) {
                size_t before = child->output.text->len;

                if (!read_stream(&child->output, ALD_PROBE_OUTPUT_MAX) || child->output.text->len == before)
                        break;
        }
        while (child->side.fd >= 0 && child->side.text->len < ALD_PROBE_LINE_MAX) {
                size_t before = child->side.text->len;
                bool open = read_stream(&child->side, ALD_PROBE_LINE_MAX);
                bool more = child->side.text->len != before;

                take_lines(child);
                if (!open || !more)
                        break;
        }
        if (child->output.text->len >= ALD_PROBE_OUTPUT_MAX && !child->failure)
                child->failure = g_strdup("sent too much output");
}

static gboolean on_end(gint fd, GIOCondition condition, gpointer userdata)
{
        AldProbeChild *child = userdata;
        siginfo_t end = {};

        child->pidfd_source = 0;
        g_clear_handle_id(&child->deadline, g_source_remove);
        ald_process_reap(&child->process, &end);
        drain_streams(child);
        stream_close(&child->output);
        stream_close(&child->side);
        /* A program that exits with status 1 describes the failure in its output. */
        if (!child->failure && !(end.si_code == CLD_EXITED && end.si_status <= 1)) {
                g_autofree char *words = ald_process_describe_end(&end);

                child->failure = g_strdup_printf("failed: %s", words);
        }
        child->handler->ended(child->output.text->str, child->failure, child->userdata);
        return G_SOURCE_REMOVE;
}

static gboolean on_deadline(gpointer userdata)
{
        AldProbeChild *child = userdata;

        child->deadline = 0;
        ald_probe_child_end(child, "did not finish in time");
        return G_SOURCE_REMOVE;
}

pid_t ald_probe_child_pid(const AldProbeChild *child)
{
        return child->process.pid;
}

void ald_probe_child_set_deadline(AldProbeChild *child, unsigned msec)
{
        g_clear_handle_id(&child->deadline, g_source_remove);
        if (!child->failure)
                child->deadline = g_timeout_add(msec, on_deadline, child);
}

static int take_ends(Stream *stream, const int ends[static 2], int *ret_theirs)
{
        ald_fd int ours = ends[0], theirs = ends[1];

        if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        stream->fd = ald_fd_steal(&ours);
        *ret_theirs = ald_fd_steal(&theirs);
        return 0;
}

static int stream_open(Stream *stream, int *ret_theirs)
{
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        return take_ends(stream, ends, ret_theirs);
}

/* The side channel is bidirectional, unlike a pipe. */
static int side_open(Stream *stream, int *ret_theirs)
{
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return -errno;
        return take_ends(stream, ends, ret_theirs);
}

static int spawn_program(AldProbeChild *child, const char *program, const char *const *arguments, int session)
{
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        g_auto(GStrv) environment = ald_process_environment();
        ald_fd int output = -1, side = -1;
        int r;

        g_ptr_array_add(words, (gpointer) program);
        for (; *arguments; arguments++)
                g_ptr_array_add(words, (gpointer) *arguments);
        g_ptr_array_add(words, NULL);
        r = stream_open(&child->output, &output);
        if (r >= 0)
                r = side_open(&child->side, &side);
        if (r < 0)
                return r;
        return ald_process_spawn((char *const *) words->pdata, environment,
                (int[]){ -1, output, -1, side, session }, session < 0 ? 4 : 5, &child->process);
}

int ald_probe_child_new(const char *program, const char *const *arguments, int session,
        unsigned deadline_msec, const AldProbeChildHandler *handler, void *userdata, AldProbeChild **ret)
{
        g_autoptr(AldProbeChild) child = g_new(AldProbeChild, 1);
        int r;

        *child = (AldProbeChild){
                .handler = handler,
                .userdata = userdata,
                .process = ALD_PROCESS_NONE,
                .output = { .fd = -1, .text = g_string_new(NULL) },
                .side = { .fd = -1, .text = g_string_new(NULL) },
        };
        r = spawn_program(child, program, arguments, session);
        if (r < 0)
                return r;
        child->output.source = g_unix_fd_add(child->output.fd, G_IO_IN | G_IO_HUP, on_output, child);
        child->side.source = g_unix_fd_add(child->side.fd, G_IO_IN | G_IO_HUP, on_side, child);
        child->pidfd_source = g_unix_fd_add(child->process.pidfd, G_IO_IN, on_end, child);
        ald_probe_child_set_deadline(child, deadline_msec);
        *ret = g_steal_pointer(&child);
        return 0;
}

void ald_probe_child_send(AldProbeChild *child, const char *line)
{
        size_t length = strlen(line);

        if (child->side.fd >= 0 && send(child->side.fd, line, length, MSG_NOSIGNAL) != (ssize_t) length)
                ald_probe_child_end(child, "did not read its input");
}

void ald_probe_child_free(AldProbeChild *child)
{
        siginfo_t end = {};

        if (!child)
                return;
        g_clear_handle_id(&child->pidfd_source, g_source_remove);
        g_clear_handle_id(&child->deadline, g_source_remove);
        if (child->process.pid != 0) {
                ald_process_kill(&child->process);
                ald_process_wait(&child->process, FREE_WAIT_MS);
                ald_process_reap(&child->process, &end);
        }
        stream_close(&child->output);
        stream_close(&child->side);
        g_string_free(child->output.text, TRUE);
        g_string_free(child->side.text, TRUE);
        g_free(child->failure);
        g_free(child);
}
