/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <glib.h>

#include "common/fd.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/kept-file.h"

#define NUMBER_MAX 64u

void ald_kept_file_init(AldKeptFile *file, int root, const char *path)
{
        *file = (AldKeptFile){ .root = root, .fd = -1, .path = g_strdup(path) };
}

void ald_kept_file_clear(AldKeptFile *file)
{
        ald_fd_close(&file->fd);
        g_clear_pointer(&file->path, g_free);
}

/* Chooses a lower level for normal errors: a kernel or machine lacks the file, or only root can read it. */
static GLogLevelFlags log_level_of(int error)
{
        switch (error) {
        case -ENOENT:
        case -EOPNOTSUPP:
                return G_LOG_LEVEL_INFO;
        case -EACCES:
        case -EPERM:
                return G_LOG_LEVEL_MESSAGE;
        default:
                return G_LOG_LEVEL_WARNING;
        }
}

void ald_kept_file_warn(AldKeptFile *file, int error)
{
        if (file->warned)
                return;
        file->warned = true;
        g_log_structured(G_LOG_DOMAIN, log_level_of(error), "MESSAGE",
                "Cannot read /%s: %s; its values are omitted", file->path, g_strerror(-error));
}

/* Returns whether the file was deleted. The kernel does not replace its files, but a fake root may, and a
 * deleted one would be read forever. */
static bool was_replaced(int fd)
{
        struct stat st;

        return fstat(fd, &st) >= 0 && st.st_nlink == 0;
}

ssize_t ald_kept_file_read(AldKeptFile *file, char *buffer, size_t size)
{
        ssize_t n;

        if (file->fd >= 0 && was_replaced(file->fd))
                ald_fd_close(&file->fd);
        if (file->fd < 0)
                file->fd = ald_sysroot_open_file(file->root, file->path);
        n = file->fd < 0 ? file->fd : ald_sysroot_reread(file->fd, buffer, size - 1);
        if (n == -EFBIG) {
                buffer[size - 1] = '\0';
                return (ssize_t) size - 1;
        }
        if (n < 0) {
                ald_kept_file_warn(file, (int) n);
                ald_fd_close(&file->fd);
        }
        return n;
}

static int parse_int64(const char *text, int64_t *ret)
{
        const char *digits = *text == '-' ? text + 1 : text;
        long long value;
        char *end;

        if (!g_ascii_isdigit(*digits))
                return -EBADMSG;
        errno = 0;
        value = strtoll(text, &end, 10);
        if (errno != 0)
                return -errno;
        while (g_ascii_isspace(*end))
                end++;
        if (*end != '\0')
                return -EBADMSG;
        *ret = value;
        return 0;
}

int ald_kept_file_read_int64(AldKeptFile *file, int64_t *ret)
{
        char buffer[NUMBER_MAX];
        ssize_t n = ald_kept_file_read(file, buffer, sizeof buffer);
        int r;

        if (n < 0)
                return (int) n;
        r = parse_int64(buffer, ret);
        if (r < 0)
                ald_kept_file_warn(file, r);
        return r;
}
