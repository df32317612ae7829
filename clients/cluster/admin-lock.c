/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <glib.h>

#include "clients/cluster/admin-lock.h"
#include "clients/command-line/print.h"
#include "common/fd.h"

#define COMMAND_MAX 200u

static int open_file(const char *folder)
{
        g_autofree char *path = g_build_filename(folder, ALD_ADMIN_LOCK_FILE, NULL);
        ald_fd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd < 0)
                return -errno;
        return fchmod(fd, 0600) < 0 ? -errno : ald_fd_steal(&fd);
}

/* Describes a lock of the whole file. A lock by fcntl() ends with its process, even if the process has
 * started others, and the kernel knows its holder. */
static struct flock whole_file(void)
{
        return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

/* Describes the holder of the lock, as in "process 1234 (alidadectl cluster sign request)"; NULL if it is no
 * longer held. */
static char *describe_holder(int fd)
{
        g_autofree char *path = NULL, *command = NULL, *name = NULL;
        struct flock lock = whole_file();
        size_t n = 0, name_length;

        if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
                return NULL;
        if (lock.l_pid <= 0)
                return g_strdup("a process in another container");
        path = g_strdup_printf("/proc/%d/cmdline", (int) lock.l_pid);
        if (!g_file_get_contents(path, &command, &n, NULL) || n == 0)
                return g_strdup_printf("process %d", (int) lock.l_pid);
        n = MIN(n - 1, COMMAND_MAX);
        command[n] = '\0';
        /* The units run this program directly, by a name that users do not know. */
        name_length = strlen(command);
        name = g_strdup(g_str_has_suffix(command, "/alidade-cluster") ? "alidadectl cluster" : command);
        for (size_t i = name_length; i < n; i++)
                if (command[i] == '\0')
                        command[i] = ' ';
        return g_strdup_printf("process %d (%s%s)", (int) lock.l_pid, name, command + name_length);
}

static void on_alarm(int number)
{
}

/* Sends a signal each second, so that the wait ends even if a signal arrives just before the call. */
static void start_waking(struct sigaction *ret_before)
{
        const struct itimerval each_second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
        const struct sigaction action = { .sa_handler = on_alarm };

        (void) sigaction(SIGALRM, &action, ret_before);
        (void) setitimer(ITIMER_REAL, &each_second, NULL);
}

static void stop_waking(const struct sigaction *before)
{
        const struct itimerval never = {};

        (void) setitimer(ITIMER_REAL, &never, NULL);
        (void) sigaction(SIGALRM, before, NULL);
}

static int await_lock(int fd, gint64 end)
{
        struct flock lock = whole_file();
        struct sigaction before;
        int r = 0;

        start_waking(&before);
        while (fcntl(fd, F_SETLKW, &lock) < 0) {
                r = -errno;
                if (r != -EINTR)
                        break;
                if (g_get_monotonic_time() >= end) {
                        r = -ETIMEDOUT;
                        break;
                }
                r = 0;
        }
        stop_waking(&before);
        return r;
}

static int lock_file(int fd, gint64 end, char **ret_reason)
{
        struct flock lock = whole_file();
        g_autofree char *holder = NULL;
        int r;

        if (fcntl(fd, F_SETLK, &lock) == 0)
                return 0;
        if (errno != EACCES && errno != EAGAIN)
                return -errno;
        holder = describe_holder(fd);
        if (holder)
                ald_print_error("Waiting for %s to finish", holder);
        r = await_lock(fd, end);
        if (r == -ETIMEDOUT) {
                g_free(holder);
                holder = describe_holder(fd);
                *ret_reason = holder ? g_steal_pointer(&holder) : g_strdup("another process");
        }
        return r;
}

int ald_admin_lock_take(const char *folder, unsigned seconds, char **ret_reason)
{
        gint64 end = g_get_monotonic_time() + (gint64) seconds * G_USEC_PER_SEC;

        for (;;) {
                ald_fd int fd = open_file(folder);
                struct stat st;
                int r;

                if (fd < 0)
                        return fd;
                r = lock_file(fd, end, ret_reason);
                if (r < 0)
                        return r;
                if (fstat(fd, &st) < 0)
                        return -errno;
                /* "leave" removes the file; processes that wait for it start over with a new one. */
                if (st.st_nlink > 0)
                        return ald_fd_steal(&fd);
        }
}
