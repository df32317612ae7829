/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibitors.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void test_what(void)
{
        static const char *const bad[] = { "", ":", "link:", ":link", "link:link", "links", "lin", "LINK",
                "link rdma", "link:rdma:compute:link" };
        const char *words[ALD_INHIBIT_KINDS + 1];
        g_autofree char *list = ald_inhibit_what_list();

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(ald_inhibit_what_parse(bad[i]), ==, -EINVAL);
        g_assert_cmpint(ald_inhibit_what_parse("rdma"), ==, ALD_INHIBIT_RDMA);
        g_assert_cmpint(ald_inhibit_what_parse("link:compute:rdma"), ==,
                ALD_INHIBIT_LINK | ALD_INHIBIT_COMPUTE | ALD_INHIBIT_RDMA);
        ald_inhibit_what_words(ALD_INHIBIT_LINK | ALD_INHIBIT_COMPUTE, words);
        g_assert_cmpstr(words[0], ==, "compute");
        g_assert_cmpstr(words[1], ==, "link");
        g_assert_null(words[2]);
        g_assert_cmpstr(list, ==, "compute, rdma, link and storage");
}

static void test_text(void)
{
        g_autofree char *longest = g_strnfill(ALD_INHIBIT_TEXT_MAX, 'x');
        g_autofree char *longer = g_strnfill(ALD_INHIBIT_TEXT_MAX + 1, 'x');

        g_assert_true(ald_inhibit_text_ok("Großes Training (epoch 7)"));
        g_assert_true(ald_inhibit_text_ok(longest));
        g_assert_false(ald_inhibit_text_ok(longer));
        g_assert_false(ald_inhibit_text_ok(""));
        g_assert_false(ald_inhibit_text_ok("two\nlines"));
        g_assert_false(ald_inhibit_text_ok("\x1b[31mred"));
        g_assert_false(ald_inhibit_text_ok("\xff"));
}

static void count_change(void *userdata)
{
        ++*(unsigned *) userdata;
}

static int add(AldInhibitors *inhibitors, uid_t uid)
{
        AldInhibitorFile lock = { .what = (char *) "link",
                .who = (char *) "w[ho]=\\",
                .why = (char *) " #y; ",
                .uid = uid,
                .pid = 7 };
        int fd, r = ald_inhibitors_add(inhibitors, &lock, &fd);

        return r < 0 ? r : fd;
}

static void test_survives(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        unsigned changes = 0;
        AldInhibitors *inhibitors = ald_inhibitors_new(root->dir, count_change, &changes);
        int kept = add(inhibitors, 1), gone = add(inhibitors, 2);

        g_assert_cmpuint(changes, ==, 2);
        ald_inhibitors_free(inhibitors);
        close(gone);
        inhibitors = ald_inhibitors_new(root->dir, count_change, &changes);
        g_assert_cmpuint(ald_inhibitors_count(inhibitors), ==, 1);
        /* What a key file would take for its own comes back as it was. */
        g_assert_cmpstr(ald_inhibitors_at(inhibitors, 0)->who, ==, "w[ho]=\\");
        g_assert_cmpstr(ald_inhibitors_at(inhibitors, 0)->why, ==, " #y; ");
        g_assert_cmpuint(ald_inhibitors_at(inhibitors, 0)->uid, ==, 1);
        close(kept);
        while (ald_inhibitors_count(inhibitors) > 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(ald_inhibitors_what(inhibitors), ==, 0);
        ald_inhibitors_free(inhibitors);
}

static void test_limits(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        unsigned changes = 0;
        AldInhibitors *inhibitors = ald_inhibitors_new(root->dir, count_change, &changes);
        int fds[ALD_INHIBITORS_MAX];

        for (unsigned i = 0; i < ALD_INHIBITORS_MAX; i++) {
                fds[i] = add(inhibitors, i / ALD_INHIBITORS_PER_USER_MAX);
                g_assert_cmpint(fds[i], >=, 0);
                if (i == ALD_INHIBITORS_PER_USER_MAX - 1)
                        g_assert_cmpint(add(inhibitors, 0), ==, -ALD_E_USER_LIMIT);
        }
        g_assert_cmpint(add(inhibitors, 1000), ==, -ALD_E_COMMON_LIMIT);
        for (unsigned i = 0; i < ALD_INHIBITORS_MAX; i++)
                close(fds[i]);
        ald_inhibitors_free(inhibitors);
}

static void test_without_a_directory(void)
{
        unsigned changes = 0;
        AldInhibitors *inhibitors = ald_inhibitors_new("/proc/no/such", count_change, &changes);

        g_assert_cmpuint(log_count("cannot be inhibited"), ==, 1);
        g_assert_cmpint(add(inhibitors, 0), ==, -EROFS);
        ald_inhibitors_free(inhibitors);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/link-probe-inhibit/what", test_what);
        g_test_add_func("/link-probe-inhibit/text", test_text);
        g_test_add_func("/link-probe-inhibit/survives", test_survives);
        g_test_add_func("/link-probe-inhibit/limits", test_limits);
        g_test_add_func("/link-probe-inhibit/without-a-directory", test_without_a_directory);
        return g_test_run();
}
