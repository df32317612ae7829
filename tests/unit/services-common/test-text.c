/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/firmware-text.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void test_tidy(void)
{
        static const struct {
                const char *raw;
                const char *tidy;
        } cases[] = {
                { "plain", "plain" },
                { "  both ends \n", "both ends" },
                { "a \t\n  b", "a b" },
                { "bell\a rings", "bell rings" },
                { "Grüße", "Grüße" },
                { "\xc2\x9b"
                  "31m red \xc2\x85",
                        "31m red" },
                { "\xc2\x9b", NULL },
                { "", NULL },
                { " \n\t ", NULL },
                { "Latin\xe9", NULL },
                { "cut\xc3", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *tidy = ald_firmware_text_normalize(cases[i].raw, strlen(cases[i].raw));

                g_assert_cmpstr(tidy, ==, cases[i].tidy);
        }
}

static void test_tidy_limits(void)
{
        g_autofree char *longest = g_strnfill(ALD_TEXT_MAX, 'x');
        g_autofree char *tidy = ald_firmware_text_normalize(longest, ALD_TEXT_MAX);
        g_autofree char *too_long = g_strnfill(ALD_TEXT_MAX + 1, 'x');

        g_assert_cmpstr(tidy, ==, longest);
        g_assert_null(ald_firmware_text_normalize(too_long, ALD_TEXT_MAX + 1));
        g_assert_null(ald_firmware_text_normalize("a\0b", 3));
}

static void test_read(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *text = NULL;

        log_count_reset();
        fake_root_write(root, "sys/value", " ThinkPad  X1\n");
        text = ald_text_read(root->fd, "sys/value");
        g_assert_cmpstr(text, ==, "ThinkPad X1");
        g_assert_null(ald_text_read(root->fd, "sys/missing"));
        g_assert_null(ald_text_read(root->fd, "sys/value/below"));
        g_assert_cmpuint(log_count(""), ==, 0);
}

/* Tests may run as root, whom no permission stops: a folder, a FIFO and a loop are unreadable to everybody.
 */
static void test_read_broken(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *huge = g_strnfill(1024 * 1024, 'x');

        fake_root_mkdir(root, "folder");
        fake_root_fifo(root, "fifo");
        fake_root_link(root, "loop", "loop");
        fake_root_link(root, "dangling", "nowhere");
        fake_root_write(root, "huge", huge);
        fake_root_write_bytes(root, "binary", "\177ELF\002\0\001x", 8);
        fake_root_write(root, "empty", "");

        log_count_reset();
        g_assert_null(ald_text_read(root->fd, "folder"));
        g_assert_cmpuint(log_count("Cannot read folder"), ==, 1);
        g_assert_null(ald_text_read(root->fd, "fifo"));
        g_assert_cmpuint(log_count("Cannot read fifo"), ==, 1);
        g_assert_null(ald_text_read(root->fd, "loop"));
        g_assert_cmpuint(log_count("Cannot read loop"), ==, 1);
        g_assert_null(ald_text_read(root->fd, "huge"));
        g_assert_cmpuint(log_count("Cannot read huge"), ==, 1);

        log_count_reset();
        g_assert_null(ald_text_read(root->fd, "dangling"));
        g_assert_null(ald_text_read(root->fd, "binary"));
        g_assert_null(ald_text_read(root->fd, "empty"));
        g_assert_cmpuint(log_count(""), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/text/tidy", test_tidy);
        g_test_add_func("/text/tidy-limits", test_tidy_limits);
        g_test_add_func("/text/read", test_read);
        g_test_add_func("/text/read-broken", test_read_broken);
        return g_test_run();
}
