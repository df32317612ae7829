/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <openssl/crypto.h>

#include "pki/file.h"

int ald_pki_fd_write(int fd, const char *bytes, size_t n)
{
        while (n > 0) {
                ssize_t written = TEMP_FAILURE_RETRY(write(fd, bytes, n));

                if (written < 0)
                        return -errno;
                bytes += written;
                n -= (size_t) written;
        }
        return 0;
}

static int fill_file(int fd, const char *text, mode_t mode, uid_t uid, gid_t gid)
{
        int r;

        if ((uid != (uid_t) -1 || gid != (gid_t) -1) && fchown(fd, uid, gid) < 0)
                return -errno;
        if (fchmod(fd, mode) < 0)
                return -errno;
        r = ald_pki_fd_write(fd, text, strlen(text));
        if (r < 0)
                return r;
        return fsync(fd) < 0 ? -errno : 0;
}

/* Makes a rename durable, which needs its folder to be written too. */
static int sync_folder(const char *path)
{
        g_autofree char *folder = g_path_get_dirname(path);
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (fd < 0)
                return -errno;
        r = fsync(fd) < 0 ? -errno : 0;
        close(fd);
        return r;
}

int ald_pki_file_write(const char *path, const char *text, mode_t mode, uid_t uid, gid_t gid)
{
        g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
        int fd = mkostemp(temporary, O_CLOEXEC);
        int r;

        if (fd < 0)
                return -errno;
        r = fill_file(fd, text, mode, uid, gid);
        close(fd);
        if (r == 0 && rename(temporary, path) < 0)
                r = -errno;
        if (r < 0) {
                unlink(temporary);
                return r;
        }
        return sync_folder(path);
}

static int read_all(int fd, size_t max, char **ret, size_t *ret_n)
{
        char *bytes = g_malloc(max + 1);
        size_t n = 0;
        ssize_t got;

        do {
                got = TEMP_FAILURE_RETRY(read(fd, bytes + n, max + 1 - n));
                n += got > 0 ? (size_t) got : 0;
        } while (got > 0 && n <= max);
        if (got < 0 || n > max) {
                int r = got < 0 ? -errno : -EFBIG;

                OPENSSL_cleanse(bytes, n);
                g_free(bytes);
                return r;
        }
        bytes[n] = '\0';
        *ret = bytes;
        if (ret_n)
                *ret_n = n;
        return 0;
}

static int read_at(
        int folder, const char *name, int flags, size_t max, char **ret, size_t *ret_n, mode_t *ret_mode)
{
        /* Opening a FIFO would wait without O_NONBLOCK. */
        int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
        struct stat st;
        int r;

        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                r = -errno;
        else if (!S_ISREG(st.st_mode))
                r = -EINVAL;
        else
                r = read_all(fd, max, ret, ret_n);
        close(fd);
        if (r == 0)
                *ret_mode = st.st_mode & 07777;
        return r;
}

int ald_pki_file_read_with_mode(const char *path, size_t max, char **ret, size_t *ret_n, mode_t *ret_mode)
{
        return read_at(AT_FDCWD, path, 0, max, ret, ret_n, ret_mode);
}

int ald_pki_file_read(const char *path, size_t max, char **ret, size_t *ret_n)
{
        mode_t unused;

        return read_at(AT_FDCWD, path, 0, max, ret, ret_n, &unused);
}

int ald_pki_file_read_at(int folder, const char *name, size_t max, char **ret, size_t *ret_n)
{
        mode_t unused;

        return read_at(folder, name, O_NOFOLLOW, max, ret, ret_n, &unused);
}
