/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/identity/name-store.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void test_refuse(void)
{
        g_autofree char *longest = g_strnfill(ALD_NAME_MAX, 'x');
        g_autofree char *too_long = g_strnfill(ALD_NAME_MAX + 1, 'x');
        g_autoptr(GString) wide = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_NAME_MAX; i++)
                g_string_append(wide, "😀");
        g_assert_null(ald_name_refuse(""));
        g_assert_null(ald_name_refuse("Grüße, 机器 7"));
        g_assert_null(ald_name_refuse("👩‍💻")); /* joined by a character that one does not see */
        g_assert_null(ald_name_refuse(longest));
        g_assert_null(ald_name_refuse(wide->str));

        g_assert_nonnull(ald_name_refuse(too_long));
        g_assert_nonnull(ald_name_refuse("a\nb"));
        g_assert_nonnull(ald_name_refuse("\033[31mred"));
        g_assert_nonnull(ald_name_refuse("\177"));
        g_assert_nonnull(ald_name_refuse("\302\205"));       /* U+0085 */
        g_assert_nonnull(ald_name_refuse("a\342\200\250b")); /* U+2028, a line separator */
        g_assert_nonnull(ald_name_refuse("a\342\200\256b")); /* U+202E, turns the text around */
        g_assert_nonnull(ald_name_refuse("bad \xff"));
        g_assert_nonnull(ald_name_refuse("  "));
        g_assert_nonnull(ald_name_refuse("\302\240")); /* U+00A0 */
}

static void check_load(FakeRoot *root, const char *expected)
{
        g_autofree char *name = ald_name_store_load(root->dir);

        g_assert_cmpstr(name, ==, expected);
}

static bool exists(FakeRoot *root, const char *name)
{
        g_autofree char *path = g_build_filename(root->dir, name, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK);
}

static void test_round_trip(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GString) wide = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_NAME_MAX; i++)
                g_string_append(wide, "😀");
        check_load(root, NULL);
        g_assert_cmpint(ald_name_store_save(root->dir, "one"), ==, 0);
        check_load(root, "one");
        g_assert_cmpint(ald_name_store_save(root->dir, wide->str), ==, 0);
        check_load(root, wide->str);
        g_assert_cmpint(ald_name_store_save(root->dir, " edges "), ==, 0);
        check_load(root, " edges ");
        g_assert_cmpint(ald_name_store_save(root->dir, ""), ==, 0);
        check_load(root, NULL);
        g_assert_false(exists(root, "friendly-name"));
        g_assert_cmpint(ald_name_store_save(root->dir, ""), ==, 0);
        g_assert_false(exists(root, "friendly-name.new"));
}

static void test_makes_directory(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *below = g_build_filename(root->dir, "var/lib/alidade", NULL);
        g_autofree char *name = NULL;

        g_assert_null(ald_name_store_load(below));
        g_assert_cmpint(ald_name_store_save(below, "deep"), ==, 0);
        name = ald_name_store_load(below);
        g_assert_cmpstr(name, ==, "deep");
}

static void test_damaged(void)
{
        static const struct {
                const char *bytes;
                size_t n;
        } damages[] = {
                { "", 0 },
                { "\n", 1 },
                { "bad \xff\n", 6 },
                { "control\001\n", 9 },
                { "two\nlines\n", 10 },
                { "nul\0byte\n", 9 },
                { "   \n", 4 },
        };
        g_autofree char *huge = g_strnfill(100000, 'x');

        for (size_t i = 0; i <= G_N_ELEMENTS(damages); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();

                if (i < G_N_ELEMENTS(damages))
                        fake_root_write_bytes(root, "friendly-name", damages[i].bytes, damages[i].n);
                else
                        fake_root_write(root, "friendly-name", huge);
                log_count_reset();
                check_load(root, NULL);
                g_assert_cmpuint(log_count("friendly-name is damaged"), ==, 1);
                g_assert_true(exists(root, "friendly-name.damaged"));
                g_assert_false(exists(root, "friendly-name"));

                log_count_reset();
                check_load(root, NULL);
                g_assert_cmpuint(log_count(""), ==, 0);
        }
}

static void test_not_a_file(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_write(root, "elsewhere", "secret\n");
        fake_root_link(root, "friendly-name", "elsewhere");
        check_load(root, NULL);
        g_assert_true(exists(root, "friendly-name.damaged"));
        fake_root_remove(root, "friendly-name.damaged");

        fake_root_fifo(root, "friendly-name");
        check_load(root, NULL);
        g_assert_true(exists(root, "friendly-name.damaged"));
        fake_root_remove(root, "friendly-name.damaged");

        fake_root_mkdir(root, "friendly-name");
        check_load(root, NULL);
        g_assert_true(exists(root, "friendly-name.damaged"));
}

static void test_cannot_store(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *file = g_build_filename(root->dir, "file", NULL);

        fake_root_write(root, "file", "in the way");
        g_assert_cmpint(ald_name_store_save(file, "name"), ==, -ENOTDIR);

        /* What is there and cannot be set aside stays, and the attempt leaves nothing behind. */
        fake_root_mkdir(root, "friendly-name.damaged/below");
        fake_root_mkdir(root, "friendly-name/below");
        g_assert_cmpint(ald_name_store_save(root->dir, "name"), ==, -ENOTEMPTY);
        g_assert_true(exists(root, "friendly-name/below"));
        g_assert_false(exists(root, "friendly-name.new"));
        fake_root_remove(root, "friendly-name.damaged/below");
        g_assert_cmpint(ald_name_store_save(root->dir, "name"), ==, 0);
        check_load(root, "name");
}

static void test_damaged_stays(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_write(root, "friendly-name", "two\nlines\n");
        fake_root_mkdir(root, "friendly-name.damaged");
        g_assert_cmpint(ald_name_store_save(root->dir, "name"), ==, -EISDIR);
        g_assert_cmpint(ald_name_store_save(root->dir, ""), ==, -EISDIR);
        fake_root_remove(root, "friendly-name.damaged");
        g_assert_cmpint(ald_name_store_save(root->dir, "name"), ==, 0);
        g_assert_true(exists(root, "friendly-name.damaged"));
        check_load(root, "name");
}

/* What a crash left half-written is no obstacle. */
static void test_left_over(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_write(root, "friendly-name.new", "half of a much longer na");
        g_assert_cmpint(ald_name_store_save(root->dir, "whole"), ==, 0);
        check_load(root, "whole");
        g_assert_false(exists(root, "friendly-name.new"));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/identity/name-store/refuse", test_refuse);
        g_test_add_func("/identity/name-store/round-trip", test_round_trip);
        g_test_add_func("/identity/name-store/makes-directory", test_makes_directory);
        g_test_add_func("/identity/name-store/damaged", test_damaged);
        g_test_add_func("/identity/name-store/not-a-file", test_not_a_file);
        g_test_add_func("/identity/name-store/cannot-store", test_cannot_store);
        g_test_add_func("/identity/name-store/damaged-stays", test_damaged_stays);
        g_test_add_func("/identity/name-store/left-over", test_left_over);
        return g_test_run();
}
