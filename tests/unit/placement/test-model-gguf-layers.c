/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "placement/model/model-file.h"
#include "tests/unit/gguf-maker.h"

#define F32 0u
#define WIDTH 64u

/* A model of four layers with heads of 16, of which two keep keys and values. */
typedef struct Made {
        GgufMaker maker;
        const char *architecture;
        AldLlm *llm;
} Made;

static void number(Made *made, const char *key, uint32_t value)
{
        g_autofree char *full = g_strdup_printf("%s.%s", made->architecture, key);

        gguf_u32(&made->maker, full, value);
}

static void list(Made *made, const char *key, const uint32_t values[4])
{
        g_autofree char *full = g_strdup_printf("%s.%s", made->architecture, key);

        gguf_list(&made->maker, full, 4, values);
}

static void bools(Made *made, const char *key, const uint8_t values[4])
{
        g_autofree char *full = g_strdup_printf("%s.%s", made->architecture, key);

        gguf_bools(&made->maker, full, 4, values);
}

static void made_init(Made *made, const char *architecture)
{
        *made = (Made){ .architecture = architecture };
        gguf_maker_init(&made->maker);
        gguf_string(&made->maker, "general.architecture", architecture);
        number(made, "block_count", 4);
        number(made, "embedding_length", WIDTH);
        number(made, "attention.head_count", 4);
        number(made, "attention.key_length", 16);
        number(made, "attention.value_length", 16);
}

static void made_clear(Made *made)
{
        gguf_maker_clear(&made->maker);
        g_clear_pointer(&made->llm, ald_llm_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

/* For each layer the names of its tensors, with spaces between. */
static void tensors(Made *made, const char *const layers[4])
{
        for (unsigned i = 0; i < 4; i++) {
                g_auto(GStrv) parts = g_strsplit(layers[i], " ", -1);

                for (char **part = parts; *part; part++) {
                        g_autofree char *name = g_strdup_printf("blk.%u.%s", i, *part);

                        uint64_t row = strstr(*part, "conv") ? 2 : WIDTH; /* that of a convolution is short */

                        gguf_tensor(&made->maker, name, F32, 4 * row * 2, (uint64_t[4]){ row, 2 });
                }
        }
}

static void read_made(Made *made)
{
        char *folder = model_folder_new();
        g_autofree char *path = g_build_filename(folder, "m.gguf", NULL), *error = NULL;

        gguf_write(&made->maker, path);
        ald_llm_read(path, &made->llm, &error);
        g_assert_cmpstr(error, ==, NULL);
        model_folder_remove(folder);
}

/* Of each layer: f for keys and values of the whole context, w of a window, - for none, and + for a state. */
static void check(Made *made, const char *expected, uint64_t state_numbers)
{
        g_autoptr(GString) said = g_string_new(NULL);

        read_made(made);
        g_assert_cmpstr(made->llm->kv_problem, ==, NULL);
        for (unsigned i = 0; i < 4; i++) {
                const AldLlmLayer *layer = &made->llm->layers[i];
                uint64_t bytes = 0;

                g_string_append(said, layer->kv_heads == 0                    ? "-"
                                      : layer->window == ALD_LLM_ABSENT_COUNT ? "f"
                                                                              : "w");
                if (layer->state_bytes > 0) {
                        g_string_append_c(said, '+');
                        g_assert_cmpuint(layer->state_bytes, ==, 4 * state_numbers);
                }
                g_assert_cmpint(
                        ald_llm_kv_bytes(made->llm, i, 256, 2, ALD_KV_F16, ALD_KV_BF16, &bytes), ==, 0);
        }
        g_assert_cmpstr(said->str, ==, expected);
}

static void check_problem(Made *made, const char *words)
{
        read_made(made);
        g_assert_nonnull(made->llm->kv_problem);
        if (!strstr(made->llm->kv_problem, words))
                g_error("\"%s\" does not say \"%s\"", made->llm->kv_problem, words);
}

#define ATTENTION "attn_q.weight attn_k.weight attn_v.weight"
#define FFN "ffn_norm.weight ffn_up.weight"
#define DELTA "attn_qkv.weight attn_gate.weight ssm_conv1d.weight ssm_a " FFN
#define MAMBA "ssm_in.weight ssm_conv1d.weight ssm_a"

static void state_keys(Made *made)
{
        number(made, "ssm.conv_kernel", 4);
        number(made, "ssm.inner_size", 32);
        number(made, "ssm.state_size", 8);
        number(made, "ssm.time_step_rank", 4);
}

#define MAMBA_STATE (3 * 32 + 32 * 8)
#define GROUPS_STATE (3 * (32 + 2 * 2 * 8) + 32 * 8)

static void test_interval(void)
{
        static const char *const layers[4] = { DELTA, ATTENTION, DELTA, ATTENTION };
        g_auto(Made) made = { 0 };
        g_auto(Made) without = { 0 };

        made_init(&made, "qwen35moe");
        state_keys(&made);
        number(&made, "ssm.group_count", 2);
        number(&made, "full_attention_interval", 2);
        number(&made, "attention.head_count_kv", 2);
        tensors(&made, layers);
        check(&made, "-+f-+f", GROUPS_STATE);
        g_assert_cmpuint(made.llm->layers[1].kv_heads, ==, 2);
        /* Older files of Qwen3-Next lack the interval, and the tensors say as much. */
        made_init(&without, "qwen3next");
        state_keys(&without);
        number(&without, "ssm.group_count", 2);
        tensors(&without, layers);
        check(&without, "-+f-+f", GROUPS_STATE);
}

static void test_list_of_recurrent_layers(void)
{
        static const uint8_t recurrent[4] = { 1, 0, 0, 1 };
        g_auto(Made) made = { 0 };

        made_init(&made, "surely-new");
        state_keys(&made);
        bools(&made, "attention.recurrent_layers", recurrent);
        tensors(&made, (const char *const[4]){ DELTA, ATTENTION, ATTENTION, DELTA });
        check(&made, "-+ff-+", MAMBA_STATE);
}

/* Jamba, Granite 4 and others state no heads where there is no attention; Nemotron-H has layers with neither.
 */
static void test_layers_without_heads(void)
{
        static const uint32_t heads[4] = { 0, 2, 0, 0 }, wide[4] = { 0, 0, 0, 128 };
        static const char *const layers[4] = { MAMBA, ATTENTION, MAMBA, FFN };
        g_auto(Made) made = { 0 };
        g_auto(Made) without_tensors = { 0 };

        made_init(&made, "nemotron_h");
        state_keys(&made);
        number(&made, "ssm.group_count", 2);
        list(&made, "attention.head_count_kv", heads);
        tensors(&made, layers);
        check(&made, "-+f-+-", GROUPS_STATE);
        made_init(&without_tensors, "nemotron_h");
        state_keys(&without_tensors);
        list(&without_tensors, "attention.head_count_kv", heads);
        list(&without_tensors, "feed_forward_length", wide);
        tensors(&without_tensors, (const char *const[4]){ FFN, FFN, FFN, FFN });
        check(&without_tensors, "-+f-+-", MAMBA_STATE);
}

static void test_attention_beside_a_state(void)
{
        static const char *const both[4] = { ATTENTION " " MAMBA, ATTENTION " " MAMBA, ATTENTION " " MAMBA,
                ATTENTION " " MAMBA };
        static const char *const fused[4] = { "attn_qkv.weight " MAMBA, "attn_qkv.weight " MAMBA,
                "attn_qkv.weight " MAMBA, "attn_qkv.weight " MAMBA };
        g_auto(Made) made = { 0 };
        g_auto(Made) unknown = { 0 };

        made_init(&made, "falcon-h1");
        state_keys(&made);
        number(&made, "ssm.group_count", 2);
        tensors(&made, both);
        check(&made, "f+f+f+f+", GROUPS_STATE);
        made_init(&unknown, "surely-new");
        state_keys(&unknown);
        tensors(&unknown, fused);
        check_problem(&unknown, "blk.0.attn_qkv.weight");
}

static void test_networks_without_attention(void)
{
        static const char *const mamba[4] = { MAMBA, MAMBA, MAMBA, MAMBA };
        static const char *const rwkv[4] = { "time_mix_key.weight", "time_mix_key.weight",
                "time_mix_key.weight", "time_mix_key.weight channel_mix_key.weight" };
        g_auto(Made) made = { 0 };
        g_auto(Made) shifting = { 0 };
        g_auto(Made) once = { 0 };

        made_init(&made, "mamba");
        state_keys(&made);
        tensors(&made, mamba);
        check(&made, "-+-+-+-+", MAMBA_STATE);
        made_init(&shifting, "rwkv7");
        number(&shifting, "wkv.head_size", 16);
        tensors(&shifting, rwkv);
        check(&shifting, "-+-+-+-+", WIDTH * (2 + 16));
        made_init(&once, "rwkv6qwen2");
        number(&once, "wkv.head_size", 16);
        number(&once, "token_shift_count", 1);
        tensors(&once, rwkv);
        check(&once, "-+-+-+-+", WIDTH * (1 + 16));
}

static void test_convolutions(void)
{
        static const uint32_t heads[4] = { 0, 0, 4, 0 };
        g_auto(Made) made = { 0 };

        made_init(&made, "lfm2");
        number(&made, "shortconv.l_cache", 3);
        list(&made, "attention.head_count_kv", heads);
        tensors(&made, (const char *const[4]){ "shortconv.conv.weight", "shortconv.conv.weight", ATTENTION,
                               "shortconv.conv.weight" });
        check(&made, "-+-+f-+", WIDTH * 2);
}

/* Kimi-Linear: these layers have projections of keys too, but keep none. */
static void test_delta_attention(void)
{
        static const uint32_t heads[4] = { 0, 0, 0, 1 };
        static const char kda[] = ATTENTION " ssm_conv1d_q.weight ssm_a";
        g_auto(Made) made = { 0 };

        made_init(&made, "kimi-linear");
        number(&made, "kda.head_dim", 8);
        number(&made, "ssm.conv_kernel", 4);
        number(&made, "attention.key_length_mla", 12);
        list(&made, "attention.head_count_kv", heads);
        tensors(&made, (const char *const[4]){ kda, kda, kda, "attn_q.weight attn_kv_a_mqa.weight" });
        check(&made, "-+-+-+f", 3 * 3 * 4 * 8 + 8 * 8 * 4);
        g_assert_cmpuint(made.llm->layers[3].value_length, ==, 0);
}

static void test_windows(void)
{
        static const uint8_t windowed[4] = { 0, 1, 1, 0 };
        static const char *const layers[4] = { ATTENTION, ATTENTION, ATTENTION, ATTENTION };
        g_auto(Made) listed = { 0 };
        g_auto(Made) period = { 0 };
        g_auto(Made) shared = { 0 };
        g_auto(Made) doubtful = { 0 };

        made_init(&listed, "surely-new");
        number(&listed, "attention.sliding_window", 128);
        bools(&listed, "attention.sliding_window_pattern", windowed);
        tensors(&listed, layers);
        check(&listed, "fwwf", 0);
        made_init(&period, "surely-new");
        number(&period, "attention.sliding_window", 128);
        number(&period, "attention.sliding_window_pattern", 2);
        tensors(&period, layers);
        check(&period, "wfwf", 0);
        /* As in Gemma 3n: a list, and last layers that use what earlier ones keep. */
        made_init(&shared, "gemma3n");
        number(&shared, "attention.sliding_window", 128);
        bools(&shared, "attention.sliding_window_pattern", windowed);
        number(&shared, "attention.shared_kv_layers", 2);
        tensors(&shared, layers);
        check(&shared, "fw--", 0);
        made_init(&doubtful, "surely-new");
        number(&doubtful, "attention.sliding_window", 128);
        tensors(&doubtful, layers);
        check(&doubtful, "ffff", 0);
        g_assert_cmpstr(ald_llm_window_doubt(doubtful.llm, 128), ==, NULL);
        g_assert_nonnull(ald_llm_window_doubt(doubtful.llm, 129));
}

/* DeepSeek V3.2: one more key, by which tokens are chosen. */
static void test_keys_of_an_indexer(void)
{
        static const char layer[] = "attn_q_a.weight attn_kv_a_mqa.weight indexer.attn_k.weight";
        g_auto(Made) made = { 0 };

        made_init(&made, "surely-new");
        number(&made, "attention.head_count_kv", 1);
        number(&made, "attention.key_length_mla", 12);
        number(&made, "attention.indexer.head_count", 4);
        number(&made, "attention.indexer.key_length", 32);
        number(&made, "attention.indexer.top_k", 2048);
        tensors(&made, (const char *const[4]){ layer, layer, layer, layer });
        check(&made, "ffff", 0);
        g_assert_cmpuint(made.llm->layers[0].key_length, ==, 16 + 32);
        g_assert_cmpuint(made.llm->layers[0].value_length, ==, 0);
}

static void test_what_is_not_known(void)
{
        g_auto(Made) layer = { 0 };
        g_auto(Made) state = { 0 };
        g_auto(Made) empty = { 0 };
        g_auto(Made) headless = { 0 };

        made_init(&layer, "surely-new");
        tensors(&layer, (const char *const[4]){ ATTENTION, "hyena_filter.weight", ATTENTION, ATTENTION });
        check_problem(&layer, "blk.1.hyena_filter.weight");
        made_init(&state, "surely-new");
        tensors(&state, (const char *const[4]){ ATTENTION, MAMBA, ATTENTION, MAMBA });
        check_problem(&state, "ssm.conv_kernel: it is not stated");
        made_init(&empty, "surely-new");
        number(&empty, "attention.head_count_kv", 2);
        number(&empty, "ssm.conv_kernel", 4);
        number(&empty, "ssm.inner_size", 0);
        number(&empty, "ssm.state_size", 8);
        tensors(&empty, (const char *const[4]){ ATTENTION, MAMBA, ATTENTION, MAMBA });
        check_problem(&empty, "ssm.inner_size: it is 0");
        made_init(&headless, "surely-new");
        number(&headless, "attention.head_count_kv", 0);
        tensors(&headless, (const char *const[4]){ ATTENTION, ATTENTION, ATTENTION, ATTENTION });
        check_problem(&headless, "attention.head_count_kv: it is 0");
}

/* BERT, embedding models and those that fill in words anywhere. */
static void test_encoders(void)
{
        static const char *const layers[4] = { ATTENTION, ATTENTION, ATTENTION, ATTENTION };

        for (unsigned causal = 0; causal < 2; causal++) {
                g_auto(Made) made = { 0 };

                made_init(&made, "surely-new");
                number(&made, "attention.head_count_kv", 2);
                gguf_raw(&made.maker, "surely-new.attention.causal", 7, &(uint8_t){ (uint8_t) causal }, 1);
                tensors(&made, layers);
                if (causal)
                        check(&made, "ffff", 0);
                else
                        check_problem(&made, "attention.causal: it is false");
        }
}

/* Ollama's own conversion of gpt-oss, first with another number for MXFP4. */
static void test_files_of_ollama(void)
{
        static const uint32_t types[] = { 4, 39 };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                g_auto(Made) made = { 0 };

                made_init(&made, "gptoss");
                number(&made, "attention.sliding_window", 128);
                gguf_tensor(&made.maker, "blk.0.ffn_gate_up_exps.weight", types[i], 2 * 17,
                        (uint64_t[4]){ 32, 2 });
                check(&made, "wfwf", 0);
                g_assert_cmpuint(made.llm->layers[0].bytes, ==, 2 * 17);
                g_assert_cmpuint(made.llm->layers[0].parameters, ==, 64);
                g_assert_true(made.llm->ollama_only);
        }
}

static void tensor(Made *made, const char *name, uint64_t rows)
{
        uint64_t row = strstr(name, "conv") ? 4 : WIDTH;

        gguf_tensor(&made->maker, name, F32, 4 * row * rows, (uint64_t[4]){ row, rows });
}

/* A figure that is less than a tensor has must not count as less. */
static void test_contradictions(void)
{
        static const struct {
                const char *tensor;
                uint64_t rows;
                const char *key;
                uint32_t value;
                const char *words;
        } cases[] = {
                { "attn_k.weight", 33, NULL, 0, "attention.key_length: with attention.head_count_kv" },
                { "attn_v.weight", 33, NULL, 0, "attention.value_length: with attention.head_count_kv" },
                { "attn_kv_a_mqa.weight", 17, "attention.key_length_mla", 12,
                        "less than tensors of compressed" },
                { "attn_qkv.weight", 129, NULL, 0, "attention.key_length: with attention.head_count," },
                { "ssm_conv1d.weight", 49, "ssm.group_count", 1, "ssm.group_count: with ssm.inner_size" },
        };

        for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = g_strdup_printf("blk.0.%s", cases[i / 2].tensor);
                g_auto(Made) made = { 0 };

                made_init(&made, "surely-new");
                number(&made, "attention.head_count_kv", 2);
                if (strstr(name, "ssm"))
                        state_keys(&made);
                if (cases[i / 2].key)
                        number(&made, cases[i / 2].key, cases[i / 2].value);
                /* With one row less, it fits. */
                tensor(&made, name, cases[i / 2].rows - i % 2);
                tensor(&made, "blk.1.attn_k.weight", 16);
                if (i % 2 == 0)
                        check_problem(&made, cases[i / 2].words);
                else
                        check(&made, strstr(name, "ssm") ? "-+fff" : "ffff", 3 * 48 + 32 * 8);
        }
}

/* As Granite 4.0 Micro: the figures of a Mamba network that no layer has. */
static void test_unused_state(void)
{
        g_auto(Made) made = { 0 };
        g_auto(Made) unknown = { 0 };

        made_init(&made, "granitehybrid");
        state_keys(&made);
        number(&made, "attention.head_count_kv", 2);
        tensors(&made, (const char *const[4]){ ATTENTION, ATTENTION, ATTENTION, ATTENTION });
        check(&made, "ffff", 0);
        made_init(&unknown, "granitehybrid");
        state_keys(&unknown);
        number(&unknown, "attention.head_count_kv", 2);
        tensors(&unknown, (const char *const[4]){ ATTENTION, FFN, ATTENTION, ATTENTION });
        check_problem(&unknown, "ssm.conv_kernel: it is not known which layers have such a state");
}

static void test_short_kernel(void)
{
        for (uint32_t kernel = 3; kernel <= 4; kernel++) {
                g_auto(Made) made = { 0 };

                made_init(&made, "surely-new");
                number(&made, "attention.head_count_kv", 2);
                number(&made, "ssm.conv_kernel", kernel);
                number(&made, "ssm.inner_size", 32);
                number(&made, "ssm.state_size", 8);
                tensor(&made, "blk.0.ssm_conv1d.weight", 32);
                tensor(&made, "blk.1.attn_k.weight", 32);
                if (kernel < 4)
                        check_problem(&made, "ssm.conv_kernel: it is less than tensors of the convolution");
                else
                        check(&made, "-+fff", MAMBA_STATE);
        }
}

static void test_layers_as_drafts(void)
{
        for (unsigned is_draft = 0; is_draft < 2; is_draft++) {
                g_auto(Made) made = { .architecture = "surely-new" };

                gguf_maker_init(&made.maker);
                gguf_string(&made.maker, "general.architecture", made.architecture);
                number(&made, "block_count", 5);
                number(&made, "nextn_predict_layers", 1);
                number(&made, "embedding_length", WIDTH);
                number(&made, "attention.head_count", 4);
                tensor(&made, "blk.0.attn_k.weight", WIDTH);
                tensor(&made, "blk.4.attn_k.weight", WIDTH);
                if (is_draft) {
                        tensor(&made, "blk.4.nextn.eh_proj.weight", WIDTH);
                        check(&made, "ffff", 0);
                } else
                        check_problem(&made, "nextn_predict_layers: one of these blocks has no tensor");
        }
}

/* Ollama has queries, keys and values in one tensor. */
static void test_fused_without_heads(void)
{
        g_auto(Made) made = { 0 };

        made_init(&made, "gptoss");
        number(&made, "attention.head_count_kv", 0);
        tensor(&made, "blk.0.attn_qkv.weight", 96);
        check_problem(&made, "attention.head_count_kv: it is 0");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/model-gguf-layers/interval", test_interval);
        g_test_add_func("/model-gguf-layers/recurrent-list", test_list_of_recurrent_layers);
        g_test_add_func("/model-gguf-layers/without-heads", test_layers_without_heads);
        g_test_add_func("/model-gguf-layers/beside", test_attention_beside_a_state);
        g_test_add_func("/model-gguf-layers/recurrent", test_networks_without_attention);
        g_test_add_func("/model-gguf-layers/convolutions", test_convolutions);
        g_test_add_func("/model-gguf-layers/delta", test_delta_attention);
        g_test_add_func("/model-gguf-layers/windows", test_windows);
        g_test_add_func("/model-gguf-layers/indexer", test_keys_of_an_indexer);
        g_test_add_func("/model-gguf-layers/unknown", test_what_is_not_known);
        g_test_add_func("/model-gguf-layers/encoders", test_encoders);
        g_test_add_func("/model-gguf-layers/ollama", test_files_of_ollama);
        g_test_add_func("/model-gguf-layers/contradictions", test_contradictions);
        g_test_add_func("/model-gguf-layers/unused-state", test_unused_state);
        g_test_add_func("/model-gguf-layers/short-kernel", test_short_kernel);
        g_test_add_func("/model-gguf-layers/drafts", test_layers_as_drafts);
        g_test_add_func("/model-gguf-layers/fused", test_fused_without_heads);
        return g_test_run();
}
