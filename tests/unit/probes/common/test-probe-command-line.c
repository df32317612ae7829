/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/command-line.h"

static const AldCommandLine command_line = { .program = "some-probe", .summary = "Measure something." };

/* What was read, and what came of it. */
typedef struct Read {
        gboolean quick;
        char *name;
        char **rest;
        char *output, *error;
} Read;

static void read_clear(Read *read)
{
        g_free(read->name);
        g_strfreev(read->rest);
        g_free(read->output);
        g_free(read->error);
        *read = (Read){};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Read, read_clear)

static int parse(const char *line, Read *read)
{
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        char *name = NULL;
        gboolean quick = FALSE;
        const GOptionEntry entries[] = {
                ALD_COMMAND_LINE_SWITCH("quick", &quick, "Hurry"),
                ALD_COMMAND_LINE_TEXT("name", &name, "What to measure", "NAME"),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("secret", &quick),
                {},
        };
        const GOptionEntry *const tables[] = { entries, NULL };
        int r;

        read_clear(read);
        r = ald_command_line_parse(&command_line, tables, NULL, (int) g_strv_length(words), words,
                &read->rest, &read->output, &read->error);
        read->quick = quick;
        read->name = name;
        return r;
}

static void test_arguments(void)
{
        g_auto(Read) read = {};

        g_assert_cmpint(parse("p a --name=x b --quick", &read), ==, 0);
        g_assert_cmpstr(read.name, ==, "x");
        g_assert_true(read.quick);
        g_assert_cmpuint(g_strv_length(read.rest), ==, 2);
        g_assert_cmpstr(read.rest[0], ==, "a");
        g_assert_cmpstr(read.rest[1], ==, "b");
        g_assert_cmpint(parse("p --name --quick=1 -- --quick=2", &read), ==, 0);
        g_assert_cmpstr(read.name, ==, "--quick=1");
        g_assert_false(read.quick);
        /* The last one counts. */
        g_assert_cmpint(parse("p --name=x --name y", &read), ==, 0);
        g_assert_cmpstr(read.name, ==, "y");
        g_assert_cmpint(parse("p --name=", &read), ==, 0);
        g_assert_cmpstr(read.name, ==, "");
        g_assert_cmpint(parse("p", &read), ==, 0);
        g_assert_null(read.name);
        g_assert_cmpuint(g_strv_length(read.rest), ==, 0);
}

static void test_help(void)
{
        static const char *const lines[] = { "p --help", "p -h", "p --quick --help --nothing" };
        g_auto(Read) read = {};

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_assert_cmpint(parse(lines[i], &read), ==, 1);
                g_assert_null(read.error);
                g_assert_nonnull(strstr(read.output, "Measure something."));
                g_assert_nonnull(strstr(read.output, "--name=NAME"));
                g_assert_nonnull(strstr(read.output, "-h, --help"));
                g_assert_nonnull(strstr(read.output, "See some-probe(1)."));
                g_assert_null(strstr(read.output, "--secret"));
        }
        g_assert_cmpint(parse("p --version --help", &read), ==, 1);
        g_assert_cmpstr(read.output, ==, "some-probe " ALD_VERSION "\n");
}

static void test_refused(void)
{
        static const char *const lines[][2] = {
                { "p --nothing", "Unknown option --nothing" },
                { "p --nothing=1 --help", "Unknown option --nothing=1" },
                { "p -x", "Unknown option -x" },
                { "p --name", "Missing argument for --name" },
                { "p --quick=no", "--quick takes no argument: --quick=no" },
                { "p a --name b --quick=", "--quick takes no argument: --quick=" },
        };
        g_auto(Read) read = {};

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_assert_cmpint(parse(lines[i][0], &read), ==, -EINVAL);
                g_assert_cmpstr(read.error, ==, lines[i][1]);
                g_assert_null(read.output);
                g_assert_null(read.rest);
        }
}

static void test_numbers(void)
{
        static const char *const wrong[] = { "", "0", "11", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0",
                "18446744073709551616", "18446744073709551617" };
        uint64_t value = 7;
        unsigned number = 8;
        int fd = -1;

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *error = NULL, *also = NULL;
                g_autofree char *reason = g_strdup_printf("--n: not a number from 1 to 10: %s", wrong[i]);

                g_assert_cmpint(ald_command_line_uint64("n", wrong[i], 1, 10, &value, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, reason);
                g_assert_cmpint(ald_command_line_unsigned("n", wrong[i], 1, 10, &number, &also), ==, -EINVAL);
                g_assert_cmpstr(also, ==, reason);
        }
        g_assert_cmpuint(value, ==, 7);
        g_assert_cmpuint(number, ==, 8);
        /* Not given. */
        g_assert_cmpint(ald_command_line_uint64("n", NULL, 1, 10, &value, NULL), ==, 0);
        g_assert_cmpint(ald_command_line_unsigned("n", NULL, 1, 10, &number, NULL), ==, 0);
        g_assert_cmpint(ald_command_line_fd("n", NULL, &fd, NULL), ==, 0);
        g_assert_true(value == 7 && number == 8 && fd == -1);
        g_assert_cmpint(
                ald_command_line_uint64("n", "18446744073709551615", 0, UINT64_MAX, &value, NULL), ==, 0);
        g_assert_cmpuint(value, ==, UINT64_MAX);
        g_assert_cmpint(ald_command_line_unsigned("n", "10", 1, 10, &number, NULL), ==, 0);
        g_assert_cmpuint(number, ==, 10);
        g_assert_cmpint(ald_command_line_fd("n", "0", &fd, NULL), ==, 0);
        g_assert_cmpint(fd, ==, 0);
}

static void test_bytes(void)
{
        static const char *const wrong[] = { "", "0", "K", "0K", "-1", "1.5G", "1126T", "9000T", "1P", "1KK",
                "18446744073709551616", "1125899906842625" };
        static const struct {
                const char *text;
                uint64_t bytes;
        } right[] = {
                { "1", 1 },
                { "2k", 2000 },
                { "3M", 3000000 },
                { "10G", UINT64_C(10000000000) },
                { "1125T", UINT64_C(1125000000000000) },
                { "1125899906842624", ALD_COMMAND_LINE_BYTES_MAX },
        };
        uint64_t value = 7;

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(ald_command_line_bytes("n", wrong[i], &value, &error), ==, -EINVAL);
                g_assert_true(g_str_has_prefix(error, "--n: ") && g_str_has_suffix(error, wrong[i]));
        }
        g_assert_cmpint(ald_command_line_bytes("n", NULL, &value, NULL), ==, 0);
        g_assert_cmpuint(value, ==, 7);
        for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
                g_assert_cmpint(ald_command_line_bytes("n", right[i].text, &value, NULL), ==, 0);
                g_assert_cmpuint(value, ==, right[i].bytes);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/command-line/arguments", test_arguments);
        g_test_add_func("/probe/command-line/help", test_help);
        g_test_add_func("/probe/command-line/refused", test_refused);
        g_test_add_func("/probe/command-line/numbers", test_numbers);
        g_test_add_func("/probe/command-line/bytes", test_bytes);
        return g_test_run();
}
