/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/process.h"
#include "services/telemetry/helper/helper.h"

#define FREE_WAIT_MS 1000

struct AldChild {
        const AldChildInfo *info;
        const AldChildTiming *timing;
        void *userdata;
        char *directory;
        char **environment;

        AldProcess process;
        int socket;
        guint pidfd_source, socket_source, deadline_source;
        gint64 started;
        bool waiting; /* for an answer */
        bool dying;   /* killed, or ended by itself; not yet reaped */

        unsigned pause_ms;
        gint64 retry_at;
        char *reason; /* why it fails at present, or NULL */
};

AldChild *ald_child_new(
        const AldChildInfo *info, const AldChildTiming *timing, const char *directory, void *userdata)
{
        AldChild *child = g_new0(AldChild, 1);

        child->info = info;
        child->timing = timing;
        child->userdata = userdata;
        child->directory = g_strdup(directory);
        child->environment = ald_process_environment();
        child->process = ALD_PROCESS_NONE;
        child->socket = -1;
        return child;
}

void ald_child_setenv(AldChild *child, const char *name, const char *value)
{
        child->environment = g_environ_setenv(child->environment, name, value, TRUE);
}

static void clear_source(guint *source)
{
        if (*source != 0)
                g_source_remove(*source);
        *source = 0;
}

/* Kills the process group. From then on the process is only waited for. */
static void kill_group(AldChild *child)
{
        if (child->process.pid == 0)
                return;
        ald_process_kill(&child->process);
        clear_source(&child->deadline_source);
        clear_source(&child->socket_source);
        ald_fd_close(&child->socket);
        child->waiting = false;
        child->dying = true;
}

static void schedule_retry(AldChild *child)
{
        child->retry_at = g_get_monotonic_time() + (gint64) child->pause_ms * 1000;
}

static void fail_child(AldChild *child, const char *reason)
{
        const AldChildInfo *info = child->info;
        bool first_failure = !child->reason;

        kill_group(child);
        child->pause_ms = child->pause_ms == 0 ? child->timing->retry
                                               : MIN(child->pause_ms * 2, child->timing->retry_max);
        schedule_retry(child);
        g_free(child->reason);
        child->reason = g_strdup(reason);
        if (first_failure)
                g_warning(
                        "%s failed: %s; its values are omitted until it works again", info->program, reason);
        else
                g_debug("%s still fails: %s; next try in %u ms", info->program, reason, child->pause_ms);
        if (info->failed)
                info->failed(reason, child->userdata);
}

/* Forgets the process after its end. */
static void reap_process(AldChild *child, siginfo_t *ret)
{
        clear_source(&child->pidfd_source);
        ald_process_reap(&child->process, ret);
        child->dying = false;
}

static void receive_answer(AldChild *child);

static gboolean on_end(gint fd, GIOCondition condition, gpointer userdata)
{
        AldChild *child = userdata;
        siginfo_t end = {};
        bool expected;

        /* A helper may answer and end at once. */
        if (child->waiting)
                receive_answer(child);
        expected = child->dying;
        kill_group(child);
        child->pidfd_source = 0;
        reap_process(child, &end);
        if (expected) {
                if (child->reason)
                        schedule_retry(child);
        } else {
                g_autofree char *reason = ald_process_describe_end(&end);

                fail_child(child, reason);
        }
        if (child->info->gone)
                child->info->gone(child->userdata);
        return G_SOURCE_REMOVE;
}

static gboolean on_deadline(gpointer userdata)
{
        AldChild *child = userdata;

        child->deadline_source = 0;
        fail_child(child, "it did not answer in time");
        return G_SOURCE_REMOVE;
}

static void record_success(AldChild *child)
{
        if (child->reason)
                g_message("%s works again", child->info->program);
        g_clear_pointer(&child->reason, g_free);
        if (g_get_monotonic_time() - child->started >= (gint64) child->timing->healthy * 1000)
                child->pause_ms = 0;
}

static void handle_answer(AldChild *child, const char *text, size_t length)
{
        g_autofree char *reason = NULL;

        clear_source(&child->deadline_source);
        if (!child->waiting) {
                fail_child(child, "it sent an unexpected message");
                return;
        }
        child->waiting = false;
        reason = child->info->answered(text, length, child->userdata);
        if (reason)
                fail_child(child, reason);
        else
                record_success(child);
}

/* Reads one message, if there is one. */
static void receive_answer(AldChild *child)
{
        g_autofree char *buffer = g_malloc(ALD_CHILD_MESSAGE_MAX + 1);
        ssize_t n = recv(child->socket, buffer, ALD_CHILD_MESSAGE_MAX, MSG_DONTWAIT | MSG_TRUNC);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                /* The process has ended or is about to; on_end() reports how. A process that merely closed
                 * its end of the socket is caught by the deadline or the next request. */
                clear_source(&child->socket_source);
                return;
        }
        if (n > ALD_CHILD_MESSAGE_MAX) {
                fail_child(child, "its answer is too long");
                return;
        }
        buffer[n] = '\0';
        handle_answer(child, buffer, (size_t) n);
}

static gboolean on_message(gint fd, GIOCondition condition, gpointer userdata)
{
        receive_answer(userdata);
        return G_SOURCE_CONTINUE;
}

static int start_process(AldChild *child)
{
        g_autofree char *path = g_build_filename(child->directory, child->info->program, NULL);
        char *const arguments[] = { path, NULL };
        ald_fd int ours = -1, theirs = -1;
        int ends[2], r;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
                return -errno;
        ours = ends[0];
        theirs = ends[1];
        r = ald_process_spawn(
                arguments, child->environment, (int[]){ theirs, theirs, -1 }, 3, &child->process);
        if (r < 0)
                return r;
        child->socket = ald_fd_steal(&ours);
        child->started = g_get_monotonic_time();
        child->pidfd_source = g_unix_fd_add(child->process.pidfd, G_IO_IN, on_end, child);
        child->socket_source = g_unix_fd_add(child->socket, G_IO_IN | G_IO_HUP | G_IO_ERR, on_message, child);
        return 0;
}

bool ald_child_may_start(const AldChild *child)
{
        return child->process.pid == 0 && g_get_monotonic_time() >= child->retry_at;
}

int ald_child_ask(AldChild *child, const char *request)
{
        bool first = child->process.pid == 0;
        int r = 0;

        if (child->waiting || child->dying)
                return -EBUSY;
        if (first && !ald_child_may_start(child))
                return -EAGAIN;
        if (first)
                r = start_process(child);
        if (r >= 0 && request &&
                send(child->socket, request, strlen(request), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
                r = -errno;
        if (r < 0) {
                fail_child(child, g_strerror(-r));
                return r;
        }
        child->waiting = true;
        child->deadline_source = g_timeout_add(
                first ? child->timing->first : child->timing->answer, on_deadline, child);
        return 0;
}

void ald_child_end(AldChild *child)
{
        kill_group(child);
}

bool ald_child_alive(const AldChild *child)
{
        return child->process.pid != 0;
}

const char *ald_child_reason(const AldChild *child)
{
        return child->reason;
}

unsigned ald_child_pause(const AldChild *child)
{
        return child->pause_ms;
}

void ald_child_free(AldChild *child)
{
        siginfo_t end = {};

        if (!child)
                return;
        if (child->process.pid != 0) {
                kill_group(child);
                ald_process_wait(&child->process, FREE_WAIT_MS);
                reap_process(child, &end);
        }
        g_free(child->directory);
        g_strfreev(child->environment);
        g_free(child->reason);
        g_free(child);
}
