/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/model/ggml-types.h"
#include "placement/model/kv-rules.h"
#include "placement/model/model-needs.h"
#include "placement/model/tensor-sums.h"

static AldLlm *llm_new(const char *architecture, uint32_t n_layers)
{
        AldLlm *llm = ald_llm_new(n_layers);

        llm->architecture = g_strdup(architecture);
        return llm;
}

static void set_layer(AldLlm *llm, uint32_t kv_heads, uint32_t key, uint32_t value, uint32_t window)
{
        llm->layers[0].kv_heads = kv_heads;
        llm->layers[0].key_length = key;
        llm->layers[0].value_length = value;
        llm->layers[0].window = window;
        llm->layers[0].state_bytes = 0;
}

static uint64_t kv_bytes(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type)
{
        uint64_t bytes = 0;

        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, context, parallel, type, type, &bytes), ==, 0);
        return bytes;
}

static void test_kv_bytes_of_each_type(void)
{
        static const uint64_t bytes_of_64[ALD_N_KV_TYPES] = { 256, 128, 128, 68, 36, 40, 44, 48, 36 };
        g_autoptr(AldLlm) llm = llm_new("llama", 1);

        set_layer(llm, 2, 64, 64, ALD_LLM_ABSENT_COUNT);
        for (AldKvType type = 0; type < ALD_N_KV_TYPES; type++)
                g_assert_cmpuint(kv_bytes(llm, 512, 1, type), ==, 512 * 2 * 2 * bytes_of_64[type]);
}

/* Known figures: Llama 3.1 8B has 16 MiB for 4096 tokens in each of its 32 layers. */
static void test_kv_bytes_of_contexts(void)
{
        g_autoptr(AldLlm) llm = llm_new("llama", 1);
        uint64_t bytes = 1;

        set_layer(llm, 8, 128, 128, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(kv_bytes(llm, 4096, 1, ALD_KV_F16), ==, 16 * 1024 * 1024);
        g_assert_cmpuint(kv_bytes(llm, 4096, 3, ALD_KV_F16), ==, 48 * 1024 * 1024);
        g_assert_cmpuint(kv_bytes(llm, 4095, 1, ALD_KV_F16), ==, 16 * 1024 * 1024);
        g_assert_cmpuint(kv_bytes(llm, 4097, 1, ALD_KV_F16), ==, 17 * 1024 * 1024);
        g_assert_cmpuint(kv_bytes(llm, 0, 1, ALD_KV_F16), ==, 0);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 4096, 1, ALD_KV_Q8_0, ALD_KV_F16, &bytes), ==, 0);
        g_assert_cmpuint(bytes, ==, 4096 * (8 * 128 / 32 * 34 + 8 * 128 * 2));
        set_layer(llm, 0, 128, 128, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(kv_bytes(llm, 4096, 1, ALD_KV_F16), ==, 0);
}

/* A window holds a batch besides, but never more than the context. */
static void test_kv_bytes_of_a_window(void)
{
        g_autoptr(AldLlm) llm = llm_new("gpt-oss", 1);

        set_layer(llm, 8, 64, 64, 128);
        g_assert_cmpuint(kv_bytes(llm, 131072, 1, ALD_KV_F16), ==, 768 * 2048);
        g_assert_cmpuint(kv_bytes(llm, 131072, 4, ALD_KV_F16), ==, 4 * 768 * 2048);
        g_assert_cmpuint(kv_bytes(llm, 512, 1, ALD_KV_F16), ==, 512 * 2048);
        set_layer(llm, 8, 64, 64, UINT32_MAX - 1);
        g_assert_cmpuint(kv_bytes(llm, 1024, 1, ALD_KV_F16), ==, 1024 * 2048);
}

/* DeepSeek V3 keeps 576 numbers of each token and layer. */
static void test_kv_bytes_of_compressed_keys(void)
{
        g_autoptr(AldLlm) llm = llm_new("deepseek2", 1);

        set_layer(llm, 1, 576, 0, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(kv_bytes(llm, 1024, 1, ALD_KV_F16), ==, 1024 * 1152);
}

/* Each request has a state of its own, whatever its context. */
static void test_kv_bytes_of_a_state(void)
{
        g_autoptr(AldLlm) llm = llm_new("qwen35", 1);
        uint64_t bytes = 7;

        set_layer(llm, 0, 0, 0, ALD_LLM_ABSENT_COUNT);
        llm->layers[0].state_bytes = 100;
        g_assert_cmpuint(kv_bytes(llm, 4096, 1, ALD_KV_Q8_0), ==, 100);
        g_assert_cmpuint(kv_bytes(llm, 262144, 4, ALD_KV_F16), ==, 400);
        set_layer(llm, 1, 64, 64, ALD_LLM_ABSENT_COUNT);
        llm->layers[0].state_bytes = 100;
        g_assert_cmpuint(kv_bytes(llm, 256, 2, ALD_KV_F16), ==, 2 * 256 * 256 + 200);
        llm->layers[0].state_bytes = UINT64_MAX / 2;
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 256, 3, ALD_KV_F16, ALD_KV_F16, &bytes), ==, -ERANGE);
        g_assert_cmpuint(bytes, ==, 7);
}

static void test_kv_bytes_that_cannot_be(void)
{
        g_autoptr(AldLlm) llm = llm_new("llama", 1);
        uint64_t bytes = 7;

        set_layer(llm, 8, 80, 64, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 1, 1, ALD_KV_Q8_0, ALD_KV_F16, &bytes), ==, -EINVAL);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 1, 1, ALD_KV_F16, ALD_N_KV_TYPES, &bytes), ==, -EINVAL);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 1, 1, 1, ALD_KV_F16, ALD_KV_F16, &bytes), ==, -EINVAL);
        set_layer(llm, UINT32_MAX - 1, INT32_MAX, INT32_MAX, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 1, 1, ALD_KV_F32, ALD_KV_F32, &bytes), ==, -ERANGE);
        set_layer(llm, 1u << 30, 1u << 20, 1u << 20, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, UINT32_MAX, UINT32_MAX, ALD_KV_F16, ALD_KV_F16, &bytes), ==,
                -ERANGE);
        llm->kv_problem = g_strdup("it is not known");
        g_assert_cmpint(ald_llm_kv_bytes(llm, 0, 1, 1, ALD_KV_F16, ALD_KV_F16, &bytes), ==, -EOPNOTSUPP);
        g_assert_cmpuint(bytes, ==, 7);
}

/* Of blocks of 2^n elements, with the bits that each element takes. */
static void test_ggml_types(void)
{
        unsigned known = 0;

        for (uint32_t id = 0; id < 1000; id++) {
                const AldGgmlType *type = ald_ggml_type(id);

                if (!type)
                        continue;
                known++;
                g_assert_cmpuint(type->block & (type->block - 1), ==, 0);
                g_assert_cmpuint(type->bytes * 8, >=, type->block);
                g_assert_cmpuint(type->bytes, <=, type->block * 8);
        }
        g_assert_cmpuint(known, ==, 35);
        g_assert_null(ald_ggml_type(4));
        g_assert_null(ald_ggml_type(31));
        g_assert_null(ald_ggml_type(UINT32_MAX));
}

typedef struct Rules {
        AldLlm *llm;
        AldAttention attention;
} Rules;

static void rules_init(Rules *rules, const char *architecture, uint32_t n_layers)
{
        rules->llm = llm_new(architecture, n_layers);
        rules->llm->embedding_length = 1024;
        ald_attention_init(&rules->attention, n_layers);
        for (uint32_t i = 0; i < n_layers; i++)
                rules->attention.heads[i] = 16;
}

static void rules_clear(Rules *rules)
{
        ald_llm_free(rules->llm);
        ald_attention_clear(&rules->attention);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rules, rules_clear)

/* Windows of the layers as letters: w or f, - where nothing is kept; or the problem. */
static void check_rules(const Rules *rules, const char *expected)
{
        AldLlm *llm = rules->llm;
        g_autoptr(GString) said = g_string_new(NULL);

        ald_kv_rules_apply(llm, &rules->attention);
        for (uint32_t i = 0; i < llm->n_layers && !llm->kv_problem; i++)
                g_string_append_c(said, llm->layers[i].kv_heads == 0                    ? '-'
                                        : llm->layers[i].window == ALD_LLM_ABSENT_COUNT ? 'f'
                                                                                        : 'w');
        if (llm->kv_problem)
                g_assert_nonnull(g_strrstr(llm->kv_problem, expected));
        else
                g_assert_cmpstr(said->str, ==, expected);
        for (uint32_t i = 0; i < llm->n_layers && llm->kv_problem; i++) {
                g_assert_cmpuint(llm->layers[i].kv_heads, ==, ALD_LLM_ABSENT_COUNT);
                g_assert_cmpuint(llm->layers[i].key_length, ==, ALD_LLM_ABSENT_COUNT);
                g_assert_cmpuint(llm->layers[i].value_length, ==, ALD_LLM_ABSENT_COUNT);
        }
        if (llm->kv_problem)
                g_assert_cmpstr(llm->window_doubt, ==, NULL);
}

static void check_windows(const char *architecture, uint32_t n_layers, uint32_t window, const char *expected)
{
        g_auto(Rules) rules = { 0 };

        rules_init(&rules, architecture, n_layers);
        rules.attention.window = window;
        check_rules(&rules, expected);
}

static void test_rules_of_architectures(void)
{
        const uint32_t none = ALD_LLM_ABSENT_COUNT;

        check_windows("llama", 4, none, "ffff");
        check_windows("llama", 4, 0, "ffff");
        check_windows("phi3", 4, 2047, "ffff");
        check_windows("gemma2", 4, none, "wfwf");
        check_windows("gemma3", 7, 1024, "wwwwwfw");
        check_windows("gemma3", 7, none, "fffffff");
        check_windows("gemma3n", 22, 512, "wwwwfwwwwfwwwwfwwwwf--");
        check_windows("cohere2", 5, 4096, "wwwfw");
        check_windows("gpt-oss", 4, 128, "wfwf");
        check_windows("gptoss", 4, 128, "wfwf");
        check_windows("olmo2", 5, 4096, "wwwfw");
        check_windows("olmo2", 5, none, "fffff");
        check_windows("exaone4", 5, 4096, "fffff");
        check_windows("plamo3", 9, 2048, "wwwwwwwfw");
        check_windows("deepseek_v3", 4, none, "compressed");
}

/* Some engines' windows are not those of the file. */
static void test_rules_of_windows_that_are_not_stated(void)
{
        g_auto(Rules) chunks = { 0 };
        g_auto(Rules) none = { 0 };
        g_auto(Rules) first = { 0 };
        g_auto(Rules) exaone = { 0 };

        rules_init(&chunks, "llama4", 5);
        check_rules(&chunks, "wwwfw");
        g_assert_cmpuint(chunks.llm->layers[0].window, ==, 8192);
        rules_init(&none, "llama4", 5);
        none.attention.window = 0;
        check_rules(&none, "fffff");
        rules_init(&first, "smallthinker", 5);
        first.attention.window = 100;
        check_rules(&first, "fwwwf");
        g_assert_cmpuint(first.llm->layers[1].window, ==, 4096);
        rules_init(&exaone, "exaone4", 64);
        check_rules(&exaone, "wwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwfwwwf");
        g_assert_cmpuint(exaone.llm->layers[0].window, ==, 4096);
}

/* Never too low: all is counted, and beyond the window it is said that this may be too much. */
static void test_rules_of_windows_in_doubt(void)
{
        g_auto(Rules) plain = { 0 };
        g_auto(Rules) period = { 0 };
        g_auto(Rules) size = { 0 };

        rules_init(&plain, "surely-new", 3);
        plain.attention.window = 4096;
        check_rules(&plain, "fff");
        g_assert_cmpstr(ald_llm_window_doubt(plain.llm, 4096), ==, NULL);
        g_assert_nonnull(strstr(ald_llm_window_doubt(plain.llm, 4097), "which layers apply it"));
        rules_init(&period, "surely-new", 3);
        period.attention.window = 4096;
        period.attention.period = 3;
        check_rules(&period, "wwf");
        g_assert_cmpstr(ald_llm_window_doubt(period.llm, 32768), ==, NULL);
        rules_init(&size, "surely-new", 2);
        size.attention.windowed = g_new0(bool, 2);
        size.attention.windowed[0] = true;
        check_rules(&size, "ff");
        g_assert_nonnull(strstr(ald_llm_window_doubt(size.llm, 1), "how many tokens"));
}

static void test_rules_of_what_is_stated(void)
{
        g_auto(Rules) rules = { 0 };

        rules_init(&rules, "gemma4", 4);
        rules.attention.windowed = g_new0(bool, 4);
        rules.attention.windowed[1] = true;
        rules.attention.window = 512;
        rules.attention.sharing = 1;
        rules.attention.key_length = rules.attention.value_length = 512;
        rules.attention.window_key_length = rules.attention.window_value_length = 256;
        for (uint32_t i = 0; i < 4; i++)
                rules.attention.kv_heads[i] = 1 + i;
        check_rules(&rules, "fwf-");
        g_assert_cmpuint(rules.llm->layers[0].kv_heads, ==, 1);
        g_assert_cmpuint(rules.llm->layers[0].key_length, ==, 512);
        g_assert_cmpuint(rules.llm->layers[1].kv_heads, ==, 2);
        g_assert_cmpuint(rules.llm->layers[1].key_length, ==, 256);
        g_assert_cmpuint(rules.llm->layers[1].value_length, ==, 256);
        g_assert_cmpuint(rules.llm->layers[1].window, ==, 512);
}

static void test_rules_of_periods(void)
{
        g_auto(Rules) rules = { 0 };

        rules_init(&rules, "gemma3", 4);
        rules.attention.window = 512;
        rules.attention.period = 3;
        check_rules(&rules, "wwfw");
        rules.attention.period = 1;
        check_rules(&rules, "ffff");
        rules.attention.period = 0;
        check_rules(&rules, "wwww");
}

static void test_rules_of_what_is_missing(void)
{
        g_auto(Rules) rules = { 0 };
        g_auto(Rules) shared = { 0 };
        g_auto(Rules) odd = { 0 };
        g_auto(Rules) lengths = { 0 };

        rules_init(&rules, "llama", 2);
        check_rules(&rules, "ff");
        g_assert_cmpuint(rules.llm->layers[1].kv_heads, ==, 16);
        g_assert_cmpuint(rules.llm->layers[1].key_length, ==, 64);
        rules.attention.heads[1] = ALD_LLM_ABSENT_COUNT;
        check_rules(&rules, "how many heads");
        rules_init(&lengths, "llama", 2);
        lengths.attention.heads[0] = 0;
        check_rules(&lengths, "-f");
        g_assert_cmpuint(lengths.llm->layers[1].key_length, ==, 64);
        lengths.llm->embedding_length = ALD_LLM_ABSENT_COUNT;
        check_rules(&lengths, "how long");
        rules_init(&shared, "llama", 2);
        shared.attention.sharing = 1;
        check_rules(&shared, "f-");
        rules_init(&odd, "llama", 2);
        odd.attention.problem = g_strdup("it is odd");
        check_rules(&odd, "it is odd");
}

typedef struct Sums {
        AldLlm *llm;
        AldTensorSums sums;
} Sums;

static void sums_init(Sums *sums, uint32_t n_layers)
{
        sums->llm = llm_new("llama", n_layers);
        ald_tensor_sums_init(&sums->sums, sums->llm);
}

static void sums_clear(Sums *sums)
{
        ald_tensor_sums_clear(&sums->sums);
        ald_llm_free(sums->llm);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sums, sums_clear)

static int add(Sums *sums, AldTensor tensor)
{
        const char *reason = NULL;
        int r = ald_tensor_sums_add(&sums->sums, &tensor, &reason);

        g_assert_true((r < 0) == (reason != NULL));
        return r;
}

static void test_sums_of_experts(void)
{
        g_auto(Sums) sums = { 0 };
        const char *twice = NULL;

        sums_init(&sums, 3);
        sums.llm->experts = 3;
        sums.llm->used_experts = 2;
        g_assert_cmpint(add(&sums, (AldTensor){ "a", .bytes = 10, .parameters = 20 }), ==, 0);
        g_assert_cmpint(add(&sums, (AldTensor){ "b", .expert = true, .bytes = 32, .parameters = 7 }), ==, 0);
        g_assert_cmpint(add(&sums, (AldTensor){ "c", .layer = 1, .unclear = true, .bytes = 5 }), ==, 0);
        g_assert_cmpint(
                add(&sums, (AldTensor){ "d", .layer = 2, .bytes = 5, .parameters = ALD_LLM_ABSENT }), ==, 0);
        g_assert_cmpint(ald_tensor_sums_finish(&sums.sums, &twice), ==, 0);
        g_assert_cmpuint(sums.llm->layers[0].bytes, ==, 42);
        g_assert_cmpuint(sums.llm->layers[0].token_bytes, ==, 10 + 21);
        g_assert_cmpuint(sums.llm->layers[0].parameters, ==, 27);
        g_assert_cmpuint(sums.llm->layers[0].token_parameters, ==, 20 + 4);
        g_assert_cmpuint(sums.llm->layers[1].bytes, ==, 5);
        g_assert_cmpuint(sums.llm->layers[1].token_bytes, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(sums.llm->layers[2].token_bytes, ==, 5);
        g_assert_cmpuint(sums.llm->layers[2].parameters, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(sums.llm->layers[2].token_parameters, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(sums.llm->embedding_bytes, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(sums.llm->other_bytes, ==, 0);
}

static void test_sums_that_are_refused(void)
{
        const uint64_t most = UINT64_MAX / 2;
        g_auto(Sums) sums = { 0 };
        const char *twice = "";

        sums_init(&sums, 1);
        g_assert_cmpint(ald_tensor_sums_finish(&sums.sums, &twice), ==, -EBADMSG);
        g_assert_null(twice);
        g_assert_cmpint(add(&sums, (AldTensor){ "b", .expert = true, .bytes = most }), ==, 0);
        g_assert_cmpint(add(&sums, (AldTensor){ "a", .bytes = most }), ==, 0);
        g_assert_cmpint(add(&sums, (AldTensor){ "c", .bytes = most }), ==, -ERANGE);
        g_assert_cmpint(add(&sums, (AldTensor){ "b", .place = ALD_TENSOR_OTHER }), ==, 0);
        g_assert_cmpint(ald_tensor_sums_finish(&sums.sums, &twice), ==, -EBADMSG);
        g_assert_cmpstr(twice, ==, "b");
        sums.sums.names_left = 3;
        g_assert_cmpint(add(&sums, (AldTensor){ "abc" }), ==, -E2BIG);
        g_assert_cmpint(add(&sums, (AldTensor){ "ab" }), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/model-figures/kv-types", test_kv_bytes_of_each_type);
        g_test_add_func("/model-figures/kv-contexts", test_kv_bytes_of_contexts);
        g_test_add_func("/model-figures/kv-window", test_kv_bytes_of_a_window);
        g_test_add_func("/model-figures/kv-compressed", test_kv_bytes_of_compressed_keys);
        g_test_add_func("/model-figures/kv-state", test_kv_bytes_of_a_state);
        g_test_add_func("/model-figures/kv-refused", test_kv_bytes_that_cannot_be);
        g_test_add_func("/model-figures/ggml-types", test_ggml_types);
        g_test_add_func("/model-figures/rules", test_rules_of_architectures);
        g_test_add_func("/model-figures/rules-unstated", test_rules_of_windows_that_are_not_stated);
        g_test_add_func("/model-figures/rules-doubt", test_rules_of_windows_in_doubt);
        g_test_add_func("/model-figures/rules-stated", test_rules_of_what_is_stated);
        g_test_add_func("/model-figures/rules-periods", test_rules_of_periods);
        g_test_add_func("/model-figures/rules-missing", test_rules_of_what_is_missing);
        g_test_add_func("/model-figures/experts", test_sums_of_experts);
        g_test_add_func("/model-figures/sums-refused", test_sums_that_are_refused);
        return g_test_run();
}
