/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "common/fd.h"
#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"

static bool is_blank(char c)
{
        return (unsigned char) c <= ' ' || c == 0x7f;
}

char *ald_firmware_text_normalize(const char *raw, size_t length)
{
        g_autofree char *tidy = NULL;
        size_t n = 0;

        while (length > 0 && is_blank(raw[length - 1]))
                length--;
        while (length > 0 && is_blank(*raw)) {
                raw++;
                length--;
        }
        if (length == 0 || length > ALD_TEXT_MAX || !g_utf8_validate(raw, (gssize) length, NULL))
                return NULL;

        tidy = g_malloc(length + 1);
        for (const char *p = raw, *next; p < raw + length; p = next) {
                next = g_utf8_next_char(p);
                if (!g_unichar_iscntrl(g_utf8_get_char(p)) && *p != ' ') {
                        memcpy(tidy + n, p, (size_t) (next - p));
                        n += (size_t) (next - p);
                } else if (n > 0 && tidy[n - 1] != ' ')
                        tidy[n++] = ' ';
        }
        if (n > 0 && tidy[n - 1] == ' ')
                n--;
        if (n == 0)
                return NULL;
        tidy[n] = '\0';
        return g_steal_pointer(&tidy);
}

static bool is_missing(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENODEV;
}

ssize_t ald_bytes_try_read(int root, const char *path, char **ret)
{
        ald_fd int fd = ald_sysroot_open_file(root, path);
        g_autofree char *bytes = NULL;
        ssize_t n;

        if (fd < 0)
                return fd;
        bytes = g_malloc(ALD_BYTES_MAX);
        n = ald_sysroot_reread(fd, bytes, ALD_BYTES_MAX);
        if (n >= 0)
                *ret = g_steal_pointer(&bytes);
        return n;
}

ssize_t ald_bytes_read(int root, const char *path, char **ret)
{
        ssize_t n = ald_bytes_try_read(root, path, ret);

        if (n < 0 && !is_missing((int) n))
                g_warning("Cannot read %s: %s", path, g_strerror((int) -n));
        return n;
}

char *ald_text_read(int root, const char *path)
{
        g_autofree char *bytes = NULL;
        ssize_t n = ald_bytes_read(root, path, &bytes);

        return n < 0 ? NULL : ald_firmware_text_normalize(bytes, (size_t) n);
}
