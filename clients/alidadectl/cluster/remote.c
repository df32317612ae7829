/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/remote.h"
#include "clients/alidadectl/ctl.h"
#include "clients/alidadectl/print.h"
#include "services/common/fd.h"

#define SSH_FAILED 255
#define NOT_FOUND 127

/* Without a terminal sudo could not ask, so it is not to try. The login shell may be any; this is for sh. */
#define COMMAND(options)                                                             \
        "sh -c 'if [ \"$(id -u)\" = 0 ]; then exec alidadectl cluster sign " options \
        " -; else exec sudo -n alidadectl cluster sign " options " -; fi'"

/* A file without a name: one that ends early cannot break a pipe of ours. */
static int to_file(const char *text)
{
        ald_fd int fd = memfd_create("request", MFD_CLOEXEC);
        size_t n = strlen(text);

        if (fd < 0)
                return -errno;
        if (write(fd, text, n) != (ssize_t) n || lseek(fd, 0, SEEK_SET) < 0)
                return -EIO;
        return ald_fd_steal(&fd);
}

static const char *command(bool replace, bool broker)
{
        if (broker)
                return replace ? COMMAND("--replace --broker") : COMMAND("--renew --broker");
        return replace ? COMMAND("--replace") : COMMAND("--renew");
}

static int start(const char *host, const char *request, const char *remote, GPid *ret_pid, int *ret_output)
{
        const char *argv[] = { "ssh", "-T", "--", host, remote, NULL };
        GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
        ald_fd int input = to_file(request);
        g_autoptr(GError) error = NULL;

        if (input < 0) {
                ald_complain("Cannot keep the request: %s", strerror(-input));
                return input;
        }
        if (!g_spawn_async_with_pipes_and_fds(NULL, argv, NULL, flags, NULL, NULL, input, -1, -1, NULL, NULL,
                    0, ret_pid, NULL, ret_output, NULL, &error)) {
                ald_complain("Cannot run ssh: %s", error->message);
                return -EIO;
        }
        return 0;
}

static char *read_all(int fd, size_t *ret_n)
{
        char *text = g_malloc(ALD_BUNDLE_MAX + 1);
        size_t n = 0;
        ssize_t got;

        do {
                got = TEMP_FAILURE_RETRY(read(fd, text + n, ALD_BUNDLE_MAX + 1 - n));
                n += got > 0 ? (size_t) got : 0;
        } while (got > 0 && n <= ALD_BUNDLE_MAX);
        *ret_n = n;
        return text;
}

static int explain(const char *host, int status)
{
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;

        if (code == SSH_FAILED)
                ald_complain("Cannot reach %s by ssh; without ssh: alidadectl cluster join --request", host);
        else if (code == NOT_FOUND)
                ald_complain("alidadectl, or sudo for one who is not root, is not installed on %s", host);
        else
                ald_complain(
                        "%s did not sign. Where sudo asks for a password there, join by root@HOST, or use "
                        "alidadectl cluster join --request",
                        host);
        return code == SSH_FAILED || code == NOT_FOUND ? ALD_EXIT_UNREACHABLE
               : code == ALD_EXIT_DENIED               ? ALD_EXIT_DENIED
                                                       : ALD_EXIT_ERROR;
}

int ald_remote_sign(
        const char *host, const char *request, bool replace, bool broker, char **ret_bundle, size_t *ret_n)
{
        g_autofree char *bundle = NULL;
        ald_fd int output = -1;
        int status = -1;
        size_t n;
        GPid pid;

        if (start(host, request, command(replace, broker), &pid, &output) < 0)
                return ALD_EXIT_ERROR;
        bundle = read_all(output, &n);
        ald_fd_close(&output);
        (void) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
        if (n > ALD_BUNDLE_MAX) {
                ald_complain("%s sends more than any bundle has", host);
                return ALD_EXIT_ERROR;
        }
        if (status != 0)
                return explain(host, status);
        *ret_bundle = g_steal_pointer(&bundle);
        *ret_n = n;
        return ALD_EXIT_OK;
}
