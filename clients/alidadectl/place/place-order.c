/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clients/alidadectl/place/place-order.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/quantity.h"
#include "placement/model/model-file.h"
#include "placement/plan/workload.h"

/* As AssumedBitsPerSecond and AssumedRttNSec allow. */
#define RATE_MAX 1e15
#define RTT_NSEC_MAX 1e12

#define USAGE "alidadectl place MODEL|--bytes=SIZE --layers=N --elements=N|--message-bytes=SIZE"

void ald_place_order_init(AldPlaceOrder *order)
{
        *order = (AldPlaceOrder){ .workload = ALD_PLAN_WORKLOAD_INIT,
                .options = ALD_PLAN_OPTIONS_INIT,
                .must = g_ptr_array_new_with_free_func(g_free),
                .without = g_ptr_array_new_with_free_func(g_free),
                .split = g_ptr_array_new_with_free_func(g_free),
                .order = ALD_PLAN_ORDER_INIT };
        order->options.engine = "llama.cpp";
}

void ald_place_order_clear(AldPlaceOrder *order)
{
        ald_plan_workload_clear(&order->workload);
        g_free(order->title);
        g_free(order->note);
        g_ptr_array_unref(order->must);
        g_ptr_array_unref(order->without);
        g_ptr_array_unref(order->split);
}

static int help(void)
{
        puts("Usage: " USAGE "\n\n"
             "Plan on which devices of the cluster a language model runs best: a GGUF file, or a folder "
             "with\n"
             "safetensors and config.json. Only the sizes in it are read.\n\n"
             "Options:\n"
             "  -h --help              Show this help\n"
             "     --engine=ENGINE     What runs the model (default: llama.cpp): vllm, sglang, torch,\n"
             "                         distributed-llama; mpi and nccl order a ring for all-reduces\n"
             "     --goal=GOAL         latency (default), throughput, or both, with what lies between as\n"
             "                         alternatives\n"
             "     --context=TOKENS    Tokens that each request keeps (default: 4096, or what the model "
             "has)\n"
             "     --parallel=N        Requests at once (default: 1)\n"
             "     --kv-type=TYPE      Type of keys and values, or both as K,V: f32, f16, bf16, q8_0, q5_1,\n"
             "                         q5_0, q4_1, q4_0, iq4_nl (default: f16; f32 for "
             "distributed-llama)\n"
             "     --must=NODE[/DEVICE]\n"
             "                         Must get a layer; may be repeated\n"
             "     --without=NODE[/DEVICE]\n"
             "                         Gets none; may be repeated\n"
             "     --split=NODE/DEVICE=LAYERS\n"
             "                         Gets this many layers; repeated for all devices that get any\n"
             "     --client=NODE       Runs the client of llama.cpp, or the root of distributed-llama\n"
             "     --max-nodes=N       Use this many nodes at most\n"
             "     --max-devices=N     Use this many devices at most\n"
             "     --assume=RATE,RTT   Between nodes that were never measured, such as\n"
             "                         1Gb/s,0.3ms\n"
             "     --set=NAME=VALUE    Replace a constant of the cost model; may be repeated\n"
             "     --bytes=SIZE        Instead of a model: size of all its layers, such as\n"
             "                         40GiB, or 40GB for powers of 1000\n"
             "     --layers=N          Their number\n"
             "     --elements=N        Elements that pass from layer to layer for a token\n"
             "     --kv-bytes=SIZE     Size of all keys and values (default: what the model says)\n"
             "     --message-bytes=SIZE\n"
             "                         For mpi and nccl: what is summed up over all ranks\n"
             "  -H --host=USER@HOST    Plan on another machine, over ssh; the model is read here\n"
             "     --json[=MODE]       Print JSON, which export reads: short, pretty or off\n"
             "     --no-pager          Do not use a pager\n"
             "     --no-ask-password   Do not ask for a password\n\n"
             "See alidadectl(1).");
        return ald_print_finish();
}

static bool refuse(const char *option, const char *value, const char *wanted)
{
        ald_print_error("--%s: \"%s\" is not %s", option, value, wanted);
        return false;
}

static bool parse_count(const char *option, const char *text, uint64_t max, uint64_t *ret)
{
        guint64 value;

        if (!g_ascii_string_to_unsigned(text, 10, 1, max, &value, NULL)) {
                g_autofree char *wanted = g_strdup_printf("a whole number from 1 to %" PRIu64, max);

                return refuse(option, text, wanted);
        }
        *ret = value;
        return true;
}

static bool parse_size(const char *option, const char *text, uint64_t *ret)
{
        g_autofree char *problem = NULL;
        int r = ald_size_parse(text, ret);

        if (r >= 0)
                return true;
        problem = ald_size_problem(text, r);
        ald_print_error("--%s: \"%s\" is %s", option, text, problem);
        return false;
}

static bool parse_assumed(const char *text, AldPlanOptions *options)
{
        static const AldQuantityUnit rates[] = { { "b/s", 1 }, { "k", 1e3 }, { "kb/s", 1e3 }, { "M", 1e6 },
                { "Mb/s", 1e6 }, { "G", 1e9 }, { "Gb/s", 1e9 }, { "T", 1e12 }, { "Tb/s", 1e12 },
                { NULL, 0 } };
        static const AldQuantityUnit times[] = { { "ns", 1 }, { "us", 1e3 }, { "µs", 1e3 }, { "ms", 1e6 },
                { "s", 1e9 }, { NULL, 0 } };
        g_auto(GStrv) parts = g_strsplit(text, ",", 2);
        double rate, rtt;

        if (g_strv_length(parts) != 2 || ald_quantity_parse(parts[0], rates, &rate) < 0 || rate < 1 ||
                rate > RATE_MAX || ald_quantity_parse(parts[1], times, &rtt) < 0 || rtt < 1 ||
                rtt > RTT_NSEC_MAX)
                return refuse("assume", text, "a rate and a round trip with units, such as 1Gb/s,0.3ms");
        options->assumed_bits_per_second = (uint64_t) rate;
        options->assumed_rtt_nsec = (uint64_t) rtt;
        return true;
}

static bool parse_constant(const char *text, AldPlanOptions *options)
{
        g_auto(GStrv) parts = g_strsplit(text, "=", 2);
        const AldField *field = g_strv_length(parts) == 2
                                        ? ald_struct_find(&ald_plan_options_struct, parts[0])
                                        : NULL;
        char *rest;
        double value;

        if (!field || field->type != ALD_TYPE_DOUBLE)
                return refuse("set", text, "NAME=VALUE of a constant; see org.alidade.Placement1(5)");
        value = g_ascii_strtod(parts[1], &rest);
        if (rest == parts[1] || *rest || !(value >= field->minimum && value <= field->maximum)) {
                ald_print_error(
                        "--set: %s must be from %.15g to %.15g", field->name, field->minimum, field->maximum);
                return false;
        }
        memcpy((char *) options + field->offset, &value, sizeof value);
        return true;
}

static bool parse_kv_type(const char *text, AldKvType *ret)
{
        return ald_kv_type_from_name(text, ret) >= 0 ||
               refuse("kv-type", text, "a type of keys and values; see --help");
}

static bool parse_kv_types(const char *text, AldPlanOrder *order)
{
        g_auto(GStrv) parts = g_strsplit(text, ",", 2);

        if (!parse_kv_type(parts[0] ? parts[0] : "", &order->type_k))
                return false;
        order->type_v = order->type_k;
        return !parts[1] || parse_kv_type(parts[1], &order->type_v);
}

enum {
        ENGINE = 0x100,
        CONTEXT_TOKENS,
        PARALLEL,
        KV_TYPE,
        MUST,
        WITHOUT,
        SPLIT,
        GOAL,
        CLIENT,
        MAX_DEVICES,
        MAX_NODES,
        ASSUME,
        SET,
        BYTES,
        LAYERS,
        ELEMENTS,
        KV_BYTES,
        MESSAGE_BYTES,
};

static const struct option long_options[] = {
        ALD_COMMON_OPTIONS,
        { "engine", required_argument, NULL, ENGINE },
        { "context", required_argument, NULL, CONTEXT_TOKENS },
        { "parallel", required_argument, NULL, PARALLEL },
        { "kv-type", required_argument, NULL, KV_TYPE },
        { "must", required_argument, NULL, MUST },
        { "without", required_argument, NULL, WITHOUT },
        { "split", required_argument, NULL, SPLIT },
        { "goal", required_argument, NULL, GOAL },
        { "client", required_argument, NULL, CLIENT },
        { "max-nodes", required_argument, NULL, MAX_NODES },
        { "max-devices", required_argument, NULL, MAX_DEVICES },
        { "assume", required_argument, NULL, ASSUME },
        { "set", required_argument, NULL, SET },
        { "bytes", required_argument, NULL, BYTES },
        { "layers", required_argument, NULL, LAYERS },
        { "elements", required_argument, NULL, ELEMENTS },
        { "kv-bytes", required_argument, NULL, KV_BYTES },
        { "message-bytes", required_argument, NULL, MESSAGE_BYTES },
        {},
};

static bool take_workload_option(AldPlanOrder *order, int c, const char *value)
{
        switch (c) {
        case CONTEXT_TOKENS:
                return parse_count("context", value, 1000000000, &order->context);
        case PARALLEL:
                return parse_count("parallel", value, 65536, &order->parallel);
        case LAYERS:
                return parse_count("layers", value, ALD_LLM_LAYERS_MAX, &order->layers);
        case ELEMENTS:
                return parse_count("elements", value, 1000000, &order->elements);
        case BYTES:
                return parse_size("bytes", value, &order->bytes) &&
                       (order->bytes > 0 || refuse("bytes", value, "a size of more than nothing"));
        case KV_BYTES:
                return parse_size("kv-bytes", value, &order->kv_bytes);
        case MESSAGE_BYTES:
                return parse_size("message-bytes", value, &order->message_bytes);
        default:
                return parse_kv_types(value, order);
        }
}

/* The bus carries no other text. */
static bool is_text(const char *option, const char *value)
{
        if (g_utf8_validate(value, -1, NULL))
                return true;
        ald_print_error("--%s is not UTF-8", option);
        return false;
}

static bool add_text(const char *option, const char *value, GPtrArray *list)
{
        if (!is_text(option, value))
                return false;
        g_ptr_array_add(list, g_strdup(value));
        return true;
}

/* The values of options of the plan; the bus checks what they name. */
static bool take_plan_option(AldPlaceOrder *order, int c, char *value)
{
        switch (c) {
        case ENGINE:
                if (ald_plan_options_engine_from_string(value) < 0)
                        return refuse("engine", value, "an engine that plans are made for; see --help");
                order->options.engine = value;
                return true;
        case GOAL:
                if (ald_plan_options_goal_from_string(value) < 0)
                        return refuse("goal", value, "latency, throughput or both");
                order->options.goal = value;
                return true;
        case SPLIT:
                return add_text("split", value, order->split);
        case MAX_NODES:
                return parse_count("max-nodes", value, 65536, &order->options.max_nodes);
        case MUST:
                return add_text("must", value, order->must);
        case WITHOUT:
                return add_text("without", value, order->without);
        case CLIENT:
                order->options.client = value;
                return is_text("client", value);
        case MAX_DEVICES:
                return parse_count("max-devices", value, 65536, &order->options.max_devices);
        case ASSUME:
                return parse_assumed(value, &order->options);
        default:
                return parse_constant(value, &order->options);
        }
}

/* Returns an exit code, or -1 to go on. */
static int take_option(AldPlaceOrder *order, AldCtl *ctl, char **argv, int c)
{
        switch (c) {
        case 'h':
                return help();
        case ENGINE:
        case MUST:
        case WITHOUT:
        case CLIENT:
        case SPLIT:
        case GOAL:
        case MAX_DEVICES:
        case MAX_NODES:
        case ASSUME:
        case SET:
                return take_plan_option(order, c, optarg) ? -1 : ALD_EXIT_USAGE;
        case CONTEXT_TOKENS:
        case PARALLEL:
        case KV_TYPE:
        case BYTES:
        case LAYERS:
        case ELEMENTS:
        case KV_BYTES:
        case MESSAGE_BYTES:
                return take_workload_option(&order->order, c, optarg) ? -1 : ALD_EXIT_USAGE;
        default:
                return ald_options_take(ctl, argv, c, long_options);
        }
}

static int check(const AldPlaceOrder *order)
{
        const AldPlanOrder *of = &order->order;
        const bool has_any = of->bytes != ALD_ABSENT_UINT64 || of->layers != ALD_ABSENT_UINT64 ||
                             of->elements != ALD_ABSENT_UINT64;
        g_autofree char *error = NULL;

        if (order->model && ald_plan_engine_is_collective(of->engine)) {
                ald_print_error("%s runs no model; state --message-bytes instead", order->options.engine);
                return ALD_EXIT_USAGE;
        }
        if (ald_plan_order_check_types(of, &error) < 0) {
                ald_print_error("--kv-type: %s", error);
                return ALD_EXIT_USAGE;
        }
        if (order->model && has_any) {
                ald_print_error("A model and --bytes, --layers or --elements exclude each other");
                return ALD_EXIT_USAGE;
        }
        if (!order->model && !ald_plan_order_has_numbers(of)) {
                ald_print_error("Usage: " USAGE);
                return ALD_EXIT_USAGE;
        }
        return -1;
}

static const char *const *finish_list(GPtrArray *list)
{
        if (list->len == 0)
                return NULL;
        g_ptr_array_add(list, NULL);
        return (const char *const *) list->pdata;
}

int ald_place_order_parse(AldPlaceOrder *order, AldCtl *ctl)
{
        g_autofree char **argv = NULL;
        int argc, c, r;

        argv = ald_options_begin(ctl, &argc);
        while ((c = getopt_long(argc, argv, ":hH:", long_options, NULL)) >= 0) {
                r = take_option(order, ctl, argv, c);
                if (r >= 0)
                        return r;
        }
        if (argc - optind > 1) {
                ald_print_error("Usage: " USAGE);
                return ALD_EXIT_USAGE;
        }
        order->model = argv[optind];
        order->options.must = finish_list(order->must);
        order->options.without = finish_list(order->without);
        order->options.split = finish_list(order->split);
        order->order.engine = ald_plan_engine_find(order->options.engine);
        return check(order);
}

static int read_model(const char *path, AldLlm **ret)
{
        g_autofree char *error = NULL;
        int r = ald_llm_read(path, ret, &error);

        if (r >= 0)
                return ALD_EXIT_OK;
        ald_print_error("Cannot read the model: %s", error ? error : g_strerror(-r));
        return ALD_EXIT_ERROR;
}

int ald_place_order_complete(AldPlaceOrder *order)
{
        g_autoptr(AldLlm) llm = NULL;
        g_autofree char *error = NULL;
        AldPlanOrder of = order->order;
        int r;

        if (order->model && read_model(order->model, &llm) != ALD_EXIT_OK)
                return ALD_EXIT_ERROR;
        of.llm = llm;
        of.engine = ald_plan_engine_find(order->options.engine);
        r = ald_plan_order_workload(&of, &order->workload, &error);
        if (r < 0) {
                ald_print_error("%s%s", error, r == -EOPNOTSUPP ? "; state it with --kv-bytes=" : "");
                return ALD_EXIT_ERROR;
        }
        order->title = ald_plan_order_title(&of);
        order->note = ald_plan_order_note(&of);
        return ALD_EXIT_OK;
}
