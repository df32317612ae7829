/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/place/place-order.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/quantity.h"
#include "clients/common/tone.h"
#include "placement/model/model-file.h"
#include "placement/plan/workload.h"

/* The limits of AssumedBitsPerSecond and AssumedRttNSec. */
#define RATE_MAX 1e15
#define RTT_NSEC_MAX 1e12

void ald_place_order_init(AldPlaceOrder *order, const AldCtl *ctl)
{
        *order = (AldPlaceOrder){ .ctl = *ctl,
                .workload = ALD_PLAN_WORKLOAD_INIT,
                .options = ALD_PLAN_OPTIONS_INIT,
                .must = g_ptr_array_new_with_free_func(g_free),
                .without = g_ptr_array_new_with_free_func(g_free),
                .split = g_ptr_array_new_with_free_func(g_free),
                .order = ALD_PLAN_ORDER_INIT };
}

void ald_place_order_clear(AldPlaceOrder *order)
{
        ald_plan_workload_clear(&order->workload);
        g_free(order->title);
        g_free(order->note);
        g_free(order->choice);
        g_clear_pointer(&order->llm, ald_llm_free);
        g_ptr_array_unref(order->must);
        g_ptr_array_unref(order->without);
        g_ptr_array_unref(order->split);
        g_free(order->words);
}

static bool reject_value(const char *option, const char *value, const char *wanted)
{
        ald_print_error("--%s: \"%s\" is not %s", option, value, wanted);
        return false;
}

static bool read_assumed(void *order, const char *text)
{
        AldPlanOptions *options = &((AldPlaceOrder *) order)->options;
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
                return reject_value(
                        "assume", text, "a rate and a round trip with units, such as 1Gb/s,0.3ms");
        options->assumed_bits_per_second = (uint64_t) rate;
        options->assumed_rtt_nsec = (uint64_t) rtt;
        return true;
}

static bool read_constant(void *order, const char *text)
{
        AldPlanOptions *options = &((AldPlaceOrder *) order)->options;
        g_auto(GStrv) parts = g_strsplit(text, "=", 2);
        const AldField *field = g_strv_length(parts) == 2
                                        ? ald_struct_find(&ald_plan_options_struct, parts[0])
                                        : NULL;
        char *rest;
        double value;

        if (!field || field->type != ALD_TYPE_DOUBLE)
                return reject_value("set", text, "NAME=VALUE of a constant; see org.alidade.Placement1(5)");
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
               reject_value("kv-type", text, "a type of keys and values; see --help");
}

static bool read_kv_types(void *place, const char *text)
{
        AldPlanOrder *order = &((AldPlaceOrder *) place)->order;
        g_auto(GStrv) parts = g_strsplit(text, ",", 2);

        if (!parse_kv_type(parts[0] ? parts[0] : "", &order->type_k))
                return false;
        order->type_v = order->type_k;
        return !parts[1] || parse_kv_type(parts[1], &order->type_v);
}

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(WORD, "engine", "ENGINE", AldPlaceOrder, options.engine,
                "What runs the model, as listed above (default: the first that reads it)",
                .word_at = ald_plan_engine_name_at),
        ALD_OPTION(WORD, "goal", "GOAL", AldPlaceOrder, options.goal,
                "latency (default), throughput, or both, with what lies between as\n"
                "alternatives",
                .type = &ald_plan_options_struct, .field = "Goal"),
        ALD_OPTION(NUMBER, "context", "TOKENS", AldPlaceOrder, order.context,
                "Tokens that each request keeps (default: 4096, or what the model has)", .max = 1000000000),
        ALD_OPTION(NUMBER, "parallel", "N", AldPlaceOrder, order.parallel, "Requests at once (default: 1)",
                .max = 65536),
        { .name = "kv-type",
                .argument = "TYPE",
                .help = "Type of keys and values, or both as K,V: f32, f16, bf16, q8_0, q5_1,\n"
                        "q5_0, q4_1, q4_0, iq4_nl (default: f16, or f32 if the engine has only that)",
                .kind = ALD_OPTION_READ,
                .type = &ald_plan_workload_struct,
                .field = "KvTypeK",
                .is_pair = true,
                .read = read_kv_types },
        ALD_OPTION(TEXTS, "must", "NODE[/DEVICE]", AldPlaceOrder, must, "Must get a layer; may be repeated",
                .completion = ALD_COMPLETE_NODE),
        ALD_OPTION(TEXTS, "without", "NODE[/DEVICE]", AldPlaceOrder, without, "Gets none; may be repeated",
                .completion = ALD_COMPLETE_NODE),
        ALD_OPTION(TEXTS, "split", "NODE/DEVICE=LAYERS", AldPlaceOrder, split,
                "Gets this many layers; repeated for all devices that get any"),
        ALD_OPTION(TEXT, "client", "NODE", AldPlaceOrder, options.client,
                "Runs the client of engines that have one, or the root", .completion = ALD_COMPLETE_NODE),
        ALD_OPTION(NUMBER, "max-nodes", "N", AldPlaceOrder, options.max_nodes, "Use this many nodes at most",
                .max = 65536),
        ALD_OPTION(NUMBER, "max-devices", "N", AldPlaceOrder, options.max_devices,
                "Use this many devices at most", .max = 65536),
        { .name = "assume",
                .argument = "RATE,RTT",
                .help = "Between nodes that were never measured, such as\n"
                        "1Gb/s,0.3ms",
                .kind = ALD_OPTION_READ,
                .read = read_assumed },
        { .name = "set",
                .argument = "NAME=VALUE",
                .help = "Replace a constant of the cost model; may be repeated",
                .kind = ALD_OPTION_READ,
                .read = read_constant },
        ALD_OPTION(BYTES, "bytes", "SIZE", AldPlaceOrder, order.bytes,
                "Instead of a model: size of all its layers, such as\n"
                "40GiB, or 40GB for powers of 1000"),
        ALD_OPTION(NUMBER, "layers", "N", AldPlaceOrder, order.layers, "Their number",
                .max = ALD_LLM_LAYERS_MAX),
        ALD_OPTION(NUMBER, "elements", "N", AldPlaceOrder, order.elements,
                "Elements that pass from layer to layer for a token", .max = 1000000),
        ALD_OPTION(BYTES, "kv-bytes", "SIZE", AldPlaceOrder, order.kv_bytes,
                "Size of all keys and values (default: what the model says)"),
        ALD_OPTION(BYTES, "message-bytes", "SIZE", AldPlaceOrder, order.message_bytes,
                "For engines without a model: what is summed up over all ranks"),
        ALD_OPTION_HOST("Plan on another machine, over ssh; the model is read here"),
        ALD_OPTION_JSON("Print JSON, which export reads: short, pretty or off"),
        ALD_OPTION_NO_PAGER,
        ALD_OPTION_NO_ASK_PASSWORD,
        {},
};

static void print_engines(void)
{
        g_autoptr(GString) running = g_string_new(NULL), others = g_string_new(NULL);

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                ald_parts_add_text(
                        ald_plan_engine_is_collective(engine) ? others : running, "%s", engine->name);
        printf("\nEngines: %s; without a model, for a ring of all-reduces: %s\n", running->str, others->str);
}

const AldSynopsis ald_place_synopsis = {
        .usage = "alidadectl place MODEL|--bytes=SIZE --layers=N --elements=N|--message-bytes=SIZE",
        .intro = "Plan on which devices of the cluster a language model runs best: a GGUF file, or a folder "
                 "with\n"
                 "safetensors and config.json. Its weights are not read.",
        .print_more = print_engines,
        .options = options,
};

/* Reports which numbers are missing if only some are given. */
static int report_missing_numbers(const AldPlanOrder *of)
{
        GString *missing = g_string_new(NULL);
        g_autofree char *text = NULL;

        if (of->bytes == ALD_ABSENT_UINT64)
                ald_parts_add_text(missing, "%s", "--bytes");
        if (of->layers == ALD_ABSENT_UINT64 || of->layers == 0)
                ald_parts_add_text(missing, "%s", "--layers");
        if (of->elements == ALD_ABSENT_UINT64)
                ald_parts_add_text(missing, "%s", "--elements");
        text = g_string_free(missing, FALSE);
        ald_print_error("Without a model, also state %s", text);
        return ALD_EXIT_USAGE;
}

static int check_order(const AldPlaceOrder *order)
{
        const AldPlanOrder *of = &order->order;
        const bool has_any = of->bytes != ALD_ABSENT_UINT64 || of->layers != ALD_ABSENT_UINT64 ||
                             of->elements != ALD_ABSENT_UINT64;
        g_autofree char *error = NULL;

        if (of->bytes == 0) {
                (void) reject_value("bytes", "0", "a size of more than nothing");
                return ALD_EXIT_USAGE;
        }
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
        if (order->model || ald_plan_order_has_numbers(of))
                return -1;
        return has_any && !ald_plan_engine_is_collective(of->engine)
                       ? report_missing_numbers(of)
                       : ald_options_print_usage(&ald_place_synopsis);
}

static const char *const *finish_list(GPtrArray *list)
{
        if (list->len == 0)
                return NULL;
        g_ptr_array_add(list, NULL);
        return (const char *const *) list->pdata;
}

int ald_place_order_parse(AldPlaceOrder *order)
{
        int r = ald_options_read(&ald_place_synopsis, order, &order->words);

        if (r >= 0)
                return r;
        if (order->words[0] && order->words[1])
                return ald_options_print_usage(&ald_place_synopsis);
        order->model = order->words[0];
        order->options.must = finish_list(order->must);
        order->options.without = finish_list(order->without);
        order->options.split = finish_list(order->split);
        if (order->options.engine)
                order->order.engine = ald_plan_engine_find(order->options.engine);
        return check_order(order);
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
        g_autofree char *error = NULL;
        AldPlanOrder *of = &order->order;
        int r;

        if (order->model && read_model(order->model, &order->llm) != ALD_EXIT_OK)
                return ALD_EXIT_ERROR;
        of->llm = order->llm;
        if (!of->engine)
                of->engine = ald_plan_order_choose(of->llm, &order->choice);
        order->options.engine = of->engine->name;
        r = ald_plan_order_workload(of, &order->workload, &error);
        if (r < 0) {
                ald_print_error("%s%s", error, r == -EOPNOTSUPP ? "; state it with --kv-bytes=" : "");
                return ALD_EXIT_ERROR;
        }
        order->title = ald_plan_order_title(of);
        order->note = ald_plan_order_note(of);
        return ALD_EXIT_OK;
}
