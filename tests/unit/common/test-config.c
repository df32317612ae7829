/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "common/config.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static const char *refuse_blue(const char *value)
{
        return strstr(value, "blue") ? "blue is taken" : NULL;
}

static const AldConfigKey keys[] = {
        { "state", "number", ALD_CONFIG_UINT, 5, 100, "10", NULL, NULL },
        { "state", "switch", ALD_CONFIG_BOOLEAN, 0, 0, "true", NULL, NULL },
        { "state", "colour", ALD_CONFIG_STRING, 0, 0, "red", refuse_blue, NULL },
        { "state", "list", ALD_CONFIG_STRV, 0, 0, "a;b", refuse_blue, NULL },
        { "state", "door", ALD_CONFIG_BOOLEAN, 0, 0, "true", NULL, "false" },
        { 0 },
};

static AldConfig *load(FakeRoot *root, const char *text)
{
        if (text)
                fake_root_write(root, "alidade.conf", text);
        log_count_reset();
        return ald_config_load(keys, root->dir);
}

static void assert_defaults(const AldConfig *config)
{
        const char *const *list = ald_config_strv(config, "list");

        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 10);
        g_assert_true(ald_config_boolean(config, "switch"));
        g_assert_cmpstr(ald_config_string(config, "colour"), ==, "red");
        g_assert_cmpuint(g_strv_length((char **) list), ==, 2);
        g_assert_cmpstr(list[0], ==, "a");
        g_assert_cmpstr(list[1], ==, "b");
}

static void test_nothing_there(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config = load(root, NULL);

        assert_defaults(config);
        ald_config_free(config);
        fake_root_remove(root, "");
        config = load(root, NULL);
        assert_defaults(config);
        g_assert_cmpuint(log_count(""), ==, 0);
        ald_config_free(config);
}

static void test_values(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config = load(root,
                "# a comment\n[state]\nnumber = 100 \nswitch=false\ncolour=  green and ä \nlist= x ;; y;;\n"
                "[telemetry]\nwhatever=7\n");
        const char *const *list = ald_config_strv(config, "list");

        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 100);
        g_assert_false(ald_config_boolean(config, "switch"));
        g_assert_cmpstr(ald_config_string(config, "colour"), ==, "green and ä");
        g_assert_cmpuint(g_strv_length((char **) list), ==, 2);
        g_assert_cmpstr(list[0], ==, "x");
        g_assert_cmpstr(list[1], ==, "y");
        g_assert_true(list == ald_config_strv(config, "list"));
        g_assert_cmpuint(log_count(""), ==, 0);
        ald_config_free(config);
}

static void test_empty_list_is_a_list(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config = load(root, "[state]\nlist=\n");

        g_assert_null(ald_config_strv(config, "list")[0]);
        ald_config_free(config);
}

static void test_refusals(void)
{
        static const struct {
                const char *line, *complaint;
        } cases[] = {
                { "number=4", "[state] number=4 refused: too small (5 to 100)" },
                { "number=101", "[state] number=101 refused: too large (5 to 100)" },
                { "number=99999999999999999999999", "refused: not a whole number (5 to 100)" },
                { "number=-7", "refused: not a whole number (5 to 100)" },
                { "number=7.5", "refused: not a whole number (5 to 100)" },
                { "number=0x10", "refused: not a whole number (5 to 100)" },
                { "number=", "refused: not a whole number (5 to 100)" },
                { "number=7 8", "refused: not a whole number (5 to 100)" },
                { "switch=yes", "[state] switch=yes refused: neither true nor false" },
                { "switch=TRUE", "refused: neither true nor false" },
                { "switch=", "refused: neither true nor false" },
                { "colour=dark blue", "[state] colour=dark blue refused: blue is taken" },
                { "list=a;blue", "[state] list=a;blue refused: blue is taken" },
                { "colour=\\q", "[state] colour=\\q refused: " },
                { "colour=\xff", "refused: " },
                { "colours=7", "[state] colours: unknown key" },
                { "Number=7", "[state] Number: unknown key" },
                { "[stat]", "alidade.conf:2: [stat]: unknown group" },
        };
        g_autoptr(FakeRoot) root = fake_root_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("[state]\n%s\n", cases[i].line);
                AldConfig *config = load(root, text);

                assert_defaults(config);
                g_assert_cmpuint(log_count(cases[i].complaint), ==, 1);
                g_assert_cmpuint(log_count("alidade.conf:2: ["), ==, 1);
                g_assert_cmpuint(log_count(root->dir), ==, 1);
                g_assert_cmpuint(log_count(""), ==, 1);
                g_assert_true(ald_config_is_complete(config));
                ald_config_free(config);
        }
}

typedef struct ExpectedProblem {
        const char *file;
        unsigned line;
        const char *group, *key, *reason;
} ExpectedProblem;

static void assert_problems(FakeRoot *root, const ExpectedProblem *expected, size_t n)
{
        AldConfig *config = load(root, NULL);
        const GPtrArray *problems = ald_config_problems(config);

        for (guint i = 0; i < problems->len; i++) {
                const AldConfigProblem *problem = problems->pdata[i];
                g_autofree char *words = ald_config_problem_format(problem);

                g_test_message("%s", words);
                g_assert_cmpuint(i, <, n);
                g_assert_true(g_str_has_prefix(problem->file, root->dir));
                g_assert_true(g_str_has_suffix(problem->file, expected[i].file));
                g_assert_cmpuint(problem->line, ==, expected[i].line);
                g_assert_cmpstr(problem->group, ==, expected[i].group);
                g_assert_cmpstr(problem->key, ==, expected[i].key);
                g_assert_nonnull(strstr(problem->reason, expected[i].reason));
                g_assert_true(g_str_has_suffix(words, problem->reason));
        }
        g_assert_cmpuint(problems->len, ==, n);
        g_assert_cmpuint(log_count(""), ==, n);
        ald_config_free(config);
}

static void test_problems_have_their_lines(void)
{
        static const ExpectedProblem expected[] = {
                { "/alidade.conf", 6, "state", "number", "too small (5 to 100)" },
                { "/alidade.conf", 9, "state", "number[de]", "unknown key" },
                { "/alidade.conf", 10, "state", "a", "unknown key" },
                { "/alidade.conf", 12, "stat", NULL, "unknown group" },
                { "/alidade.conf", 15, "state ", NULL, "unknown group" },
                { "/alidade.conf.d/1.conf", 4, "state", "colour", "blue is taken" },
                { "/alidade.conf.d/1.conf", 5, "state", "colours", "unknown key" },
                { "/alidade.conf.d/1.conf", 8, "history", "number", "belongs in [state]" },
                { "/alidade.conf.d/2.conf", 3, NULL, NULL, "left out: Key file contains line" },
                { "/alidade.conf.d/3.conf", 0, NULL, NULL, "left out: not a regular file" },
                { "/alidade.conf.d/4.conf", 0, NULL, NULL, "left out: No such file or directory" },
                { "/alidade.conf.d/5.conf", 0, NULL, NULL, "left out: not a text file" },
        };
        static const char nul[] = "[state]\n\0number=7\n";
        g_autoptr(FakeRoot) root = fake_root_new();

        fake_root_write(root, "alidade.conf",
                "# number=1\n[state]\r\n# [state] number=2\nnumber=1000\n\n \tnumber \t=4\n"
                "switch=true\nlist=number=1\nnumber[de]=7\n  a = b=c\n"
                "[telemetry]\n[stat]\nnumber=3\n[stat]\n[state ] \n");
        /* As the first line of a group that is given twice, and without a newline at its end. */
        fake_root_write(root, "alidade.conf.d/1.conf",
                "[state]\ncolour=blue\n[state]\ncolour=dark "
                "blue\ncolours=x\n[history]\nwhatever=x\nnumber=6\n"
                "[state]");
        fake_root_write(root, "alidade.conf.d/2.conf", "[state]\nnumber=6\nnumber\nnumber=7\nbad\n");
        fake_root_mkdir(root, "alidade.conf.d/3.conf");
        fake_root_link(root, "alidade.conf.d/4.conf", "nowhere");
        fake_root_write_bytes(root, "alidade.conf.d/5.conf", nul, sizeof(nul) - 1);
        assert_problems(root, expected, G_N_ELEMENTS(expected));
}

/* Wherever the first bad line is among good ones, and with or without a newline at the end. */
static void test_line_that_does_not_parse(void)
{
        for (unsigned bad = 1; bad <= 9; bad++)
                for (unsigned n = bad; n <= 9; n++) {
                        g_autoptr(FakeRoot) root = fake_root_new();
                        g_autoptr(GString) text = g_string_new(NULL);
                        ExpectedProblem expected = { "/alidade.conf", bad, NULL, NULL, "left out: " };

                        for (unsigned line = 1; line <= n; line++)
                                g_string_append(text, line == bad || line == bad + 2 ? "what\n"
                                                      : line == 1                    ? "[state]\n"
                                                                                     : "\n");
                        if (n % 2)
                                g_string_truncate(text, text->len - 1);
                        fake_root_write(root, "alidade.conf", text->str);
                        assert_problems(root, &expected, 1);
                }
}

static void test_problems_are_bounded(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GString) text = g_string_new("[state]\n");
        AldConfig *config;

        for (unsigned i = 0; i < 1000; i++)
                g_string_append_printf(text, "key-%u=1\n", i);
        fake_root_write(root, "alidade.conf.d/1.conf", "what\n");
        config = load(root, text->str);
        g_assert_cmpuint(ald_config_problems(config)->len, ==, ALD_CONFIG_PROBLEMS_MAX);
        g_assert_cmpuint(log_count(""), ==, ALD_CONFIG_PROBLEMS_MAX + 1);
        g_assert_cmpuint(log_count("969 more problems"), ==, 1);
        /* Even if the file is not among those that are listed. */
        g_assert_false(ald_config_is_complete(config));
        ald_config_free(config);
}

/* One bad value costs itself, and an earlier good one stays. */
static void test_refusal_keeps_the_rest(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config;

        fake_root_write(root, "alidade.conf.d/10.conf", "[state]\nnumber=1000\nswitch=false\n");
        config = load(root, "[state]\nnumber=50\nunknown=1\ncolour=green\n");
        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 50);
        g_assert_false(ald_config_boolean(config, "switch"));
        g_assert_cmpstr(ald_config_string(config, "colour"), ==, "green");
        g_assert_cmpuint(log_count(""), ==, 2);
        ald_config_free(config);
}

/* A refused value shuts what has a shut value, whatever stands before it, but not after it. */
static void test_refusal_shuts(void)
{
        static const struct {
                const char *main, *drop_in;
                bool open, refused;
        } cases[] = {
                { "", "", true, false },
                { "door=false\n", "", false, false },
                { "door=flase\n", "", false, true },
                { "door=\\q\n", "", false, true },
                { "door=true\n", "door=no\n", false, true },
                { "door=no\n", "door=true\n", true, false },
                { "door=no\n", "door=false\n", false, false },
                { "dor=false\n", "", true, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_autofree char *drop_in = g_strconcat("[state]\n", cases[i].drop_in, NULL);
                g_autofree char *text = g_strconcat("[state]\n", cases[i].main, NULL);
                AldConfig *config;

                fake_root_write(root, "alidade.conf.d/1.conf", drop_in);
                config = load(root, text);
                g_assert_cmpint(ald_config_boolean(config, "door"), ==, cases[i].open);
                g_assert_cmpint(ald_config_is_refused(config, "door"), ==, cases[i].refused);
                g_assert_false(ald_config_is_refused(config, "number"));
                ald_config_free(config);
        }
}

/* Loaded first as "number=50\ndoor=false", and again as this. */
static void test_what_is_wrong_keeps_what_was(void)
{
        static const struct {
                const char *text;
                unsigned number;
                bool open;
                const char *place;
        } cases[] = {
                { "[state]\n", 10, true, NULL },
                { "[state]\nnumber=20\ndoor=true\n", 20, true, "alidade.conf:2" },
                { "[state]\n\nnumber=1000\ndoor=true\n", 50, true, "alidade.conf:2" },
                { "[state]\nnumber=20\nnumber=1000\n", 50, false, "alidade.conf:2" },
                { "[state]\n\nnumber=20\ndoor=ture\n", 20, false, "alidade.conf:3" },
                { "[state]\n\nnumber=20\nodor=false\n", 20, false, "alidade.conf:3" },
                { "[sate]\nnumber=20\n", 50, false, "alidade.conf:2" },
                { "[telemetry]\nnumber=20\n", 50, false, "alidade.conf:2" },
                { "[telemetry]\nwhatever=20\n", 10, true, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                AldConfig *old = load(root, "[state]\nnumber=50\ndoor=false\n"), *config;

                fake_root_write(root, "alidade.conf", cases[i].text);
                config = ald_config_load_again(old, root->dir);
                ald_config_free(old);
                g_assert_cmpuint(ald_config_uint(config, "number"), ==, cases[i].number);
                g_assert_cmpint(ald_config_boolean(config, "door"), ==, cases[i].open);
                g_assert_false(ald_config_is_refused(config, "door"));
                if (cases[i].place)
                        g_assert_true(g_str_has_suffix(ald_config_place(config, "number"), cases[i].place));
                else
                        g_assert_null(ald_config_place(config, "number"));
                ald_config_free(config);
        }
}

/* What was shut because it was refused stays so, until it is mended. */
static void test_what_was_shut_stays_shut(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *old = load(root, "[state]\ndoor=no\n"), *config;

        fake_root_write(root, "alidade.conf", "[state]\ndoor=nein\n");
        config = ald_config_load_again(old, root->dir);
        g_assert_false(ald_config_boolean(config, "door"));
        g_assert_true(ald_config_is_refused(config, "door"));
        ald_config_free(old);
        fake_root_write(root, "alidade.conf", "[state]\n");
        old = ald_config_load_again(config, root->dir);
        g_assert_true(ald_config_boolean(old, "door"));
        g_assert_false(ald_config_is_refused(old, "door"));
        ald_config_free(old);
        ald_config_free(config);
}

static void test_later_files_win(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config;

        fake_root_write(root, "alidade.conf.d/20-b.conf", "[state]\nnumber=30\n");
        fake_root_write(root, "alidade.conf.d/10-a.conf", "[state]\nnumber=20\ncolour=from a\n");
        fake_root_write(root, "alidade.conf.d/30-c.conf.bak", "[state]\nnumber=40\n");
        fake_root_write(root, "alidade.conf.d/README", "no configuration\n");
        config = load(root, "[state]\nnumber=10\ncolour=from main\nswitch=false\n");
        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 30);
        g_assert_cmpstr(ald_config_string(config, "colour"), ==, "from a");
        g_assert_false(ald_config_boolean(config, "switch"));
        g_assert_true(g_str_has_suffix(ald_config_place(config, "number"), "/alidade.conf.d/20-b.conf:2"));
        g_assert_true(g_str_has_suffix(ald_config_place(config, "colour"), "/alidade.conf.d/10-a.conf:3"));
        g_assert_true(g_str_has_suffix(ald_config_place(config, "switch"), "/alidade.conf:4"));
        g_assert_null(ald_config_place(config, "list"));
        g_assert_cmpuint(log_count(""), ==, 0);
        ald_config_free(config);
}

/* A file that is none is left out, and told once; the others count. */
static void test_files_that_are_none(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *huge = g_strnfill(8 * 1024 * 1024, '#');
        AldConfig *config;

        fake_root_write(root, "alidade.conf.d/1-plain.conf", "number=7\n");
        fake_root_write_bytes(root, "alidade.conf.d/2-binary.conf", "\0\1\2[state]\nnumber=8\n", 20);
        fake_root_mkdir(root, "alidade.conf.d/3-folder.conf");
        fake_root_link(root, "alidade.conf.d/4-dangling.conf", "nowhere");
        fake_root_link(root, "alidade.conf.d/5-loop.conf", "5-loop.conf");
        fake_root_fifo(root, "alidade.conf.d/6-fifo.conf");
        fake_root_write(root, "alidade.conf.d/7-huge.conf", huge);
        fake_root_write(root, "alidade.conf.d/9-good.conf", "[state]\nnumber=77\n");
        config = load(root, "[state\nnumber=6\n");
        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 77);
        g_assert_cmpuint(log_count("left out"), ==, log_count(""));
        for (unsigned i = 1; i <= 7; i++) {
                g_autofree char *name = g_strdup_printf("/%u-", i);

                g_assert_cmpuint(log_count(name), ==, 1);
        }
        g_assert_cmpuint(log_count("alidade.conf:1: left out"), ==, 1);
        g_assert_false(ald_config_is_complete(config));
        ald_config_free(config);
}

static void test_folder_that_is_none(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config;

        fake_root_write(root, "alidade.conf.d", "a file\n");
        config = load(root, "[state]\nnumber=50\n");
        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 50);
        g_assert_cmpuint(log_count("alidade.conf.d: left out"), ==, 1);
        ald_config_free(config);
}

static void test_directory_by_environment(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldConfig *config;

        fake_root_write(root, "alidade.conf", "[state]\nnumber=50\n");
        g_setenv("ALIDADE_CONFIG_DIR", root->dir, TRUE);
        config = ald_config_load(keys, NULL);
        g_unsetenv("ALIDADE_CONFIG_DIR");
        g_assert_cmpuint(ald_config_uint(config, "number"), ==, 50);
        ald_config_free(config);
}

/* Item 5: whatever stands in the file, the log has an excerpt of it. */
static void test_log_is_bounded(void)
{
        static const char *const formats[] = { "[state]\n%s\n", "[%s]\n", "[state]\n%s=1\n",
                "[state]\nnumber=%s\n", "[state]\ncolour=blue%s\n", "[state]\ncolour=\\x%s\n", "%s\n" };
        g_autofree char *x = g_strnfill(500000, 'x'), *odd = g_strconcat("\033[2J\033]0;", x, "\033", NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_auto(GStrv) parts = g_strsplit(formats[i], "%s", 2);
                g_autofree char *text = g_strconcat(parts[0], odd, parts[1], NULL);
                AldConfig *config = load(root, text);

                g_assert_cmpuint(log_count(""), ==, 1);
                g_assert_cmpuint(log_count("\033"), ==, 0);
                g_assert_cmpuint(log_count_longest(), <, 600);
                ald_config_free(config);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/config/nothing-there", test_nothing_there);
        g_test_add_func("/config/values", test_values);
        g_test_add_func("/config/empty-list-is-a-list", test_empty_list_is_a_list);
        g_test_add_func("/config/refusals", test_refusals);
        g_test_add_func("/config/problems-have-their-lines", test_problems_have_their_lines);
        g_test_add_func("/config/line-that-does-not-parse", test_line_that_does_not_parse);
        g_test_add_func("/config/problems-are-bounded", test_problems_are_bounded);
        g_test_add_func("/config/refusal-keeps-the-rest", test_refusal_keeps_the_rest);
        g_test_add_func("/config/refusal-shuts", test_refusal_shuts);
        g_test_add_func("/config/what-is-wrong-keeps-what-was", test_what_is_wrong_keeps_what_was);
        g_test_add_func("/config/what-was-shut-stays-shut", test_what_was_shut_stays_shut);
        g_test_add_func("/config/later-files-win", test_later_files_win);
        g_test_add_func("/config/files-that-are-none", test_files_that_are_none);
        g_test_add_func("/config/folder-that-is-none", test_folder_that_is_none);
        g_test_add_func("/config/log-is-bounded", test_log_is_bounded);
        g_test_add_func("/config/directory-by-environment", test_directory_by_environment);
        return g_test_run();
}
