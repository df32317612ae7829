/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/compute/compute-options.h"

/* The arguments are separated by spaces. */
static int parse(const char *line, AldComputeOptions *ret, char **ret_error)
{
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        g_autofree char *output = NULL;
        int r;

        g_test_message("%s", line);
        r = ald_compute_options_parse((int) g_strv_length(words), words, ret, &output, ret_error);
        g_assert_true((r < 0) == (*ret_error != NULL));
        g_assert_true((r > 0) == (output != NULL));
        return r;
}

static void assert_parsed(const char *line, AldComputeOptions *ret)
{
        g_autofree char *error = NULL;

        ald_compute_options_clear(ret);
        g_assert_cmpint(parse(line, ret, &error), ==, 0);
}

static void assert_refused(const char *line, const char *reason)
{
        AldComputeOptions options = { .timeout = 1 };
        g_autofree char *error = NULL;

        g_assert_cmpint(parse(line, &options, &error), ==, -EINVAL);
        g_assert_cmpuint(options.timeout, ==, 1);
        if (reason)
                g_assert_cmpstr(error, ==, reason);
}

static void test_measure(void)
{
        g_auto(AldComputeOptions) options = {};

        assert_parsed("x", &options);
        g_assert_cmpint(options.mode, ==, ALD_COMPUTE_MEASURE);
        g_assert_cmpuint(options.metrics, ==, ALD_METRICS_ALL);
        g_assert_null(options.device);
        g_assert_cmpint(options.progress_fd, ==, -1);
        g_assert_cmpuint(options.size, ==, 0);
        g_assert_cmpfloat(options.seconds_max, ==, 3);
        g_assert_cmpuint(options.timeout, ==, 45);
}

static void test_both_forms(void)
{
        static const char *const forms[] = {
                "x --device=cpu --metric=read,gemm --seconds-max=0.5 --size=1024 --variant=tiled-fp16 "
                "--progress-fd=5 --json --timeout=9",
                "x --device cpu --metric read,gemm --seconds-max 0.5 --size 1024 --variant tiled-fp16 "
                "--progress-fd 5 --json --timeout 9",
        };
        g_auto(AldComputeOptions) options = {};

        for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
                assert_parsed(forms[i], &options);
                g_assert_cmpuint(options.metrics, ==, 1u << ALD_METRIC_READ | 1u << ALD_METRIC_GEMM);
                g_assert_cmpstr(options.device, ==, "cpu");
                g_assert_cmpstr(options.variant, ==, "tiled-fp16");
                g_assert_cmpfloat(options.seconds_max, ==, 0.5);
                g_assert_cmpuint(options.size, ==, 1024);
                g_assert_cmpint(options.progress_fd, ==, 5);
                g_assert_cmpuint(options.timeout, ==, 9);
                g_assert_true(options.json);
        }
}

static void test_transfers(void)
{
        g_auto(AldComputeOptions) options = {};

        assert_parsed("x --metric=to-host,to-device", &options);
        g_assert_cmpuint(options.metrics, ==, 1u << ALD_METRIC_TO_DEVICE | 1u << ALD_METRIC_TO_HOST);
        assert_parsed("x --metric=gemm,read,copy,peak,to-device,to-host", &options);
        g_assert_cmpuint(options.metrics, ==, ALD_METRICS_ALL);
}

static void test_modes(void)
{
        static const struct {
                const char *line;
                AldComputeMode mode;
        } modes[] = {
                { "x --list", ALD_COMPUTE_LIST },
                { "x --child --answer-fd=3 --parent=7 --list", ALD_COMPUTE_CHILD },
                { "x --child --answer-fd=3 --parent=7 --name=n --metric=copy", ALD_COMPUTE_CHILD },
        };
        g_auto(AldComputeOptions) options = {};

        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
                assert_parsed(modes[i].line, &options);
                g_assert_cmpint(options.mode, ==, modes[i].mode);
        }
        assert_parsed(
                "x --child --answer-fd=3 --parent=7 --name=n --metric=copy --pci=p --ordinal=2", &options);
        g_assert_cmpint(options.answer_fd, ==, 3);
        g_assert_cmpuint(options.parent, ==, 7);
        g_assert_cmpuint(options.ordinal, ==, 2);
        g_assert_cmpstr(options.name, ==, "n");
        g_assert_cmpstr(options.pci, ==, "p");
}

/* A name of a device is kept as it is in every locale. */
static void test_bytes(void)
{
        g_auto(AldComputeOptions) options = {};

        assert_parsed("x --device=\xc3\xa9", &options);
        g_assert_cmpstr(options.device, ==, "\xc3\xa9");
        assert_refused("x --device=\xff", "--device needs a device");
        assert_parsed("x --child --answer-fd=3 --parent=7 --name=\xff --metric=copy", &options);
        g_assert_cmpstr(options.name, ==, "\xff");
}

static void test_refused(void)
{
        assert_refused("x --metric=", NULL);
        assert_refused("x --metric=gemm,warp",
                "--metric: not one of gemm, read, copy, peak, to-device, to-host: warp");
        assert_refused("x --seconds-max=inf", "--seconds-max: not a number from 0.1 to 60: inf");
        assert_refused("x --seconds-max=1s", "--seconds-max: not a number from 0.1 to 60: 1s");
        assert_refused("x --seconds-max=", "--seconds-max: not a number from 0.1 to 60: ");
        assert_refused("x --seconds-max=+3", "--seconds-max: not a number from 0.1 to 60: +3");
        assert_refused("x --seconds-max=0x3", "--seconds-max: not a number from 0.1 to 60: 0x3");
        assert_refused("x --timeout=0", "--timeout: not a number from 1 to 3600: 0");
        assert_refused("x --timeout=4294967297", "--timeout: not a number from 1 to 3600: 4294967297");
        assert_refused("x --timeout", "Missing argument for --timeout");
        assert_refused("x --device=", "--device needs a device");
        assert_refused("x --nothing", "Unknown option --nothing");
        assert_refused("x cpu", "unexpected argument: cpu");
        /* What is between the program and its children is not for others. */
        assert_refused("x --child", "--child is for internal use");
        assert_refused("x --answer-fd=3", "--child is for internal use");
        assert_refused("x --name=n", "--child is for internal use");
        assert_refused("x --pci=p", "--child is for internal use");
        assert_refused("x --ordinal=1", "--child is for internal use");
        assert_refused(
                "x --child --answer-fd=3 --parent=7 --name=n", "--child needs a device and one metric");
        assert_refused(
                "x --child --answer-fd=3 --parent=7 --metric=copy", "--child needs a device and one metric");
}

static void test_sizes(void)
{
        static const char *const wrong[] = { "0", "100", "255", "1000", "33024", "65536", "4294967552",
                "18446744073709551872", "-256", "256x", "" };
        g_auto(AldComputeOptions) options = {};

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *line = g_strconcat("x --size=", wrong[i], NULL);
                g_autofree char *reason = g_strconcat(
                        "--size: not a multiple of 256 from 256 to 32768: ", wrong[i], NULL);

                assert_refused(line, reason);
        }
        assert_parsed("x --size=256", &options);
        g_assert_cmpuint(options.size, ==, 256);
        assert_parsed("x --size=32768", &options);
        g_assert_cmpuint(options.size, ==, 32768);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute/options/measure", test_measure);
        g_test_add_func("/compute/options/both-forms", test_both_forms);
        g_test_add_func("/compute/options/transfers", test_transfers);
        g_test_add_func("/compute/options/modes", test_modes);
        g_test_add_func("/compute/options/bytes", test_bytes);
        g_test_add_func("/compute/options/sizes", test_sizes);
        g_test_add_func("/compute/options/refused", test_refused);
        return g_test_run();
}
