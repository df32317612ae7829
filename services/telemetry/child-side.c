/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/telemetry/child-side.h"
#include "services/telemetry/child.h"

/* RLIMIT_DATA rather than RLIMIT_AS: GPU drivers reserve more addresses than there is memory. The shadow
 * memory of a sanitizer counts as data, though. */
static void limit(uint64_t data_max)
{
        const struct rlimit none = { 0, 0 };

        (void) setrlimit(RLIMIT_CORE, &none);
#ifndef WITH_SANITIZER
        const struct rlimit data = { data_max, data_max };

        (void) setrlimit(RLIMIT_DATA, &data);
#endif
}

/* A parent that died before it was tied to sends no signal. By hand there is no such socket. */
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
        limit(data_max);

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

int ald_child_side_answer(int fd, json_t *answer)
{
        char *text = json_dumps(answer, JSON_COMPACT);
        size_t length;
        int r = 0;

        json_decref(answer);
        if (!text)
                return -ENOMEM;
        length = strlen(text);
        text[length] = '\n';
        if (length + 1 > ALD_CHILD_MESSAGE_MAX)
                r = -EMSGSIZE;
        else if (write(fd, text, length + 1) < 0)
                r = -errno;
        free(text);
        return r;
}

json_t *ald_child_side_error(const char *format, ...)
{
        char reason[256];
        va_list arguments;
        json_t *answer;

        va_start(arguments, format);
        vsnprintf(reason, sizeof reason, format, arguments);
        va_end(arguments);
        answer = json_pack("{s:s}", "error", reason);
        /* Text of a driver need not be UTF-8. */
        return answer ?: json_pack("{s:s}", "error", "the driver tells no readable reason");
}
