/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/compute/options.h"

/* The command line as words between blanks. */
static int parse(const char *line, AldComputeOptions *ret, char ***ret_words)
{
        g_autofree char *error = NULL;
        char **words = g_strsplit(line, " ", -1);
        int r = ald_compute_options_parse((int) g_strv_length(words), words, ret, &error);

        g_assert_true((r < 0) == (error != NULL));
        *ret_words = words;
        return r;
}

static void assert_refused(const char *line)
{
        AldComputeOptions options;
        char **words;

        g_assert_cmpint(parse(line, &options, &words), ==, -EINVAL);
        g_strfreev(words);
}

static void test_measure(void)
{
        AldComputeOptions options;
        char **words;

        g_assert_cmpint(parse("x", &options, &words), ==, 0);
        g_assert_cmpint(options.mode, ==, ALD_COMPUTE_MEASURE);
        g_assert_cmpuint(options.metrics, ==, ALD_METRICS_ALL);
        g_assert_null(options.device);
        g_assert_cmpint(options.progress_fd, ==, -1);
        g_strfreev(words);
        g_assert_cmpint(parse("x --device=cpu --metric=read,gemm --seconds-max=0.5 --size=1024 "
                              "--variant=tiled-fp16 --progress-fd=5 --json --timeout=9",
                                &options, &words),
                ==, 0);
        g_assert_cmpuint(options.metrics, ==, 1u << ALD_METRIC_READ | 1u << ALD_METRIC_GEMM);
        g_assert_cmpstr(options.device, ==, "cpu");
        g_assert_cmpstr(options.variant, ==, "tiled-fp16");
        g_assert_cmpfloat(options.seconds_max, ==, 0.5);
        g_assert_cmpuint(options.size, ==, 1024);
        g_assert_cmpuint(options.timeout, ==, 9);
        g_assert_true(options.json);
        g_strfreev(words);
}

static void test_modes(void)
{
        static const struct {
                const char *line;
                AldComputeMode mode;
        } modes[] = {
                { "x --list", ALD_COMPUTE_LIST },
                { "x --help", ALD_COMPUTE_HELP },
                { "x --version", ALD_COMPUTE_VERSION },
                { "x --child --answer-fd=3 --parent=7 --list", ALD_COMPUTE_CHILD },
                { "x --child --answer-fd=3 --parent=7 --name=n --metric=copy", ALD_COMPUTE_CHILD },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
                AldComputeOptions options;
                char **words;

                g_assert_cmpint(parse(modes[i].line, &options, &words), ==, 0);
                g_assert_cmpint(options.mode, ==, modes[i].mode);
                g_strfreev(words);
        }
}

static void test_refused(void)
{
        assert_refused("x --metric=");
        assert_refused("x --metric=gemm,warp");
        assert_refused("x --seconds-max=inf");
        assert_refused("x --seconds-max=1s");
        assert_refused("x --timeout=0");
        assert_refused("x --size=0");
        assert_refused("x --device=");
        assert_refused("x --nothing");
        assert_refused("x cpu");
        /* What is between the program and its children is not for others. */
        assert_refused("x --child");
        assert_refused("x --answer-fd=3");
        assert_refused("x --name=n");
        assert_refused("x --child --answer-fd=3 --parent=7 --name=n");
        assert_refused("x --child --answer-fd=3 --parent=7 --metric=copy");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute/options/measure", test_measure);
        g_test_add_func("/compute/options/modes", test_modes);
        g_test_add_func("/compute/options/refused", test_refused);
        return g_test_run();
}
