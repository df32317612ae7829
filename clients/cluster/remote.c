/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "clients/cluster/exchange.h"
#include "clients/cluster/home.h"
#include "clients/cluster/input.h"
#include "clients/cluster/remote.h"
#include "clients/command-line/ctl.h"
#include "clients/command-line/print.h"
#include "common/fd.h"

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

static const char *command(bool renew, bool replace, bool broker)
{
        if (replace)
                return broker ? COMMAND("--replace --broker") : COMMAND("--replace");
        if (renew)
                return broker ? COMMAND("--renew --broker") : COMMAND("--renew");
        return broker ? COMMAND("--broker") : COMMAND("");
}

static int start(const char *host, const char *request, const char *remote, GPid *ret_pid, int *ret_output)
{
        /* Of itself, ssh asks the controlling terminal, whatever its input is. */
        const char *asks = isatty(STDIN_FILENO) ? "BatchMode=no" : "BatchMode=yes";
        const char *argv[] = { "ssh", "-T", "-o", asks, "--", host, remote, NULL };
        GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
        ald_fd int input = to_file(request);
        g_autoptr(GError) error = NULL;

        if (input < 0) {
                ald_complain("Cannot save the request: %s", strerror(-input));
                return input;
        }
        if (!g_spawn_async_with_pipes_and_fds(NULL, argv, NULL, flags, NULL, NULL, input, -1, -1, NULL, NULL,
                    0, ret_pid, NULL, ret_output, NULL, &error)) {
                ald_complain("Cannot run ssh: %s", error->message);
                return -EIO;
        }
        return 0;
}

static int explain(const char *host, bool renew, int status)
{
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;
        const char *verb = renew ? "renew" : "join";

        if (code == SSH_FAILED)
                ald_complain("Cannot reach %s by ssh; without ssh, use alidadectl cluster %s --request, then "
                             "%s --accept",
                        host, verb, verb);
        else if (code == NOT_FOUND)
                ald_complain("alidadectl, or sudo for users other than root, is not installed on %s", host);
        else
                ald_complain("%s did not sign. If sudo asks for a password there, %s with root@HOST, or use "
                             "alidadectl cluster %s --request, then %s --accept",
                        host, verb, verb, verb);
        return code == SSH_FAILED || code == NOT_FOUND ? ALD_EXIT_UNREACHABLE
               : code == ALD_EXIT_DENIED               ? ALD_EXIT_DENIED
                                                       : ALD_EXIT_ERROR;
}

int ald_remote_sign(const char *host, const char *request, bool renew, bool replace, bool broker,
        char **ret_bundle, size_t *ret_n)
{
        g_autofree char *bundle = NULL;
        ald_fd int output = -1;
        int status = -1, r;
        size_t n;
        GPid pid;

        if (start(host, request, command(renew, replace, broker), &pid, &output) < 0)
                return ALD_EXIT_ERROR;
        r = ald_input_read_all(output, ALD_BUNDLE_MAX, &bundle, &n);
        ald_fd_close(&output);
        (void) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
        if (r == -EFBIG) {
                ald_complain("%s sent more than a bundle can contain", host);
                return ALD_EXIT_ERROR;
        }
        if (status != 0)
                return explain(host, renew, status);
        if (r < 0)
                return ald_home_failed(r, "Cannot read the output of ssh", NULL);
        *ret_bundle = g_steal_pointer(&bundle);
        *ret_n = n;
        return ALD_EXIT_OK;
}
