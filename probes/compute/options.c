/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/arguments.h"
#include "probes/compute/gemm/gemm.h"
#include "probes/compute/options.h"

#define SECONDS_MAX 60.0
#define SECONDS_MIN 0.1
#define TIMEOUT_MAX 3600u
#define SIZE_MAX_OF_GEMM 65536u
#define TIMEOUT 45u /* compilers of some drivers take their time */

const char ald_compute_help[] =
        "Usage: alidade-probe-compute [OPTION…]\n\n"
        "Measure the compute devices of this machine through OpenCL: matrix products, memory.\n\n"
        "     --list               Show the devices\n"
        "     --device=ID          Measure this device (all, one after the other)\n"
        "     --metric=NAME[,…]    gemm: matrix product; read, copy: memory; peak: registers (all)\n"
        "     --variant=NAME       gemm: use this kernel (the fastest correct one)\n"
        "     --size=N             gemm: of N rows and columns (as many as the device asks for)\n"
        "     --seconds-max=N      At most N seconds for each metric (3)\n"
        "     --timeout=N          Give up on a metric after N seconds (45)\n"
        "     --give-way           Stop if the device is in use, rather than measure beside other work\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-compute(1).\n";

enum {
        VERSION = 0x100,
        LIST,
        DEVICE,
        METRIC,
        VARIANT,
        SIZE,
        SECONDS,
        TIME_LIMIT,
        GIVE_WAY,
        JSON,
        PROGRESS_FD,
        CHILD,
        SIMPLER_THAN,
        ANSWER_FD,
        PARENT,
        ORDINAL,
        NAME,
        PCI,
};

static const struct option table[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, VERSION },
        { "list", no_argument, NULL, LIST },
        { "device", required_argument, NULL, DEVICE },
        { "metric", required_argument, NULL, METRIC },
        { "variant", required_argument, NULL, VARIANT },
        { "size", required_argument, NULL, SIZE },
        { "seconds-max", required_argument, NULL, SECONDS },
        { "timeout", required_argument, NULL, TIME_LIMIT },
        { "give-way", no_argument, NULL, GIVE_WAY },
        { "json", no_argument, NULL, JSON },
        { "progress-fd", required_argument, NULL, PROGRESS_FD },
        { "child", no_argument, NULL, CHILD },
        { "simpler-than", required_argument, NULL, SIMPLER_THAN },
        { "answer-fd", required_argument, NULL, ANSWER_FD },
        { "parent", required_argument, NULL, PARENT },
        { "ordinal", required_argument, NULL, ORDINAL },
        { "name", required_argument, NULL, NAME },
        { "pci", required_argument, NULL, PCI },
        {},
};

static int set_metrics(AldComputeOptions *options, char **ret_error)
{
        g_auto(GStrv) names = g_strsplit(optarg, ",", _ALD_METRIC_MAX + 1);

        options->metrics = 0;
        for (char **name = names; *name; name++) {
                AldMetric metric = ald_metric_from_string(*name);

                if (metric == _ALD_METRIC_MAX)
                        return ald_arguments_refuse(
                                ret_error, "--metric: not one of gemm, read, copy, peak: %s", *name);
                options->metrics |= 1u << metric;
        }
        if (options->metrics == 0)
                return ald_arguments_refuse(ret_error, "--metric needs a metric");
        return 0;
}

static int set_seconds(AldComputeOptions *options, char **ret_error)
{
        char *end = NULL;
        double seconds = g_ascii_strtod(optarg, &end);

        if (end == optarg || *end || !(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX))
                return ald_arguments_refuse(ret_error, "--seconds-max: not a number from %g to %g: %s",
                        SECONDS_MIN, SECONDS_MAX, optarg);
        options->seconds_max = seconds;
        return 0;
}

static int set_variant(AldComputeOptions *options, char **ret_error)
{
        g_autoptr(GString) names = NULL;

        if (ald_gemm_variant_find(&ald_gemm_variants, optarg)) {
                options->variant = optarg;
                return 0;
        }
        names = g_string_new(NULL);
        for (size_t i = 0; i < ald_gemm_variants.n; i++)
                g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", ald_gemm_variants.variants[i].name);
        return ald_arguments_refuse(ret_error, "--variant: not one of %s: %s", names->str, optarg);
}

static int set_number(AldComputeOptions *options, int option, char **ret_error)
{
        uint64_t value = 0;
        int r;

        switch (option) {
        case SIZE:
                r = ald_arguments_number("size", optarg, 1, SIZE_MAX_OF_GEMM, &value, ret_error);
                options->size = (unsigned) value;
                return r;
        case TIME_LIMIT:
                r = ald_arguments_number("timeout", optarg, 1, TIMEOUT_MAX, &value, ret_error);
                options->timeout = (unsigned) value;
                return r;
        case PROGRESS_FD:
                r = ald_arguments_number("progress-fd", optarg, 0, 65535, &value, ret_error);
                options->progress_fd = (int) value;
                return r;
        case ANSWER_FD:
                r = ald_arguments_number("answer-fd", optarg, 0, 65535, &value, ret_error);
                options->answer_fd = (int) value;
                return r;
        case ORDINAL:
                r = ald_arguments_number("ordinal", optarg, 0, UINT16_MAX, &value, ret_error);
                options->listed.ordinal = (unsigned) value;
                return r;
        default:
                r = ald_arguments_number("parent", optarg, 1, INT32_MAX, &value, ret_error);
                options->parent = (int) value;
                return r;
        }
}

static int set_option(void *userdata, int option, char **ret_error)
{
        AldComputeOptions *options = userdata;

        switch (option) {
        case 'h':
                options->mode = ALD_COMPUTE_HELP;
                return 1;
        case VERSION:
                options->mode = ALD_COMPUTE_VERSION;
                return 1;
        case LIST:
                options->lists = true;
                return 0;
        case DEVICE:
                options->device = optarg;
                return 0;
        case METRIC:
                return set_metrics(options, ret_error);
        case VARIANT:
                return set_variant(options, ret_error);
        case SECONDS:
                return set_seconds(options, ret_error);
        case GIVE_WAY:
                options->gives_way = true;
                return 0;
        case JSON:
                options->json = true;
                return 0;
        case CHILD:
                options->mode = ALD_COMPUTE_CHILD;
                return 0;
        case SIMPLER_THAN:
                options->simpler_than = optarg;
                return 0;
        case NAME:
                options->listed.name = optarg;
                return 0;
        case PCI:
                options->listed.pci = optarg;
                return 0;
        default:
                return set_number(options, option, ret_error);
        }
}

static int check(AldComputeOptions *options, char **ret_error)
{
        bool is_child = options->mode == ALD_COMPUTE_CHILD;

        if (options->device && (!*options->device || !g_utf8_validate(options->device, -1, NULL)))
                return ald_arguments_refuse(ret_error, "--device needs a device");
        if (is_child != (options->answer_fd >= 0) || is_child != (options->parent > 0) ||
                ((options->simpler_than || options->listed.name) && !is_child))
                return ald_arguments_refuse(ret_error, "--child is for internal use");
        if (is_child && !options->lists &&
                (!options->listed.name || __builtin_popcount(options->metrics) != 1))
                return ald_arguments_refuse(ret_error, "--child needs a device and one metric");
        if (!is_child && options->lists)
                options->mode = ALD_COMPUTE_LIST;
        return 0;
}

int ald_compute_options_parse(int argc, char **argv, AldComputeOptions *ret, char **ret_error)
{
        AldComputeOptions options = {
                .metrics = ALD_METRICS_ALL,
                .seconds_max = 3,
                .timeout = TIMEOUT,
                .progress_fd = -1,
                .answer_fd = -1,
        };
        int r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        if (r == 0 && optind < argc)
                r = ald_arguments_refuse(ret_error, "unexpected argument: %s", argv[optind]);
        if (r == 0)
                r = check(&options, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
