/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/common/sysroot.h"

#define FIRST_READ 4096u

int ald_sysroot_open(void)
{
        const char *path = g_getenv("ALIDADE_SYSROOT");
        int fd = open(path && *path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* Opens without waiting, since a fake or foreign root may hold a FIFO. */
int ald_sysroot_open_file(int root, const char *path)
{
        int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        return fd < 0 ? -errno : fd;
}

ssize_t ald_sysroot_reread(int fd, char *buffer, size_t size)
{
        size_t have = 0;

        while (have < size) {
                ssize_t n = pread(fd, buffer + have, size - have, (off_t) have);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0) {
                        buffer[have] = '\0';
                        return (ssize_t) have;
                }
                have += (size_t) n;
        }
        return -EFBIG;
}

int ald_sysroot_read(int root, const char *path, char **ret)
{
        ald_fd int fd = ald_sysroot_open_file(root, path);

        if (fd < 0)
                return fd;

        for (size_t size = FIRST_READ; size <= ALD_SYSROOT_FILE_MAX; size *= 4) {
                g_autofree char *buffer = g_malloc(size);
                ssize_t n = ald_sysroot_reread(fd, buffer, size);

                if (n == -EFBIG)
                        continue;
                if (n < 0)
                        return (int) n;
                *ret = g_steal_pointer(&buffer);
                return 0;
        }
        return -EFBIG;
}

int ald_sysroot_read_string(int root, const char *path, char **ret)
{
        g_autofree char *text = NULL, *valid = NULL;
        int r = ald_sysroot_read(root, path, &text);

        if (r < 0)
                return r;
        valid = g_utf8_make_valid(text, -1);
        if (*g_strstrip(valid) == '\0')
                return -ENODATA;
        *ret = g_steal_pointer(&valid);
        return 0;
}

static bool is_number(const char *text, bool with_sign)
{
        if (with_sign && *text == '-')
                text++;
        return g_ascii_isdigit(*text);
}

int ald_sysroot_read_uint64(int root, const char *path, uint64_t *ret)
{
        g_autofree char *text = NULL;
        char *end;
        int r = ald_sysroot_read_string(root, path, &text);

        if (r < 0)
                return r;
        if (!is_number(text, false))
                return -EBADMSG;
        errno = 0;
        unsigned long long value = strtoull(text, &end, g_str_has_prefix(text, "0x") ? 16 : 10);
        if (*end != '\0')
                return -EBADMSG;
        if (errno != 0)
                return -errno;
        *ret = value;
        return 0;
}

int ald_sysroot_read_int64(int root, const char *path, int64_t *ret)
{
        g_autofree char *text = NULL;
        char *end;
        int r = ald_sysroot_read_string(root, path, &text);

        if (r < 0)
                return r;
        if (!is_number(text, true))
                return -EBADMSG;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (*end != '\0')
                return -EBADMSG;
        if (errno != 0)
                return -errno;
        *ret = value;
        return 0;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int ald_sysroot_list(int root, const char *path, char ***ret)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent *entry;
        DIR *dir;

        if (fd < 0)
                return -errno;
        dir = fdopendir(fd);
        if (!dir) {
                int r = -errno;
                close(fd);
                return r;
        }
        while ((entry = readdir(dir)))
                if (!g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, ".."))
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        closedir(dir);

        g_ptr_array_sort(names, compare_names);
        g_ptr_array_add(names, NULL);
        *ret = (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
        return 0;
}

int ald_sysroot_link_target(int root, const char *path, char **ret)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(root, path, target, sizeof target - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        *ret = g_strdup(target);
        return 0;
}

int ald_sysroot_link_name(int root, const char *path, char **ret)
{
        g_autofree char *target = NULL;
        int r = ald_sysroot_link_target(root, path, &target);

        if (r < 0)
                return r;
        *ret = g_path_get_basename(target);
        return 0;
}

bool ald_sysroot_exists(int root, const char *path)
{
        return faccessat(root, path, F_OK, 0) == 0;
}
