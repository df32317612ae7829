/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/home.h"
#include "clients/alidadectl/cluster/input.h"
#include "clients/alidadectl/print.h"
#include "services/common/fd.h"

const char *ald_input_file(const AldClusterOrder *order)
{
        return order->n_args > 0 && strcmp(order->ctl.args[0], "-") != 0 ? order->ctl.args[0] : NULL;
}

int ald_input_read_all(int fd, size_t max, char **ret, size_t *ret_n)
{
        g_autofree char *text = g_malloc(max + 1);
        size_t n = 0;
        ssize_t got;

        do {
                got = TEMP_FAILURE_RETRY(read(fd, text + n, max + 1 - n));
                n += got > 0 ? (size_t) got : 0;
        } while (got > 0 && n <= max);
        if (got < 0 || n > max)
                return got < 0 ? -errno : -EFBIG;
        text[n] = '\0';
        *ret = g_steal_pointer(&text);
        *ret_n = n;
        return 0;
}

int ald_input_read(const AldClusterOrder *order, size_t max, char **ret, size_t *ret_n)
{
        const char *path = ald_input_file(order), *name = path ? path : "standard input";
        ald_fd int opened = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        int r;

        if (path && opened < 0)
                return ald_home_failed(-errno, name, NULL);
        if (!path && isatty(STDIN_FILENO))
                ald_complain("Reading from the terminal; end with Ctrl-D");
        r = ald_input_read_all(path ? opened : STDIN_FILENO, max, ret, ret_n);
        return r < 0 ? ald_home_failed(r, name, NULL) : ALD_EXIT_OK;
}

int ald_output_write_file(const char *path, const char *text)
{
        ald_fd int fd = -1;
        size_t n = strlen(text);
        struct stat st;

        /* A link is followed, not replaced: /dev/stdout is one. */
        if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
                return ald_home_write(path, text, 0644);
        fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return ald_home_failed(-errno, path, NULL);
        while (n > 0) {
                ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, n));

                if (written < 0)
                        return ald_home_failed(-errno, path, NULL);
                text += written;
                n -= (size_t) written;
        }
        return ALD_EXIT_OK;
}
