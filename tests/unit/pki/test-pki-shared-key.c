/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "pki/shared-key.h"

#define SECRET "correct horse battery staple"

static int load(const char *text, mode_t mode, AldSharedKey *ret, char **ret_error)
{
        g_autofree char *folder = g_dir_make_tmp("alidade-key-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(folder, "key", NULL);
        int r;

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        g_assert_cmpint(g_chmod(path, mode), ==, 0);
        r = ald_shared_key_load(path, ret, ret_error);
        g_unlink(path);
        g_rmdir(folder);
        return r;
}

static void test_load(void)
{
        AldSharedKey one, same, other;

        g_assert_cmpint(load(SECRET, 0600, &one, NULL), ==, 0);
        g_assert_cmpint(load(SECRET " \r\n", 0640, &same, NULL), ==, 0);
        g_assert_cmpint(load(SECRET "!", 0600, &other, NULL), ==, 0);
        g_assert_cmpmem(&one, sizeof one, &same, sizeof same);
        g_assert_cmpint(memcmp(&one, &other, sizeof one), !=, 0);
}

static void test_refused(void)
{
        g_autofree char *everyone = NULL, *brief = NULL, *missing = NULL;
        g_autofree char *lengthy = g_strnfill(ALD_SHARED_KEY_FILE_MAX + 1, 'x');
        AldSharedKey key;

        g_assert_cmpint(load(SECRET, 0644, &key, &everyone), ==, -EPERM);
        g_assert_nonnull(strstr(everyone, "readable by all users"));
        g_assert_cmpint(load("fifteen letters\n", 0600, &key, &brief), ==, -EKEYREJECTED);
        g_assert_nonnull(strstr(brief, "at least 16 bytes"));
        g_assert_cmpint(load(lengthy, 0600, &key, NULL), ==, -EFBIG);
        g_assert_cmpint(ald_shared_key_load("/nonexistent/key", &key, &missing), ==, -ENOENT);
        g_assert_cmpstr(missing, ==, "/nonexistent/key: No such file or directory");
        g_assert_cmpint(ald_shared_key_load("/dev/null", &key, NULL), ==, -EINVAL);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pki/shared-key/load", test_load);
        g_test_add_func("/pki/shared-key/refused", test_refused);
        return g_test_run();
}
