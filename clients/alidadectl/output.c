/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/output.h"
#include "common/source.h"

#define FINISH_MSEC 500

struct AldOutput {
        int fd;
        bool is_socket;
        bool broken;
        GString *queue;
        GSource *source; /* NULL once broken */
        void *tag;       /* of the fd in the source */
        AldOutputHandler handler;
        void *userdata;
};

/*
 * O_NONBLOCK belongs to the open file description, which other processes such as the shell share. So a
 * terminal or pipe is reopened. If that is not permitted, writing may block.
 */
static int reopen(int fd, bool *ret_is_socket)
{
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%i", fd);
        struct stat st;
        int again = -1;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (S_ISFIFO(st.st_mode) || isatty(fd))
                again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (again < 0)
                again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (again < 0)
                return -errno;
        *ret_is_socket = S_ISSOCK(st.st_mode);
        return again;
}

static void fail_output(AldOutput *output, int r)
{
        if (output->broken)
                return;
        output->broken = true;
        g_string_truncate(output->queue, 0);
        ald_source_clear(&output->source);
        output->handler(output, r, output->userdata);
}

static ssize_t write_some(AldOutput *output, const char *data, size_t size)
{
        return output->is_socket ? send(output->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : write(output->fd, data, size);
}

/* Writes until the queue is empty (0), writing would block (-EAGAIN), or it fails (other errors). */
static int flush_queue(AldOutput *output)
{
        size_t done = 0;
        int r = 0;

        while (done < output->queue->len && r == 0) {
                ssize_t n = write_some(output, output->queue->str + done, output->queue->len - done);

                if (n >= 0)
                        done += (size_t) n;
                else if (errno != EINTR)
                        r = -errno;
        }
        g_string_erase(output->queue, 0, (gssize) done);
        return r;
}

static void flush_or_fail(AldOutput *output)
{
        int r = flush_queue(output);

        if (r < 0 && r != -EAGAIN)
                fail_output(output, r);
        else if (output->source)
                g_source_modify_unix_fd(output->source, output->tag, r == -EAGAIN ? G_IO_OUT : 0);
}

typedef struct OutputSource {
        GSource source;
        AldOutput *output;
} OutputSource;

static gboolean output_dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        AldOutput *output = ((OutputSource *) source)->output;

        if (g_source_query_unix_fd(source, output->tag) & (G_IO_ERR | G_IO_HUP)) {
                fail_output(output, -EPIPE);
                return G_SOURCE_REMOVE;
        }
        flush_or_fail(output);
        if (!output->broken && output->queue->len == 0)
                output->handler(output, 0, output->userdata);
        return G_SOURCE_CONTINUE;
}

/* A regular file is never waited for, since it takes everything at once. */
static void add_source(AldOutput *output)
{
        static GSourceFuncs funcs = { NULL, NULL, output_dispatch, NULL, NULL, NULL };

        output->source = g_source_new(&funcs, sizeof(OutputSource));
        ((OutputSource *) output->source)->output = output;
        output->tag = g_source_add_unix_fd(output->source, output->fd, 0);
        g_source_attach(output->source, g_main_context_get_thread_default());
}

int ald_output_new(int fd, AldOutputHandler handler, void *userdata, AldOutput **ret)
{
        g_autoptr(AldOutput) output = g_new0(AldOutput, 1);

        output->queue = g_string_new(NULL);
        output->handler = handler;
        output->userdata = userdata;
        output->fd = reopen(fd, &output->is_socket);
        if (output->fd < 0)
                return output->fd;
        add_source(output);
        *ret = g_steal_pointer(&output);
        return 0;
}

void ald_output_free(AldOutput *output)
{
        if (!output)
                return;
        ald_source_clear(&output->source);
        if (output->fd >= 0)
                (void) close(output->fd);
        g_string_free(output->queue, TRUE);
        g_free(output);
}

void ald_output_write(AldOutput *output, const char *data, size_t size)
{
        if (output->broken)
                return;
        g_string_append_len(output->queue, data, (gssize) size);
        flush_or_fail(output);
}

size_t ald_output_pending(AldOutput *output)
{
        return output->queue->len;
}

void ald_output_finish(AldOutput *output)
{
        struct pollfd pollfd = { .fd = output->fd, .events = POLLOUT };

        while (!output->broken && output->queue->len > 0 && poll(&pollfd, 1, FINISH_MSEC) > 0)
                flush_or_fail(output);
}
