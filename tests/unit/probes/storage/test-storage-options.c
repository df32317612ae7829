/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "probes/storage/storage-options.h"

/* The arguments are separated by spaces. */
static int parse(const char *line, AldStorageOptions *ret, char **ret_error)
{
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        g_autofree char *output = NULL;
        int r;

        g_test_message("%s", line);
        r = ald_storage_options_parse((int) g_strv_length(words), words, ret, &output, ret_error);
        g_assert_true((r < 0) == (*ret_error != NULL));
        g_assert_true((r > 0) == (output != NULL));
        return r;
}

static void test_defaults(void)
{
        g_auto(AldStorageOptions) options = {};
        g_autofree char *error = NULL;

        g_assert_cmpint(parse("x /srv/./models/ /opt", &options, &error), ==, 0);
        g_assert_cmpuint(options.bytes, ==, 256000000);
        g_assert_cmpstr(options.root, ==, "/");
        g_assert_cmpstr(options.paths[0], ==, "/srv/models");
        g_assert_cmpstr(options.paths[1], ==, "/opt");
        g_assert_null(options.paths[2]);
        g_assert_null(options.file_system);
        g_assert_null(options.still);
        g_assert_cmpint(options.progress_fd, ==, -1);
        g_assert_false(
                options.lists || options.optional || options.gives_way || options.json || options.lenient);
}

static void test_all(void)
{
        g_auto(AldStorageOptions) options = {};
        g_autofree char *error = NULL;

        g_assert_cmpint(parse("x --list --json --give-way --optional --still=sda,sdb --bytes=1G "
                              "--file-system=/srv --progress-fd=3 /srv",
                                &options, &error),
                ==, 0);
        g_assert_true(options.lists && options.optional && options.gives_way && options.json);
        g_assert_cmpuint(options.bytes, ==, 1000000000);
        g_assert_cmpstr(options.file_system, ==, "/srv");
        g_assert_cmpstr(options.still[1], ==, "sdb");
        g_assert_cmpint(options.progress_fd, ==, 3);
}

static void test_refused(void)
{
        static const struct {
                const char *line, *reason;
        } cases[] = {
                { "x", "name the directories that hold models" },
                { "x models", "not an absolute path without \"..\": models" },
                { "x /srv/../etc", "not an absolute path without \"..\": /srv/../etc" },
                { "x --bytes=33M /srv", "--bytes: not from 34M to 8G: 33M" },
                { "x --bytes=9G /srv", "--bytes: not from 34M to 8G: 9G" },
                { "x --file-system=sda1 /srv", "--file-system: not a mount point: sda1" },
                { "x --progress-fd=x /srv", "--progress-fd: not a number from 0 to 65535: x" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldStorageOptions options = { .bytes = 1 };
                g_autofree char *error = NULL;

                g_assert_cmpint(parse(cases[i].line, &options, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].reason);
                g_assert_cmpuint(options.bytes, ==, 1);
        }
}

static void test_help(void)
{
        g_auto(AldStorageOptions) options = {};
        g_autofree char *error = NULL;

        g_assert_cmpint(parse("x --help", &options, &error), ==, 1);
        g_assert_cmpint(parse("x --version", &options, &error), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-options/defaults", test_defaults);
        g_test_add_func("/storage-options/all", test_all);
        g_test_add_func("/storage-options/refused", test_refused);
        g_test_add_func("/storage-options/help", test_help);
        return g_test_run();
}
