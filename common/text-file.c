/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "common/fd.h"
#include "common/text-file.h"

/* Reads until the buffer is full or the file ends. Returns the bytes read. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
        size_t done = 0;
        ssize_t n;

        while (done < size && (n = read(fd, buffer + done, size - done)) != 0)
                if (n > 0)
                        done += (size_t) n;
                else if (errno != EINTR)
                        return -errno;
        return (ssize_t) done;
}

int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_size)
{
        ald_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        g_autofree char *buffer = NULL;
        struct stat st;
        ssize_t n;

        /* Opening a socket fails with ENXIO. */
        if (fd < 0)
                return errno == ENXIO ? -EINVAL : -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        buffer = g_malloc(max + 1);
        n = read_all(fd, buffer, max + 1);
        if (n < 0)
                return (int) n;
        if ((size_t) n > max)
                return -EFBIG;
        buffer[n] = '\0';
        *ret = g_realloc(g_steal_pointer(&buffer), (gsize) n + 1);
        if (ret_size)
                *ret_size = (size_t) n;
        return 0;
}

const char *ald_text_file_reason(int error)
{
        switch (error) {
        case -EINVAL:
                return "not a regular file";
        case -EFBIG:
                return "too large";
        default:
                return g_strerror(-error);
        }
}
