/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "placement/model/file-head.h"

#define WINDOW (64u * 1024)

/* Sets the message. A path need not be UTF-8, but a message must be. */
static int set_error(char **ret_error, int r, const char *path, const char *message)
{
        g_autofree char *shown = ret_error ? g_filename_display_name(path) : NULL;

        if (ret_error)
                *ret_error = g_strdup_printf("%s: %s", shown, message);
        return r;
}

int ald_file_fail(char **ret_error, int r, const char *path, const char *format, ...)
{
        g_autofree char *reason = NULL;
        va_list args;

        va_start(args, format);
        reason = g_strdup_vprintf(format, args);
        va_end(args);
        return set_error(ret_error, r, path, reason);
}

int ald_file_head_fail(AldFileHead *head, int r, const char *format, ...)
{
        g_autofree char *reason = NULL, *message = NULL;
        va_list args;

        va_start(args, format);
        reason = g_strdup_vprintf(format, args);
        va_end(args);
        message = g_strdup_printf("byte %" PRIu64 ": %s", head->at, reason);
        return set_error(head->ret_error, r, head->path, message);
}

/* Without O_NONBLOCK, opening a FIFO would wait for a writer. */
static int open_regular(const char *path, char **ret_error, int *ret_fd, uint64_t *ret_size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = 0;
        struct stat info;

        if (fd < 0 || fstat(fd, &info) < 0)
                r = ald_file_fail(ret_error, -errno, path, "%s", g_strerror(errno));
        else if (!S_ISREG(info.st_mode))
                r = ald_file_fail(ret_error, -EINVAL, path, "not a regular file");
        if (r < 0 && fd >= 0)
                close(fd);
        if (r < 0)
                return r;
        *ret_fd = fd;
        *ret_size = (uint64_t) info.st_size;
        return 0;
}

int ald_file_head_open(AldFileHead *head, const char *path, uint64_t most, char **ret_error)
{
        uint64_t size = 0;
        int fd = -1, r;

        r = open_regular(path, ret_error, &fd, &size);
        if (r < 0)
                return r;
        *head = (AldFileHead){ .path = g_strdup(path),
                .fd = fd,
                .size = size,
                .most = most,
                .window = g_malloc(WINDOW),
                .ret_error = ret_error };
        return 0;
}

void ald_file_head_close(AldFileHead *head)
{
        if (head->fd >= 0)
                close(head->fd);
        g_free(head->path);
        g_free(head->window);
        *head = ALD_FILE_HEAD_CLOSED;
}

static int check_room(AldFileHead *head, uint64_t n)
{
        if (n > head->size - head->at)
                return ald_file_head_fail(
                        head, -EBADMSG, "%" PRIu64 " bytes should follow, but the file ends", n);
        if (n > head->most - MIN(head->at, head->most))
                return ald_file_head_fail(head, -E2BIG,
                        "the header has more than %" PRIu64 " bytes, which is the limit", head->most);
        return 0;
}

static int fill_window(AldFileHead *head)
{
        ssize_t n;

        do
                n = pread(head->fd, head->window, WINDOW, (off_t) head->at);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return ald_file_head_fail(head, -errno, "%s", g_strerror(errno));
        if (n == 0)
                return ald_file_head_fail(head, -EBADMSG, "the file was truncated while it was read");
        head->window_at = head->at;
        head->window_n = (size_t) n;
        return 0;
}

int ald_file_head_read(AldFileHead *head, void *to, size_t n)
{
        uint8_t *next = to;
        int r = check_room(head, n);

        while (r >= 0 && n > 0) {
                uint64_t in = head->at - head->window_at;
                size_t some;

                if (head->at < head->window_at || in >= head->window_n) {
                        r = fill_window(head);
                        continue;
                }
                some = MIN(n, head->window_n - (size_t) in);
                memcpy(next, head->window + in, some);
                next += some;
                n -= some;
                head->at += some;
        }
        return r;
}

int ald_file_head_skip(AldFileHead *head, uint64_t n)
{
        int r = check_room(head, n);

        if (r >= 0)
                head->at += n;
        return r;
}

int ald_file_head_u32(AldFileHead *head, uint32_t *ret)
{
        uint32_t value;
        int r = ald_file_head_read(head, &value, sizeof value);

        if (r >= 0)
                *ret = GUINT32_FROM_LE(value);
        return r;
}

int ald_file_head_u64(AldFileHead *head, uint64_t *ret)
{
        uint64_t value;
        int r = ald_file_head_read(head, &value, sizeof value);

        if (r >= 0)
                *ret = GUINT64_FROM_LE(value);
        return r;
}

bool ald_file_name_is_plain(const char *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!g_ascii_isprint(bytes[i]))
                        return false;
        return n > 0;
}
