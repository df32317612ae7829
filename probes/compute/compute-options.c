/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/compute-options.h"
#include "probes/compute/gemm/gemm.h"

#define SECONDS_DEFAULT 3.0
#define SECONDS_MAX 60.0
#define SECONDS_MIN 0.1
#define TIMEOUT 45u /* seconds, since the compilers of some drivers are slow */
#define TIMEOUT_MAX 3600u

const AldCommandLine ald_compute_command_line = {
        .program = "alidade-probe-compute",
        .summary = "Measure the compute devices of this machine through OpenCL: matrix products, memory.",
};

/* The arguments of options that are converted once all have been read. */
typedef struct Texts {
        gboolean is_child;
        char *metrics, *size, *seconds_max, *timeout, *progress_fd, *answer_fd, *parent, *ordinal;
} Texts;

static void texts_clear(Texts *texts)
{
        g_free(texts->metrics);
        g_free(texts->size);
        g_free(texts->seconds_max);
        g_free(texts->timeout);
        g_free(texts->progress_fd);
        g_free(texts->answer_fd);
        g_free(texts->parent);
        g_free(texts->ordinal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Texts, texts_clear)

static int set_metrics(AldComputeOptions *options, const char *text, char **ret_error)
{
        g_auto(GStrv) names = text ? g_strsplit(text, ",", _ALD_METRIC_MAX + 1) : NULL;

        if (!names)
                return 0;
        options->metrics = 0;
        for (char **name = names; *name; name++) {
                AldMetric metric = ald_metric_from_string(*name);

                if (metric == _ALD_METRIC_MAX)
                        return ald_command_line_refuse(ret_error,
                                "--metric: not one of gemm, read, copy, peak, to-device, to-host: %s", *name);
                options->metrics |= 1u << metric;
        }
        if (options->metrics == 0)
                return ald_command_line_refuse(ret_error, "--metric needs a metric");
        return 0;
}

static int set_seconds(AldComputeOptions *options, const char *text, char **ret_error)
{
        char *end = NULL;
        double seconds = text ? g_ascii_strtod(text, &end) : SECONDS_DEFAULT;

        /* Only digits and a decimal point are valid, as only digits are for other options. */
        if (text && (strspn(text, "0123456789.") != strlen(text) || end == text || *end ||
                            !(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX)))
                return ald_command_line_refuse(ret_error, "--seconds-max: not a number from %g to %g: %s",
                        SECONDS_MIN, SECONDS_MAX, text);
        options->seconds_max = seconds;
        return 0;
}

/* Every kernel accepts such a size. One that few kernels accept would fail only after the others were
 * tried. */
static int set_size(AldComputeOptions *options, const char *text, char **ret_error)
{
        guint64 size = 0;

        if (text && (!g_ascii_string_to_unsigned(text, 10, ALD_GEMM_N_MIN, ALD_GEMM_N_MAX, &size, NULL) ||
                            size % ALD_GEMM_N_MIN != 0))
                return ald_command_line_refuse(ret_error, "--size: not a multiple of %u from %u to %u: %s",
                        ALD_GEMM_N_MIN, ALD_GEMM_N_MIN, ALD_GEMM_N_MAX, text);
        options->size = (unsigned) size;
        return 0;
}

static int check_variant(const AldComputeOptions *options, char **ret_error)
{
        g_autoptr(GString) names = NULL;

        if (!options->variant || ald_gemm_variant_find(&ald_gemm_variants, options->variant))
                return 0;
        names = g_string_new(NULL);
        for (size_t i = 0; i < ald_gemm_variants.n; i++)
                g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", ald_gemm_variants.variants[i].name);
        return ald_command_line_refuse(
                ret_error, "--variant: not one of %s: %s", names->str, options->variant);
}

static int convert_texts(AldComputeOptions *options, const Texts *texts, char **ret_error)
{
        int r = set_metrics(options, texts->metrics, ret_error);

        if (r >= 0)
                r = check_variant(options, ret_error);
        if (r >= 0)
                r = set_size(options, texts->size, ret_error);
        if (r >= 0)
                r = set_seconds(options, texts->seconds_max, ret_error);
        if (r >= 0)
                r = ald_command_line_unsigned(
                        "timeout", texts->timeout, 1, TIMEOUT_MAX, &options->timeout, ret_error);
        if (r >= 0)
                r = ald_command_line_fd("progress-fd", texts->progress_fd, &options->progress_fd, ret_error);
        if (r >= 0)
                r = ald_command_line_fd("answer-fd", texts->answer_fd, &options->answer_fd, ret_error);
        if (r >= 0)
                r = ald_command_line_unsigned(
                        "ordinal", texts->ordinal, 0, UINT16_MAX, &options->ordinal, ret_error);
        if (r >= 0)
                r = ald_command_line_unsigned(
                        "parent", texts->parent, 1, INT32_MAX, &options->parent, ret_error);
        return r;
}

static int check_options(AldComputeOptions *options, const Texts *texts, char **ret_error)
{
        bool is_child = texts->is_child;

        if (options->device && (!*options->device || !g_utf8_validate(options->device, -1, NULL)))
                return ald_command_line_refuse(ret_error, "--device needs a device");
        if (is_child != (options->answer_fd >= 0) || is_child != (options->parent > 0) ||
                ((options->simpler_than || options->name || options->pci || texts->ordinal) && !is_child))
                return ald_command_line_refuse(ret_error, "--child is for internal use");
        if (is_child && !options->lists && (!options->name || __builtin_popcount(options->metrics) != 1))
                return ald_command_line_refuse(ret_error, "--child needs a device and one metric");
        options->mode = is_child         ? ALD_COMPUTE_CHILD
                        : options->lists ? ALD_COMPUTE_LIST
                                         : ALD_COMPUTE_MEASURE;
        return 0;
}

static int parse_options(
        AldComputeOptions *options, int argc, char **argv, char **ret_output, char **ret_error)
{
        g_auto(Texts) texts = {};
        g_auto(GStrv) rest = NULL;
        const GOptionEntry entries[] = {
                ALD_COMMAND_LINE_SWITCH("list", &options->lists, "Show the devices"),
                ALD_COMMAND_LINE_TEXT(
                        "device", &options->device, "Measure this device (all, one after the other)", "ID"),
                ALD_COMMAND_LINE_TEXT("metric", &texts.metrics,
                        "gemm: matrix product; read, copy: memory; peak: registers; to-device, to-host (all)",
                        "NAME[,…]"),
                ALD_COMMAND_LINE_TEXT("variant", &options->variant,
                        "gemm: use this kernel (the fastest correct one)", "NAME"),
                ALD_COMMAND_LINE_TEXT("size", &texts.size,
                        "gemm: of N rows and columns, a multiple of 256 (depends on the device)", "N"),
                ALD_COMMAND_LINE_TEXT(
                        "seconds-max", &texts.seconds_max, "At most N seconds for each metric (3)", "N"),
                ALD_COMMAND_LINE_TEXT(
                        "timeout", &texts.timeout, "Give up on a metric after N seconds (45)", "N"),
                ALD_COMMAND_LINE_SWITCH("give-way", &options->gives_way,
                        "Stop if the device is in use, rather than measure beside other work"),
                ALD_COMMAND_LINE_SWITCH("json", &options->json, "Print the result as JSON"),
                ALD_COMMAND_LINE_HIDDEN_TEXT("progress-fd", &texts.progress_fd),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("child", &texts.is_child),
                ALD_COMMAND_LINE_HIDDEN_TEXT("simpler-than", &options->simpler_than),
                ALD_COMMAND_LINE_HIDDEN_TEXT("answer-fd", &texts.answer_fd),
                ALD_COMMAND_LINE_HIDDEN_TEXT("parent", &texts.parent),
                ALD_COMMAND_LINE_HIDDEN_TEXT("ordinal", &texts.ordinal),
                ALD_COMMAND_LINE_HIDDEN_TEXT("name", &options->name),
                ALD_COMMAND_LINE_HIDDEN_TEXT("pci", &options->pci),
                {},
        };
        const GOptionEntry *const tables[] = { entries, NULL };
        int r = ald_command_line_parse(
                &ald_compute_command_line, tables, NULL, argc, argv, &rest, ret_output, ret_error);

        if (r != 0)
                return r;
        if (*rest)
                return ald_command_line_refuse(ret_error, "unexpected argument: %s", *rest);
        r = convert_texts(options, &texts, ret_error);
        return r < 0 ? r : check_options(options, &texts, ret_error);
}

int ald_compute_options_parse(
        int argc, char **argv, AldComputeOptions *ret, char **ret_output, char **ret_error)
{
        g_auto(AldComputeOptions) options = {
                .metrics = ALD_METRICS_ALL,
                .timeout = TIMEOUT,
                .progress_fd = -1,
                .answer_fd = -1,
        };
        int r = parse_options(&options, argc, argv, ret_output, ret_error);

        if (r == 0) {
                *ret = options;
                options = (AldComputeOptions){};
        }
        return r;
}

void ald_compute_options_clear(AldComputeOptions *options)
{
        g_free(options->device);
        g_free(options->variant);
        g_free(options->name);
        g_free(options->pci);
        g_free(options->simpler_than);
        *options = (AldComputeOptions){};
}
