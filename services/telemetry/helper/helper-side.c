/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/message.h"
#include "services/telemetry/helper/helper-side.h"
#include "services/telemetry/helper/helper.h"

/* Limits RLIMIT_DATA rather than RLIMIT_AS, since GPU drivers reserve more addresses than there is memory.
 * The shadow memory of a sanitizer counts as data, so RLIMIT_DATA is not limited with one. */
static void limit_resources(uint64_t data_max)
{
        const struct rlimit none = { 0, 0 };

        (void) setrlimit(RLIMIT_CORE, &none);
#ifndef WITH_SANITIZER
        const struct rlimit data = { data_max, data_max };

        (void) setrlimit(RLIMIT_DATA, &data);
#endif
}

/* Returns whether the parent died before prctl(), which then sends no signal. Without such a socket, the
 * helper was started by hand and has no such parent. */
static bool is_orphan(void)
{
        struct ucred peer;
        socklen_t size = sizeof peer;

        return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &peer, &size) >= 0 && peer.pid > 0 &&
               peer.pid != getppid();
}

int ald_child_side_begin(uint64_t data_max)
{
        int answers, null;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (is_orphan())
                return -ESRCH;
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        limit_resources(data_max);

        answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (answers < 0)
                return -errno;
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
                return -errno;
        close(null);
        return answers;
}

ssize_t ald_child_side_request(char *buffer, size_t size)
{
        ssize_t n;

        do
                n = read(STDIN_FILENO, buffer, size - 1);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                return 0;
        buffer[n] = '\0';
        return n;
}

int ald_child_side_answer(int fd, AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format(kind, fields);
        size_t length = text ? strlen(text) : 0;

        if (!text || length + 1 > ALD_CHILD_MESSAGE_MAX)
                return -EMSGSIZE;
        text[length] = '\n';
        return write(fd, text, length + 1) < 0 ? -errno : 0;
}

char *ald_child_side_text(const char *text)
{
        g_autofree char *copy = g_strstrip(g_strdup(text));

        return *copy == '\0' ? NULL : g_steal_pointer(&copy);
}
