/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/identity/os-release.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void test_parse(void)
{
        static const struct {
                const char *text;
                const char *name;
        } cases[] = {
                { "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n",
                        "Debian GNU/Linux 12 (bookworm)" },
                { "PRETTY_NAME=Void\n", "Void" },
                { "PRETTY_NAME=Void", "Void" },
                { "PRETTY_NAME='Single $HOME \\n'\n", "Single $HOME \\n" },
                { "PRETTY_NAME=\"a \\\"quoted\\\" \\$word \\`x\\` \\\\ \\z\"\n",
                        "a \"quoted\" $word `x` \\ \\z" },
                { "PRETTY_NAME=\"Two\"' halves'\n", "Two halves" },
                { "PRETTY_NAME=escaped\\ blank\n", "escaped blank" },
                { "PRETTY_NAME=\"joined \\\nline\"\n", "joined line" },
                { "PRETTY_NAME=\"over\ntwo lines\"\n", "over two lines" },
                { "PRETTY_NAME=trailing   \n", "trailing" },
                { "PRETTY_NAME=windows\r\n", "windows" },
                { "# PRETTY_NAME=no\n\nPRETTY_NAME=yes\n", "yes" },
                { "PRETTY_NAME=first\nPRETTY_NAME=last\n", "last" },
                { "NOT_PRETTY_NAME=no\nPRETTY_NAMES=no\n", NULL },
                { "NAME=Arch\nVERSION=\"1 2\"\n", "Arch 1 2" },
                { "NAME=Arch\n", "Arch" },
                { "VERSION=12\n", NULL },
                { "PRETTY_NAME=\nNAME=Arch\n", "Arch" },
                { "PRETTY_NAME=\"\"\n", NULL },
                { "PRETTY_NAME=two words\nNAME=ok\n", "ok" },
                { "PRETTY_NAME=\"open\nNAME=ok\n", "ok" },
                { "PRETTY_NAME=open\\", NULL },
                { "PRETTY_NAME=\"bad \xff\"\nNAME=ok\n", "ok" },
                { "PRETTY_NAME\n=x\n", NULL },
                { "", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = ald_os_release_parse(cases[i].text, strlen(cases[i].text));

                g_test_message("case %zu", i);
                g_assert_cmpstr(name, ==, cases[i].name);
        }
}

static void test_parse_bytes(void)
{
        static const char text[] = "PRETTY_NAME=a\0b\nNAME=ok\n";
        g_autofree char *name = ald_os_release_parse(text, sizeof text - 1);
        g_autoptr(GString) longest = g_string_new("PRETTY_NAME=");

        g_assert_cmpstr(name, ==, "ok");
        for (int i = 0; i < 1000 * 1000; i++)
                g_string_append_c(longest, 'x');
        g_assert_null(ald_os_release_parse(longest->str, longest->len));
}

static void test_read(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *from_usr = NULL, *from_etc = NULL, *after_damage = NULL;

        g_assert_null(ald_os_release_read(root->fd));
        fake_root_write(root, "usr/lib/os-release", "PRETTY_NAME=usr\n");
        from_usr = ald_os_release_read(root->fd);
        g_assert_cmpstr(from_usr, ==, "usr");
        fake_root_write(root, "etc/os-release", "PRETTY_NAME=etc\n");
        from_etc = ald_os_release_read(root->fd);
        g_assert_cmpstr(from_etc, ==, "etc");

        log_count_reset();
        fake_root_remove(root, "etc/os-release");
        fake_root_mkdir(root, "etc/os-release");
        after_damage = ald_os_release_read(root->fd);
        g_assert_cmpstr(after_damage, ==, "usr");
        g_assert_cmpuint(log_count("Cannot read etc/os-release"), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/identity/os-release/parse", test_parse);
        g_test_add_func("/identity/os-release/parse-bytes", test_parse_bytes);
        g_test_add_func("/identity/os-release/read", test_read);
        return g_test_run();
}
