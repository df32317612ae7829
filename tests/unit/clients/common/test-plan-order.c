/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "clients/common/plan-order.h"
#include "clients/common/plan-words.h"
#include "clients/common/quantity.h"

#define GIB (UINT64_C(1) << 30)

static void test_sizes(void)
{
        static const struct {
                const char *text;
                uint64_t bytes;      /* or absent */
                const char *problem; /* how it begins */
        } cases[] = {
                { "40G", 40 * GIB, NULL },
                { "1.5GiB", 3 * GIB / 2, NULL },
                { "40GB", UINT64_C(40000000000), NULL },
                { "40 GB", UINT64_C(40000000000), NULL },
                { "512B", 512, NULL },
                { "2kB", 2000, NULL },
                { "2K", 2048, NULL },
                { "64MB", 64000000, NULL },
                { "0", 0, NULL },
                { "512", ALD_ABSENT_UINT64, "without a unit: write 512GiB, or 512GB " },
                { "64.5", ALD_ABSENT_UINT64, "without a unit: write 64.5GiB, or 64.5GB " },
                { "", ALD_ABSENT_UINT64, "not a size" },
                { "G", ALD_ABSENT_UINT64, "not a size" },
                { "-1G", ALD_ABSENT_UINT64, "not a size" },
                { "40g", ALD_ABSENT_UINT64, "not a size" },
                { "40G ", ALD_ABSENT_UINT64, "not a size" },
                { "0x10G", ALD_ABSENT_UINT64, "not a size" },
                { "1.2.3G", ALD_ABSENT_UINT64, "not a size" },
                { "4Gb", ALD_ABSENT_UINT64, "not a size" },
                { "1e300", ALD_ABSENT_UINT64, "not a size" },
                { "9000T", ALD_ABSENT_UINT64, "too large" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t bytes = ALD_ABSENT_UINT64;
                int r = ald_size_parse(cases[i].text, &bytes);
                g_autofree char *problem = ald_size_problem(cases[i].text, r);

                g_test_message("\"%s\": %s", cases[i].text, problem);
                g_assert_true((r < 0) == (cases[i].problem != NULL));
                g_assert_true(r >= 0 || g_str_has_prefix(problem, cases[i].problem));
                g_assert_cmpuint(bytes, ==, cases[i].bytes);
        }
}

static void test_types_of_keys_and_values(void)
{
        AldKvType type;

        for (AldKvType i = 0; i < ALD_N_KV_TYPES; i++) {
                g_assert_cmpint(ald_kv_type_from_name(ald_kv_type_name(i), &type), ==, 0);
                g_assert_cmpint((int) type, ==, (int) i);
        }
        g_assert_cmpint(ald_kv_type_from_name("f8", &type), ==, -EINVAL);
        /* Plan() takes these, in this order. */
        for (AldKvType i = 0; i < ALD_N_KV_TYPES; i++)
                g_assert_cmpint(ald_plan_workload_kv_type_k_from_string(ald_kv_type_name(i)), ==, (int) i);
        g_assert_cmpint(ALD_PLAN_WORKLOAD_KV_TYPE_V_N, ==, ALD_N_KV_TYPES);
}

static AldPlanOrder numbers(void)
{
        AldPlanOrder order = ALD_PLAN_ORDER_INIT;

        order.bytes = 10 * GIB + 1;
        order.kv_bytes = GIB;
        order.layers = 10;
        order.elements = 4096;
        order.parallel = 2;
        return order;
}

/* No layer is smaller than what it has to hold. */
static void test_numbers_become_layers(void)
{
        const AldPlanOrder order = numbers();
        AldPlanOrder without = order;
        AldPlanWorkload workload;
        g_autofree char *error = NULL, *title = ald_plan_order_title(&order);

        g_assert_true(ald_plan_order_has_numbers(&order));
        g_assert_cmpint(ald_plan_order_workload(&order, &workload, &error), ==, 0);
        g_assert_cmpuint(workload.layers, ==, 10);
        g_assert_cmpuint(workload.layer_bytes, ==, GIB + 1);
        g_assert_cmpuint(workload.layer_kv_bytes, ==, (GIB + 9) / 10);
        g_assert_cmpuint(workload.activation_elements, ==, 4096);
        g_assert_cmpuint(workload.parallel, ==, 2);
        g_assert_cmpuint(workload.context, ==, 4096);
        g_assert_cmpuint(workload.message_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(title, ==, "10 layers, 10.0 GiB");
        without.parallel = ALD_ABSENT_UINT64;
        without.context = 512;
        g_assert_cmpint(ald_plan_order_workload(&without, &workload, &error), ==, 0);
        g_assert_cmpuint(workload.context, ==, 512);
        g_assert_cmpuint(workload.parallel, ==, 1);
        g_assert_null(workload.kv_type_k);
        without.type_k = ALD_KV_Q8_0;
        g_assert_cmpint(ald_plan_order_workload(&without, &workload, &error), ==, 0);
        g_assert_cmpstr(workload.kv_type_k, ==, "q8_0");
        g_assert_null(workload.kv_type_v);
        without.layers = 0;
        g_assert_false(ald_plan_order_has_numbers(&without));
}

static AldLlm *model(void)
{
        AldLlm *llm = ald_llm_new(2);

        llm->name = g_strdup("Tiny\u202E");
        llm->architecture = g_strdup("llama");
        llm->embedding_bytes = llm->head_bytes = GIB;
        llm->embedding_length = 256;
        llm->vocabulary = 1000;
        llm->context = 2048;
        for (unsigned i = 0; i < 2; i++)
                llm->layers[i] = (AldLlmLayer){ .bytes = GIB,
                        .token_bytes = GIB,
                        .parameters = GIB / 2,
                        .token_parameters = GIB / 2,
                        .kv_heads = 2,
                        .key_length = 64,
                        .value_length = 64,
                        .window = ALD_LLM_ABSENT_COUNT };
        return llm;
}

static void test_a_model_has_its_context(void)
{
        g_autoptr(AldLlm) llm = model();
        AldPlanOrder order = ALD_PLAN_ORDER_INIT;
        AldPlanWorkload f16, f32;
        g_autofree char *error = NULL, *title = NULL;

        order.llm = llm;
        title = ald_plan_order_title(&order);
        g_assert_cmpstr(title, ==, "Tiny\uFFFD (llama), 2 layers, 4.00 GiB");
        g_assert_cmpint(ald_plan_order_workload(&order, &f16, &error), ==, 0);
        g_assert_cmpuint(f16.context, ==, 2048);
        g_assert_cmpuint(f16.parallel, ==, 1);
        g_assert_cmpstr(f16.kv_type_k, ==, "f16");
        order.engine = ald_plan_engine_find("distributed-llama");
        g_assert_cmpint(ald_plan_order_workload(&order, &f32, &error), ==, 0);
        g_assert_cmpuint(f32.layer_kv_bytes, ==, 2 * f16.layer_kv_bytes);
        g_assert_cmpstr(f32.kv_type_v, ==, "f32");
        g_assert_cmpuint(ald_plan_order_context(NULL), ==, 4096);
}

/* What an engine allocates is planned for, not what it cannot keep. */
static void test_an_engine_keeps_some_types_only(void)
{
        static const struct {
                const char *engine;
                AldKvType type_k, type_v;
                const char *error; /* NULL: none */
        } cases[] = {
                { "llama.cpp", ALD_KV_Q4_0, ALD_KV_IQ4_NL, NULL },
                { "vllm", ALD_KV_BF16, ALD_KV_F16, NULL },
                { "vllm", ALD_KV_F16, ALD_KV_Q4_0,
                        "vllm keeps keys and values in these types only: f16, bf16" },
                { "sglang", ALD_KV_F32, ALD_KV_F16,
                        "sglang keeps keys and values in these types only: f16, bf16" },
                { "torch", ALD_KV_Q8_0, ALD_KV_Q8_0,
                        "torch keeps keys and values in these types only: f32, f16, bf16" },
                { "distributed-llama", ALD_KV_F16, ALD_N_KV_TYPES,
                        "distributed-llama keeps keys and values in these types only: f32" },
                { "nccl", ALD_KV_Q8_0, ALD_KV_Q8_0, NULL },
        };
        g_autoptr(AldLlm) llm = model();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldPlanOrder order = ALD_PLAN_ORDER_INIT;
                AldPlanWorkload workload;
                g_autofree char *error = NULL;

                order.llm = llm;
                order.engine = ald_plan_engine_find(cases[i].engine);
                order.type_k = cases[i].type_k;
                order.type_v = cases[i].type_v;
                g_assert_cmpint(
                        ald_plan_order_workload(&order, &workload, &error), ==, cases[i].error ? -EINVAL : 0);
                g_assert_cmpstr(error, ==, cases[i].error);
        }
}

static void test_what_is_unknown_is_said(void)
{
        g_autoptr(AldLlm) llm = model();
        AldPlanOrder order = ALD_PLAN_ORDER_INIT;
        AldPlanWorkload workload;
        g_autofree char *kept = NULL, *sizes = NULL, *title = NULL, *other_title = NULL;

        order.llm = llm;
        llm->head_bytes = ALD_LLM_ABSENT;
        title = ald_plan_order_title(&order);
        g_assert_cmpstr(title, ==, "Tiny\uFFFD (llama), 2 layers");
        g_assert_cmpint(ald_plan_order_workload(&order, &workload, &sizes), ==, -ENODATA);
        g_assert_cmpstr(sizes, ==,
                "Cannot place the model: its files do not state all sizes: there is no tensor of the head, "
                "such as "
                "lm_head");
        llm->head_bytes = GIB;
        llm->layers[1].bytes = ALD_LLM_ABSENT;
        other_title = ald_plan_order_title(&order);
        g_assert_cmpstr(other_title, ==, title);
        llm->layers[1].bytes = GIB;
        llm->kv_problem = g_strdup("it keeps states");
        g_assert_cmpint(ald_plan_order_workload(&order, &workload, &kept), ==, -EOPNOTSUPP);
        g_assert_cmpstr(kept, ==, "Cannot tell the size of its keys and values: it keeps states");
        /* Then a person can. */
        order.kv_bytes = 3 * GIB;
        order.parallel = 3;
        g_assert_cmpint(ald_plan_order_workload(&order, &workload, &kept), ==, 0);
        g_assert_cmpuint(workload.layer_kv_bytes, ==, 3 * GIB / 2);
        g_assert_cmpfloat(workload.token_kv_bytes, ==, GIB / 2.0);
}

static void test_notes(void)
{
        g_autoptr(AldLlm) llm = model();
        AldPlanOrder order = ALD_PLAN_ORDER_INIT;
        g_autofree char *none = NULL, *numbers_have_none = NULL, *doubt = NULL, *stated = NULL,
                        *ollama = NULL;

        numbers_have_none = ald_plan_order_note(&order);
        g_assert_null(numbers_have_none);
        order.llm = llm;
        llm->window_doubt = g_strdup("windows");
        llm->doubt_window = 4096;
        none = ald_plan_order_note(&order);
        g_assert_null(none);
        order.context = 4097;
        doubt = ald_plan_order_note(&order);
        g_assert_cmpstr(doubt, ==, "Less memory may do for keys and values: windows");
        order.kv_bytes = GIB;
        stated = ald_plan_order_note(&order);
        g_assert_null(stated);
        llm->ollama_only = true;
        ollama = ald_plan_order_note(&order);
        g_assert_cmpstr(ollama, ==, "Only Ollama runs this file; llama.cpp does not load it");
}

static void test_an_all_reduce_has_a_message_only(void)
{
        AldPlanOrder order = numbers();
        AldPlanWorkload workload;
        g_autofree char *error = NULL, *title = NULL;

        order.engine = ald_plan_engine_find("nccl");
        g_assert_false(ald_plan_order_has_numbers(&order));
        order.message_bytes = 64 << 20;
        g_assert_true(ald_plan_order_has_numbers(&order));
        g_assert_cmpint(ald_plan_order_workload(&order, &workload, &error), ==, 0);
        g_assert_cmpuint(workload.message_bytes, ==, 64 << 20);
        g_assert_cmpuint(workload.layers, ==, ALD_ABSENT_UINT64);
        title = ald_plan_order_title(&order);
        g_assert_cmpstr(title, ==, "all-reduce of 64.0 MiB");
}

/* With several steps under way, a request waits until the busiest stage has done all of them. */
static void test_speed(void)
{
        AldPlanRow plan = ALD_PLAN_ROW_INIT;
        g_autofree char *one = NULL, *best = NULL, *many = NULL, *gap = NULL, *reduce = NULL;

        plan.step_nsec = plan.lower_nsec = 20000000;
        plan.tokens_per_second = 50;
        one = ald_plan_words_speed(&plan);
        best = ald_plan_words_certainty(&plan);
        g_assert_cmpstr(one, ==, "20.0 ms a token, 50.0 tokens/s");
        g_assert_cmpstr(best, ==, "proven to be the best");
        plan.steps_in_flight = 4;
        plan.busiest_nsec = 10000000;
        many = ald_plan_words_speed(&plan);
        gap = ald_plan_words_certainty(&plan);
        g_assert_cmpstr(many, ==, "40.0 ms a token, 50.0 tokens/s");
        g_assert_cmpstr(gap, ==, "at most 100 % above the best possible");
        plan.tokens_per_second = ALD_ABSENT_DOUBLE;
        reduce = ald_plan_words_speed(&plan);
        g_assert_cmpstr(reduce, ==, "40.0 ms an all-reduce");
}

static void test_names_with_commas_are_quoted(void)
{
        g_autoptr(AldPlanReport) report = ald_plan_report_new();
        AldPlanStageRow stage = ALD_PLAN_STAGE_ROW_INIT;
        g_autofree char *stages = NULL, *assumed = NULL;

        stage.alternative = 0;
        stage.free_assumed = 1;
        stage.device = "cpu";
        stage.node_name = "a, b";
        stage.layers = 40;
        g_array_append_val(report->stages, stage);
        stage.node_name = "c";
        stage.layers = 8;
        g_array_append_val(report->stages, stage);
        stages = ald_plan_words_stages(report, 0);
        assumed = ald_plan_words_assumed_free(report);
        g_assert_cmpstr(stages, ==, "\"a, b/cpu\" 40, c/cpu 8");
        g_assert_cmpstr(
                assumed, ==, "\"a, b/cpu\", c/cpu: all memory is taken as free, as its use is unknown");
}

/* Else a person would read the word of the bus. */
static void test_all_enumerators_have_words(void)
{
        for (int i = 0; i < ALD_PLAN_ROW_PROBLEM_N; i++) {
                const AldPlanRow plan = { .problem = ald_plan_row_problem_to_string(i) };
                g_autofree char *words = ald_plan_words_problem(&plan);

                g_assert_cmpstr(words, !=, plan.problem);
        }
        for (int i = 0; i < ALD_PLAN_LEFT_OUT_ROW_REASON_N; i++) {
                const AldPlanLeftOutRow row = { .reason = ald_plan_left_out_row_reason_to_string(i) };
                g_autofree char *words = ald_plan_words_reason(&row);

                g_assert_true(strcmp(words, row.reason) != 0 || i == ALD_PLAN_LEFT_OUT_ROW_REASON_UNUSABLE ||
                              i == ALD_PLAN_LEFT_OUT_ROW_REASON_EXCLUDED);
        }
        for (int i = 0; i < ALD_PLAN_STAGE_ROW_LIMITER_N; i++) {
                const AldPlanStageRow stage = { .limiter = ald_plan_stage_row_limiter_to_string(i) };
                g_autofree char *words = ald_plan_words_limiter(&stage);

                g_assert_cmpstr(words, !=, stage.limiter);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-order/sizes", test_sizes);
        g_test_add_func("/plan-order/types-of-keys-and-values", test_types_of_keys_and_values);
        g_test_add_func("/plan-order/numbers-become-layers", test_numbers_become_layers);
        g_test_add_func("/plan-order/a-model-has-its-context", test_a_model_has_its_context);
        g_test_add_func("/plan-order/an-engine-keeps-some-types-only", test_an_engine_keeps_some_types_only);
        g_test_add_func("/plan-order/what-is-unknown-is-said", test_what_is_unknown_is_said);
        g_test_add_func("/plan-order/notes", test_notes);
        g_test_add_func(
                "/plan-order/an-all-reduce-has-a-message-only", test_an_all_reduce_has_a_message_only);
        g_test_add_func("/plan-order/speed", test_speed);
        g_test_add_func("/plan-order/names-with-commas-are-quoted", test_names_with_commas_are_quoted);
        g_test_add_func("/plan-order/all-enumerators-have-words", test_all_enumerators_have_words);
        return g_test_run();
}
