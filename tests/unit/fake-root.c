/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fake-root.h"

FakeRoot *fake_root_new(void)
{
        g_autoptr(GError) error = NULL;
        FakeRoot *root = g_new(FakeRoot, 1);

        root->dir = g_dir_make_tmp("alidade-root-XXXXXX", &error);
        g_assert_no_error(error);
        root->fd = open(root->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        g_assert_cmpint(root->fd, >=, 0);
        return root;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
        return remove(path);
}

static void remove_tree(const char *path)
{
        int r = nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

        g_assert_true(r == 0 || errno == ENOENT);
}

void fake_root_free(FakeRoot *root)
{
        close(root->fd);
        remove_tree(root->dir);
        g_free(root->dir);
        g_free(root);
}

/* The full path, whose folder is there then. */
static char *place(FakeRoot *root, const char *path)
{
        char *full = g_build_filename(root->dir, path, NULL);
        g_autofree char *folder = g_path_get_dirname(full);

        g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
        return full;
}

void fake_root_write_bytes(FakeRoot *root, const char *path, const void *content, size_t size)
{
        g_autofree char *full = place(root, path);
        int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, content, size), ==, (ssize_t) size);
        close(fd);
}

void fake_root_write(FakeRoot *root, const char *path, const char *content)
{
        fake_root_write_bytes(root, path, content, strlen(content));
}

void fake_root_write_all(FakeRoot *root, ...)
{
        const char *path;
        va_list ap;

        va_start(ap, root);
        while ((path = va_arg(ap, const char *)))
                fake_root_write(root, path, va_arg(ap, const char *));
        va_end(ap);
}

void fake_root_mkdir(FakeRoot *root, const char *path)
{
        g_autofree char *full = place(root, path);

        g_assert_cmpint(g_mkdir_with_parents(full, 0755), ==, 0);
}

void fake_root_link(FakeRoot *root, const char *path, const char *target)
{
        g_autofree char *full = place(root, path);

        unlink(full);
        g_assert_cmpint(symlink(target, full), ==, 0);
}

void fake_root_fifo(FakeRoot *root, const char *path)
{
        g_autofree char *full = place(root, path);

        g_assert_cmpint(mkfifo(full, 0644), ==, 0);
}

void fake_root_remove(FakeRoot *root, const char *path)
{
        g_autofree char *full = g_build_filename(root->dir, path, NULL);

        remove_tree(full);
}
