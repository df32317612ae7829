/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "common/fd.h"
#include "record/character.h"
#include "services/common/sysroot.h"
#include "services/identity/name-store.h"

#define FILE_NAME "friendly-name"
#define FILE_MAX \
        (ALD_NAME_MAX * 4 + 2) /* the longest name in UTF-8, a newline, and room for the terminator */

/* Returns whether a character is invisible, or breaks or reverses the line it is shown in. */
static bool is_control(gunichar c)
{
        GUnicodeType type = g_unichar_type(c);

        return type == G_UNICODE_CONTROL || type == G_UNICODE_LINE_SEPARATOR ||
               type == G_UNICODE_PARAGRAPH_SEPARATOR || (c >= 0x202a && c <= 0x202e) ||
               (c >= 0x2066 && c <= 0x2069);
}

const char *ald_name_refuse(const char *name)
{
        if (!g_utf8_validate(name, -1, NULL))
                return "it is not UTF-8";
        if (g_utf8_strlen(name, -1) > (glong) ALD_NAME_MAX)
                return "it is longer than 64 characters";
        for (const char *p = name; *p; p = g_utf8_next_char(p))
                if (is_control(g_utf8_get_char(p)))
                        return "it contains control characters";
        return *name && !ald_characters_are_visible(name) ? "it is blank" : NULL;
}

static int set_file_aside(int dir, const char *directory, const char *reason)
{
        int r = renameat(dir, FILE_NAME, dir, FILE_NAME ".damaged") < 0 ? -errno : 0;

        if (r == 0)
                g_warning("%s/" FILE_NAME " is damaged (%s); ignoring it and renaming it to " FILE_NAME
                          ".damaged",
                        directory, reason);
        else
                g_warning("%s/" FILE_NAME " is damaged (%s); ignoring it, but it cannot be renamed: %s",
                        directory, reason, g_strerror(-r));
        return r;
}

/* Returns why the text read from the file is not a valid name, or NULL. Removes a trailing newline. */
static const char *check_text(char *text, size_t n)
{
        if (n > 0 && text[n - 1] == '\n')
                text[--n] = '\0';
        if (n == 0)
                return "empty";
        if (strlen(text) != n)
                return "it contains NUL bytes";
        return ald_name_refuse(text);
}

/* Reads the file. Returns -EBADMSG with the reason if it exists but does not contain a name. */
static int read_file(int dir, char text[static FILE_MAX], const char **ret_reason)
{
        ald_fd int fd = openat(dir, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        const char *reason;
        struct stat st;
        ssize_t n = 0;

        if ((fd < 0 && errno != ELOOP) || (fd >= 0 && fstat(fd, &st) < 0))
                return -errno;
        if (fd >= 0 && S_ISREG(st.st_mode))
                n = ald_sysroot_reread(fd, text, FILE_MAX);
        if (n < 0 && n != -EFBIG)
                return (int) n;
        if (fd < 0)
                reason = "a symbolic link";
        else if (!S_ISREG(st.st_mode))
                reason = "not a regular file";
        else
                reason = n < 0 ? "too long" : check_text(text, (size_t) n);
        if (!reason)
                return 0;
        *ret_reason = reason;
        return -EBADMSG;
}

char *ald_name_store_load(const char *directory)
{
        ald_fd int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char text[FILE_MAX];
        const char *reason = NULL;
        int r = dir < 0 ? -errno : read_file(dir, text, &reason);

        if (r == 0)
                return g_strdup(text);
        if (reason)
                (void) set_file_aside(dir, directory, reason);
        else if (r != -ENOENT)
                g_warning("Failed to read %s/" FILE_NAME ": %s", directory, g_strerror(-r));
        return NULL;
}

/* Sets a file aside that is not a valid name, since it may still be valuable. */
static int set_invalid_aside(int dir, const char *directory)
{
        char text[FILE_MAX];
        const char *reason;
        int r = read_file(dir, text, &reason);

        return r == -EBADMSG ? set_file_aside(dir, directory, reason) : r == -ENOENT ? 0 : r;
}

static int write_all(int fd, const char *data, size_t n)
{
        while (n > 0) {
                ssize_t written = write(fd, data, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                data += written;
                n -= (size_t) written;
        }
        return fsync(fd) < 0 ? -errno : 0;
}

static int write_file(int dir, const char *name, const char *text)
{
        ald_fd int fd = openat(
                dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0644);

        return fd < 0 ? -errno : write_all(fd, text, strlen(text));
}

static int replace_file(int dir, const char *text)
{
        int r = write_file(dir, FILE_NAME ".new", text);

        if (r >= 0 && renameat(dir, FILE_NAME ".new", dir, FILE_NAME) < 0)
                r = -errno;
        if (r < 0)
                unlinkat(dir, FILE_NAME ".new", 0);
        return r;
}

int ald_name_store_save(const char *directory, const char *name)
{
        ald_fd int dir = -1;
        g_autofree char *text = NULL;
        int r;

        if (g_mkdir_with_parents(directory, 0755) < 0)
                return -errno;
        dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        text = g_strconcat(name, "\n", NULL);
        r = set_invalid_aside(dir, directory);
        if (r >= 0 && *name)
                r = replace_file(dir, text);
        else if (r >= 0 && unlinkat(dir, FILE_NAME, 0) < 0 && errno != ENOENT)
                r = -errno;
        /* The change is made, even if the file system cannot guarantee its durability. */
        if (r >= 0)
                (void) fsync(dir);
        return r;
}
