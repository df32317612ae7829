/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "placement/model/model-file.h"
#include "tests/unit/gguf-maker.h"

#define ABSENT ALD_LLM_ABSENT_COUNT

/* A folder as it is published: config.json, and tensors without data. */
typedef struct Folder {
        char *path;
        AldLlm *llm;
} Folder;

static unsigned bits_of(const char *type)
{
        return strcmp(type, "I64") == 0 ? 64 : strchr(type, '6') ? 16 : strstr(type, "32") ? 32 : 8;
}

/* Each as "NAME TYPE ROWSxCOLUMNS"; a vector has one number. */
static void append_tensor(GString *header, const char *line, uint64_t *end)
{
        g_auto(GStrv) words = g_strsplit(line, " ", 3), dims = g_strsplit(words[2], "x", -1);
        g_autofree char *shape = g_strjoinv(",", dims);
        uint64_t bytes = bits_of(words[1]) / 8;

        for (char **dim = dims; *dim; dim++)
                bytes *= g_ascii_strtoull(*dim, NULL, 10);
        g_string_append_printf(header,
                ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%" G_GUINT64_FORMAT
                ",%" G_GUINT64_FORMAT "]}",
                words[0], words[1], shape, *end, *end + bytes);
        *end += bytes;
}

static void folder_read(Folder *folder, const char *config, const char *const *tensors)
{
        g_autofree char *quoted = g_strdelimit(g_strdup_printf("{%s}", config), "'", '"'), *error = NULL;
        g_autofree char *config_path = NULL, *path = NULL;
        g_autoptr(GString) header = g_string_new("{\"__metadata__\":{}");
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        uint64_t end = 0, n;

        for (; *tensors; tensors++)
                append_tensor(header, *tensors, &end);
        g_string_append_c(header, '}');
        n = GUINT64_TO_LE(header->len);
        g_byte_array_append(bytes, (const uint8_t *) &n, sizeof n);
        g_byte_array_append(bytes, (const uint8_t *) header->str, (guint) header->len);
        folder->path = model_folder_new();
        config_path = g_build_filename(folder->path, "config.json", NULL);
        path = g_build_filename(folder->path, "model.safetensors", NULL);
        gguf_write_bytes(config_path, quoted, strlen(quoted), strlen(quoted));
        gguf_write_bytes(path, bytes->data, bytes->len, bytes->len + end);
        ald_llm_read(folder->path, &folder->llm, &error);
        g_assert_cmpstr(error, ==, NULL);
}

static void folder_clear(Folder *folder)
{
        model_folder_remove(folder->path);
        ald_llm_free(folder->llm);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Folder, folder_clear)

#define TENSORS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Of each layer: f for keys and values of the whole context, w of a window, - for none, and + for a state. */
static void check_layers(const AldLlm *llm, const char *expected, uint64_t state_numbers)
{
        g_autoptr(GString) said = g_string_new(NULL);

        g_assert_cmpstr(llm->kv_problem, ==, NULL);
        for (unsigned i = 0; i < llm->n_layers; i++) {
                const AldLlmLayer *layer = &llm->layers[i];

                g_string_append(said, layer->kv_heads == 0 ? "-" : layer->window == ABSENT ? "f" : "w");
                if (layer->state_bytes > 0) {
                        g_string_append_c(said, '+');
                        g_assert_cmpuint(layer->state_bytes, ==, 4 * state_numbers);
                }
        }
        g_assert_cmpstr(said->str, ==, expected);
}

static void check(const char *config, const char *const *tensors, const char *expected, uint64_t numbers)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder, config, tensors);
        check_layers(folder.llm, expected, numbers);
}

static void check_problem(const char *config, const char *const *tensors, const char *words)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder, config, tensors);
        g_assert_nonnull(folder.llm->kv_problem);
        if (!strstr(folder.llm->kv_problem, words))
                g_error("\"%s\" does not say \"%s\"", folder.llm->kv_problem, words);
}

#define HEADS "'hidden_size': 64, 'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 16"
#define FOUR "'num_hidden_layers': 4, " HEADS
#define ATTENTION(prefix) prefix ".k_proj.weight BF16 32x64", prefix ".v_proj.weight BF16 32x64"
#define PLAIN                                                                                 \
        TENSORS(ATTENTION("model.layers.0.self_attn"), ATTENTION("model.layers.1.self_attn"), \
                ATTENTION("model.layers.2.self_attn"), ATTENTION("model.layers.3.self_attn"))

/* Gemma 3 4B and LLaVA as published leave out all that is a default of their class. */
static void test_defaults_from_shapes(void)
{
        g_auto(Folder) gemma = { 0 };
        g_auto(Folder) llava = { 0 };

        folder_read(&gemma,
                "'model_type': 'gemma3', 'text_config': {'model_type': 'gemma3_text', 'num_hidden_layers': 2,"
                "'sliding_window': 1024}, 'vision_config': {'num_hidden_layers': 27}",
                TENSORS("language_model.model.embed_tokens.weight BF16 10x64",
                        "language_model.model.layers.0.self_attn.k_proj.weight BF16 32x64",
                        "language_model.model.layers.0.self_attn.v_proj.weight BF16 32x64",
                        "language_model.model.layers.0.self_attn.k_norm.weight BF16 8",
                        "language_model.model.layers.1.self_attn.k_proj.weight F8_E4M3 32x64",
                        "language_model.model.layers.1.self_attn.k_norm.weight BF16 16",
                        "vision_tower.encoder.layers.5.self_attn.k_proj.weight BF16 8x8"));
        check_layers(gemma.llm, "ww", 0);
        g_assert_cmpuint(gemma.llm->vocabulary, ==, 10);
        g_assert_cmpuint(gemma.llm->embedding_length, ==, 64);
        g_assert_cmpuint(gemma.llm->layers[0].kv_heads, ==, 4);
        g_assert_cmpuint(gemma.llm->layers[0].key_length, ==, 8);
        g_assert_cmpuint(gemma.llm->layers[1].kv_heads, ==, 2);
        /* Where values have no tensor, they are as long as keys. */
        g_assert_cmpuint(gemma.llm->layers[1].value_length, ==, 16);
        folder_read(&llava, "'model_type': 'llava', 'text_config': {'model_type': 'llama'}",
                TENSORS("language_model.model.embed_tokens.weight BF16 10x64",
                        ATTENTION("language_model.model.layers.0.self_attn"),
                        ATTENTION("language_model.model.layers.2.self_attn"),
                        ATTENTION("language_model.model.layers.1.self_attn")));
        check_layers(llava.llm, "fff", 0);
        g_assert_cmpuint(llava.llm->layers[2].kv_heads * llava.llm->layers[2].key_length, ==, 32);
}

/* Heads that differ from layer to layer, or that are all in one tensor. */
static void test_heads_from_shapes(void)
{
        g_auto(Folder) wide = { 0 };
        g_auto(Folder) fused = { 0 };
        g_auto(Folder) listed = { 0 };
        g_auto(Folder) gptq = { 0 };
        g_auto(Folder) packed = { 0 };

        folder_read(&wide, "'model_type': 'surely_new', 'num_hidden_layers': 2, " HEADS,
                TENSORS("model.layers.0.self_attn.k_proj.weight BF16 32x64",
                        "model.layers.1.self_attn.k_proj.weight BF16 128x64",
                        "model.layers.1.self_attn.k_norm.weight BF16 64"));
        g_assert_cmpuint(wide.llm->layers[0].kv_heads, ==, 2);
        g_assert_cmpuint(wide.llm->layers[1].kv_heads, ==, 2);
        g_assert_cmpuint(wide.llm->layers[1].key_length, ==, 64);
        folder_read(&fused,
                "'model_type': 'surely_new', 'num_hidden_layers': 1, 'hidden_size': 64, "
                "'num_attention_heads': 4, 'head_dim': 16",
                TENSORS("model.layers.0.self_attn.qkv_proj.weight BF16 96x64"));
        g_assert_cmpuint(fused.llm->layers[0].kv_heads, ==, 1);
        folder_read(&listed,
                "'model_type': 'openelm', 'num_transformer_layers': 2, 'model_dim': 64, "
                "'num_query_heads': [4, 8], 'num_kv_heads': [1, 2], 'head_dim': 16.0, "
                "'max_context_length': 2048.0, 'ffn_multipliers': [0.5, 1.0]",
                TENSORS("transformer.layers.0.attn.qkv_proj.weight BF16 96x64",
                        "transformer.layers.1.attn.qkv_proj.weight BF16 192x64"));
        g_assert_cmpuint(listed.llm->layers[0].kv_heads, ==, 1);
        g_assert_cmpuint(listed.llm->layers[1].kv_heads, ==, 2);
        g_assert_cmpuint(listed.llm->layers[1].key_length, ==, 16);
        g_assert_cmpuint(listed.llm->context, ==, 2048);
        folder_read(&gptq,
                "'model_type': 'surely_new', 'num_hidden_layers': 1, 'head_dim': 16, "
                "'quantization_config': {'quant_method': 'gptq', 'bits': 4}",
                TENSORS("model.layers.0.self_attn.k_proj.qweight I32 8x48",
                        "model.layers.0.self_attn.k_proj.scales F16 1x48"));
        g_assert_cmpuint(gptq.llm->layers[0].kv_heads, ==, 3);
        /* Rows of what may be packed in any way do not replace what is stated. */
        folder_read(&packed, "'model_type': 'surely_new', 'num_hidden_layers': 3, " HEADS,
                TENSORS("model.layers.0.self_attn.k_proj.weight U8 16x64",
                        "model.layers.1.self_attn.k_proj.weight U32 16x8",
                        "model.layers.2.self_attn.k_proj.qweight I32 64x4"));
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpuint(packed.llm->layers[i].kv_heads * packed.llm->layers[i].key_length, ==, 32);
}

static void test_lists_of_layers(void)
{
        static const char *const kinds[] = {
                "'model_type': 'surely_new', 'sliding_window': 128, 'layer_types': ['sliding_attention', "
                "'full_attention', 'sliding_attention', 'sliding_attention'], " FOUR,
                "'model_type': 'llama4_text', 'attention_chunk_size': 8192, 'no_rope_layers': [1, 0, 1, "
                "1], " FOUR,
                "'model_type': 'llama4_text', 'attention_chunk_size': 8192, 'layer_types': "
                "['chunked_attention', "
                "'full_attention', 'chunked_attention', 'chunked_attention'], " FOUR,
                "'model_type': 'mimo_v2', 'sliding_window': 128, 'hybrid_layer_pattern': [1, 0, 1, 1], " FOUR,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                check(kinds[i], PLAIN, "wfww", 0);
        check("'model_type': 'llama4_text', 'attention_chunk_size': 8192, " FOUR, PLAIN, "wwwf", 0);
        check("'model_type': 'surely_new', 'sliding_window': 128, 'sliding_window_pattern': 2, " FOUR, PLAIN,
                "wfwf", 0);
        check("'model_type': 'surely_new', 'sliding_window': 128, 'sliding_window_pattern': 'LLLG', " FOUR,
                PLAIN, "wwwf", 0);
        check("'model_type': 'gemma3n_text', 'sliding_window': 128, 'num_kv_shared_layers': 1, "
              "'layer_types': "
              "['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'], " FOUR,
                PLAIN, "wfw-", 0);
        check_problem("'model_type': 'surely_new', 'layer_types': ['odd', 'odd', 'odd', 'odd'], " FOUR, PLAIN,
                "layer_types: it is not known what a layer \"odd\"");
        check_problem("'model_type': 'surely_new', 'hybrid_override_pattern': 'M*?-', " FOUR, PLAIN,
                "a layer \"?\"");
}

static void test_windows_in_other_forms(void)
{
        check("'model_type': 'surely_new', 'sliding_window': [128, null, 64, 0], " FOUR, PLAIN, "wfwf", 0);
        check("'model_type': 'surely_new', 'sliding_window': -1, 'layer_types': [], " FOUR, PLAIN, "ffff", 0);
        check("'model_type': 'surely_new', 'sliding_window': false, " FOUR, PLAIN, "ffff", 0);
        check("'model_type': 'llama4_text', 'attention_chunk_size': 8192, 'no_rope_layers': [], " FOUR, PLAIN,
                "wwwf", 0);
        check_problem(
                "'model_type': 'surely_new', 'sliding_window': 'wide', " FOUR, PLAIN, "sliding_window: ");
        /* DeciLM has layers without attention, and such with a matrix in its place. */
        check("'model_type': 'nemotron-nas', 'num_key_value_heads': null, 'num_hidden_layers': 3, "
              "'hidden_size': 64, "
              "'num_attention_heads': 4",
                TENSORS(ATTENTION("model.layers.0.self_attn"),
                        "model.layers.1.self_attn.linear_attn.weight BF16 64x64",
                        "model.layers.2.mlp.up_proj.weight BF16 64x64"),
                "f--", 0);
}

/* Engines differ: what is counted is enough for each. */
static void test_windows_of_all_layers(void)
{
        static const char *const configs[] = {
                "'model_type': 'mistral', 'sliding_window': 4096, " FOUR,
                "'model_type': 'starcoder2', 'sliding_window': 4096, " FOUR,
                "'model_type': 'qwen2', 'sliding_window': 4096, 'use_sliding_window': true, " FOUR,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
                g_auto(Folder) folder = { 0 };

                folder_read(&folder, configs[i], PLAIN);
                check_layers(folder.llm, "ffff", 0);
                g_assert_cmpstr(ald_llm_window_doubt(folder.llm, 4096), ==, NULL);
                g_assert_nonnull(ald_llm_window_doubt(folder.llm, 4097));
        }
}

#define DELTA(n)                                                            \
        "model.layers." n ".linear_attn.in_proj_qkvz.weight BF16 96x64",    \
                "model.layers." n ".linear_attn.conv1d.weight BF16 96x1x4", \
                "model.layers." n ".linear_attn.A_log F32 4"
#define DELTA_KEYS                                                                          \
        "'linear_num_key_heads': 2, 'linear_num_value_heads': 4, 'linear_key_head_dim': 8," \
        "'linear_value_head_dim': 16, 'linear_conv_kernel_dim': 4, "
#define DELTA_STATE (3 * (2 * 2 * 8 + 4 * 16) + 4 * 16 * 8)

static void test_delta_networks(void)
{
        const char *const *tensors = TENSORS(DELTA("0"), ATTENTION("model.layers.1.self_attn"), DELTA("2"),
                ATTENTION("model.layers.3.self_attn"));

        check("'model_type': 'qwen3_next', 'full_attention_interval': 2, " DELTA_KEYS FOUR, tensors, "-+f-+f",
                DELTA_STATE);
        check("'model_type': 'qwen3_5_text', 'layer_types': ['linear_attention', 'full_attention', "
              "'linear_attention', 'full_attention'], " DELTA_KEYS FOUR,
                tensors, "-+f-+f", DELTA_STATE);
        /* Tensors say it too. */
        check("'model_type': 'surely_new', " DELTA_KEYS FOUR, tensors, "-+f-+f", DELTA_STATE);
        check_problem("'model_type': 'qwen3_next', 'full_attention_interval': 2, " FOUR, tensors,
                "linear_num_value_heads");
        check_problem(
                "'model_type': 'qwen3_next', 'full_attention_interval': 2, 'linear_num_value_heads': 4, "
                "'linear_num_key_heads': 2, 'linear_key_head_dim': 8, " FOUR,
                tensors, "linear_value_head_dim: it is not stated, and model.layers.0.linear_attn");
}

#define KDA_CONFIG                                                                                 \
        "'linear_attn_config': {'kda_layers': [1, 2, 4], 'full_attn_layers': [3], 'head_dim': 8, " \
        "'num_heads': 4, 'short_conv_kernel_size': 4}, 'kv_lora_rank': 24, 'qk_rope_head_dim': 8, "

static void test_kimi_linear(void)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder, "'model_type': 'kimi_linear', " KDA_CONFIG FOUR,
                TENSORS(ATTENTION("model.layers.0.self_attn"), "model.layers.0.self_attn.A_log F32 4",
                        ATTENTION("model.layers.1.self_attn"),
                        "model.layers.1.self_attn.k_conv1d.weight BF16 32x1x4",
                        "model.layers.2.self_attn.kv_a_proj_with_mqa.weight BF16 32x64",
                        ATTENTION("model.layers.3.self_attn"), "model.layers.3.self_attn.dt_bias F32 32"));
        check_layers(folder.llm, "-+-+f-+", 3 * 3 * 32 + 32 * 8);
        g_assert_cmpuint(folder.llm->layers[2].kv_heads, ==, 1);
        g_assert_cmpuint(folder.llm->layers[2].key_length, ==, 32);
        g_assert_cmpuint(folder.llm->layers[2].value_length, ==, 0);
}

#define MAMBA(n) "model.layers." n ".mamba.in_proj.weight BF16 64x64", "model.layers." n ".mamba.A_log F32 4"
#define MIXER(n) \
        "backbone.layers." n ".mixer.in_proj.weight BF16 64x64", "backbone.layers." n ".mixer.A_log F32 4"

static void test_mamba_networks(void)
{
        const char *const *jamba = TENSORS(
                MAMBA("0"), ATTENTION("model.layers.1.self_attn"), MAMBA("2"), MAMBA("3"));

        check("'model_type': 'jamba', 'attn_layer_period': 4, 'attn_layer_offset': 1, 'mamba_d_state': 8, "
              "'mamba_d_conv': 4, 'mamba_expand': 2, " FOUR,
                jamba, "-+f-+-+", 3 * 128 + 128 * 8);
        check("'model_type': 'granitemoehybrid', 'layer_types': ['mamba', 'attention', 'mamba', 'mamba'], "
              "'mamba_d_state': 8, 'mamba_d_conv': 4, 'mamba_n_heads': 8, 'mamba_d_head': 16, "
              "'mamba_n_groups': 1, " FOUR,
                jamba, "-+f-+-+", 3 * (128 + 2 * 8) + 128 * 8);
        check("'model_type': 'bamba', 'attn_layer_indices': [1], 'mamba_d_state': 8, 'mamba_d_conv': 4, "
              "'mamba_n_heads': 8, 'mamba_d_head': 16, 'mamba_n_groups': 1, " FOUR,
                jamba, "-+f-+-+", 3 * (128 + 2 * 8) + 128 * 8);
        check("'model_type': 'nemotron_h', 'hybrid_override_pattern': 'M*-E', 'ssm_state_size': 8, "
              "'conv_kernel': 4, 'mamba_num_heads': 8, 'mamba_head_dim': 16, 'n_groups': 2, " FOUR,
                TENSORS(MIXER("0"), ATTENTION("backbone.layers.1.mixer"),
                        "backbone.layers.2.mixer.up_proj.weight BF16 64x64"),
                "-+f--", 3 * (128 + 2 * 2 * 8) + 128 * 8);
        check("'model_type': 'mamba', 'num_hidden_layers': 2, 'hidden_size': 64, 'state_size': 8, "
              "'conv_kernel': 4, 'intermediate_size': 96, 'expand': 2",
                TENSORS(MIXER("0"), MIXER("1")), "-+-+", 3 * 96 + 96 * 8);
        check("'model_type': 'falcon_h1', 'mamba_d_ssm': 96, 'mamba_d_state': 8, 'mamba_d_conv': 4, "
              "'mamba_n_groups': 1, 'num_hidden_layers': 1, " HEADS,
                TENSORS(MAMBA("0"), ATTENTION("model.layers.0.self_attn")), "f+", 3 * (96 + 2 * 8) + 96 * 8);
}

static void test_other_networks(void)
{
        check("'model_type': 'lfm2', 'conv_L_cache': 3, 'full_attn_idxs': [2], " FOUR,
                TENSORS("model.layers.0.conv.conv.weight BF16 64x1x3",
                        "model.layers.1.conv.conv.weight BF16 64x1x3", ATTENTION("model.layers.2.self_attn"),
                        "model.layers.3.conv.conv.weight BF16 64x1x3"),
                "-+-+f-+", 64 * 2);
        check("'model_type': 'minimax_text_01', 'attn_type_list': [0, 0, 0, 1], " FOUR,
                TENSORS("model.layers.0.self_attn.qkv_proj.weight BF16 192x64",
                        ATTENTION("model.layers.3.self_attn")),
                "-+-+-+f", 16 * 16 * 4);
        check("'model_type': 'rwkv7', 'num_hidden_layers': 1, 'hidden_size': 64, 'head_dim': 16",
                TENSORS("model.layers.0.attention.receptance.weight BF16 64x64"), "-+", 64 * (2 + 16));
        /* Keys and values of RWKV go into its state; but some of its layers may have attention. */
        check("'model_type': 'rwkv7', 'attn': null, 'num_hidden_layers': 1, 'hidden_size': 64, 'head_dim': "
              "16",
                TENSORS(ATTENTION("model.layers.0.attn"), "model.layers.0.attn.r_proj.weight BF16 64x64"),
                "-+", 64 * (2 + 16));
        check_problem(
                "'model_type': 'rwkv7', 'attn': {'layers': [0]}, 'num_hidden_layers': 1, 'hidden_size': 64,"
                " 'head_dim': 16",
                TENSORS(ATTENTION("model.layers.0.attn")), "attn: ");
        /* The last layer has no whole group. */
        check("'model_type': 'bailing_moe_linear', 'layer_group_size': 3, " FOUR,
                TENSORS("model.layers.0.attention.query_key_value.weight BF16 192x64"), "-+-+ff",
                16 * 16 * 4);
        check("'model_type': 'zamba2', 'layers_block_type': ['mamba', 'hybrid', 'mamba', 'mamba'], "
              "'mamba_d_state': 8, 'mamba_d_conv': 4, 'mamba_expand': 2, 'mamba_ngroups': 1, " FOUR,
                TENSORS(MAMBA("0"), MAMBA("2"), MAMBA("3"),
                        ATTENTION("model.layers.1.shared_transformer.self_attn"),
                        "model.layers.1.mamba_decoder.mamba.A_log F32 4"),
                "-+f+-+-+", 3 * (128 + 2 * 8) + 128 * 8);
        check_problem("'model_type': 'gemma3_text', 'use_bidirectional_attention': true, " FOUR, PLAIN,
                "use_bidirectional_attention");
        check_problem("'model_type': 'surely_new', " FOUR,
                TENSORS(ATTENTION("model.layers.0.self_attn"), "model.layers.1.hyena.filter BF16 8"),
                "model.layers.1.hyena.filter");
        check_problem("'model_type': 'surely_new', 'lru_width': 64, " FOUR, PLAIN, "lru_width");
}

static void test_compressed_keys(void)
{
        g_auto(Folder) indexed = { 0 };
        g_auto(Folder) shaped = { 0 };
        g_auto(Folder) expanded = { 0 };
        const char *const *tensors = TENSORS("model.layers.0.self_attn.kv_a_proj_with_mqa.weight BF16 40x64",
                "model.layers.0.self_attn.indexer.wk.weight BF16 16x64");

        folder_read(&indexed,
                "'model_type': 'deepseek_v32', 'num_hidden_layers': 1, 'kv_lora_rank': 32, "
                "'qk_rope_head_dim': 8, 'index_topk': 2048, 'index_head_dim': 16, " HEADS,
                tensors);
        g_assert_cmpstr(indexed.llm->kv_problem, ==, NULL);
        g_assert_cmpuint(indexed.llm->layers[0].key_length, ==, 40 + 16);
        g_assert_cmpuint(indexed.llm->layers[0].value_length, ==, 0);
        check_problem("'model_type': 'deepseek_v32', 'num_hidden_layers': 1, 'kv_lora_rank': 32, "
                      "'qk_rope_head_dim': 8, 'index_head_dim': 1, " HEADS,
                tensors, "index_head_dim: it does not fit");
        folder_read(&shaped, "'model_type': 'deepseek_v3', 'num_hidden_layers': 1, " HEADS, tensors);
        g_assert_cmpstr(shaped.llm->kv_problem, ==, NULL);
        g_assert_cmpuint(shaped.llm->layers[0].kv_heads, ==, 1);
        g_assert_cmpuint(shaped.llm->layers[0].key_length, ==, 40 + 16);
        folder_read(&expanded,
                "'model_type': 'minicpm3', 'num_hidden_layers': 1, 'kv_lora_rank': 32, 'qk_rope_head_dim': "
                "8, "
                "'qk_nope_head_dim': 16, 'hidden_size': 64, 'num_attention_heads': 4, 'num_key_value_heads': "
                "4",
                TENSORS("model.layers.0.self_attn.kv_a_proj_with_mqa.weight BF16 40x64"));
        g_assert_cmpstr(expanded.llm->kv_problem, ==, NULL);
        g_assert_cmpuint(expanded.llm->layers[0].kv_heads, ==, 4);
        g_assert_cmpuint(expanded.llm->layers[0].key_length, ==, 24);
}

/* LongCat's layers have two attentions, each of which keeps its own. */
static void test_two_attentions(void)
{
        g_auto(Folder) latent = { 0 };
        g_auto(Folder) plain = { 0 };

        folder_read(&latent,
                "'model_type': 'longcat_flash', 'num_layers': 1, 'kv_lora_rank': 32, 'qk_rope_head_dim': 8, "
                "'index_head_dim': 16, 'hidden_size': 64, 'num_attention_heads': 4",
                TENSORS("model.layers.0.self_attn.0.kv_a_proj_with_mqa.weight BF16 40x64",
                        "model.layers.0.self_attn.1.kv_a_proj_with_mqa.weight BF16 40x64",
                        "model.layers.0.self_attn.1.kv_a_proj_with_mqa.bias BF16 40"));
        g_assert_cmpstr(latent.llm->kv_problem, ==, NULL);
        g_assert_cmpuint(latent.llm->layers[0].kv_heads, ==, 2);
        g_assert_cmpuint(latent.llm->layers[0].key_length, ==, 40 + 16);
        folder_read(&plain, "'model_type': 'surely_new', 'num_hidden_layers': 1, " HEADS,
                TENSORS(ATTENTION("model.layers.0.self_attn.0"), ATTENTION("model.layers.0.self_attn.1")));
        g_assert_cmpstr(plain.llm->kv_problem, ==, NULL);
        g_assert_cmpuint(plain.llm->layers[0].kv_heads, ==, 4);
        g_assert_cmpuint(plain.llm->layers[0].key_length, ==, 16);
}

/* One tensor for all experts of a layer, with a name of its own; a convolution has three dimensions, too. */
static void test_stacked_experts(void)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder,
                "'model_type': 'qwen3_moe', 'num_hidden_layers': 2, 'num_experts': 8, 'num_experts_per_tok': "
                "2, "
                "'quantization': {'group_size': 64, 'bits': 4}, " HEADS,
                TENSORS(ATTENTION("model.layers.0.self_attn"),
                        "model.layers.0.mlp.switch_mlp.up_proj.weight U32 8x32x8",
                        "model.layers.0.mlp.switch_mlp.up_proj.scales BF16 8x32x1",
                        ATTENTION("model.layers.1.self_attn"),
                        "model.layers.1.moe.up_proj.weight BF16 8x32x64",
                        "model.layers.1.conv.weight BF16 64x1x4"));
        g_assert_cmpuint(folder.llm->layers[0].parameters, ==, 2 * 32 * 64 + 8 * 32 * 64);
        g_assert_cmpuint(folder.llm->layers[0].token_parameters, ==, 2 * 32 * 64 + 2 * 32 * 64);
        g_assert_cmpuint(folder.llm->layers[1].token_parameters, ==, 2 * 32 * 64 + 2 * 32 * 64 + 64 * 4);
        g_assert_cmpuint(folder.llm->layers[1].token_bytes, ==, 2 * folder.llm->layers[1].token_parameters);
}

/* Groups of Mamba 2 have a default of its class, which the tensor shows. */
static void test_groups_from_shapes(void)
{
        check("'model_type': 'mamba2', 'num_hidden_layers': 1, 'hidden_size': 64, 'state_size': 8, "
              "'conv_kernel': 4, "
              "'mamba_head_dim': 'auto', 'expand': 2",
                TENSORS(MIXER("0"), "backbone.layers.0.mixer.conv1d.weight BF16 256x8x4"), "-+",
                3 * (128 + 2 * 8 * 8) + 128 * 8);
}

/* OLMo Hybrid convolves queries, keys and values by a tensor each. */
static void test_several_convolutions(void)
{
        check("'model_type': 'olmo_hybrid', 'layer_types': ['linear_attention', "
              "'full_attention'], " DELTA_KEYS "'num_hidden_layers': 2, " HEADS,
                TENSORS("model.layers.0.linear_attn.q_conv1d.weight BF16 16x1x4",
                        "model.layers.0.linear_attn.q_conv1d.bias BF16 16",
                        "model.layers.0.linear_attn.k_conv1d.weight BF16 16x1x4",
                        "model.layers.0.linear_attn.v_conv1d.weight BF16 64x1x4",
                        ATTENTION("model.layers.1.self_attn")),
                "-+f", DELTA_STATE);
}

/* Granite 4.0 Micro states what a Mamba network would have, of which it has none. */
static void test_unused_state(void)
{
        const char *config = "'model_type': 'granitemoehybrid', 'mamba_d_state': 8, 'mamba_n_heads': 8, "
                             "'mamba_d_head': 16, 'layer_types': ['attention', 'attention', 'attention', "
                             "'attention'], " FOUR;

        check(config, PLAIN, "ffff", 0);
        check_problem("'model_type': 'granitemoehybrid', 'mamba_d_state': 8, " FOUR, PLAIN,
                "mamba_d_state: it is not known which layers have such a state");
        check_problem(config,
                TENSORS(ATTENTION("model.layers.0.self_attn"), ATTENTION("model.layers.1.self_attn"),
                        ATTENTION("model.layers.2.self_attn"), ATTENTION("model.layers.3.self_attn"),
                        "model.layers.3.mamba.A_log F32 4"),
                "mamba_d_state: it is not known which layers have such a state");
}

/* Tensors of PLaMo 2 have two prefixes, one within the other. */
static void test_plamo(void)
{
        check("'model_type': 'plamo2', 'num_hidden_layers': 2, 'hidden_size': 64, 'num_attention_heads': 4, "
              "'num_key_value_heads': 2, 'hidden_size_per_head': 16, 'mamba_d_state': 8, 'mamba_d_conv': 4",
                TENSORS("model.layers.layers.0.mixer.conv1d.weight BF16 128x1x4",
                        "model.layers.layers.1.mixer.qkv_proj.weight BF16 128x64"),
                "-+f", 3 * 128 + 128 * 8);
}

/* DeepSeek-OCR has the name of a class with compressed keys, and keys that are not. */
static void test_plain_keys_of_a_latent_class(void)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder,
                "'model_type': 'deepseek_vl_v2', 'language_config': {'model_type': 'deepseek_v2', "
                "'use_mla': false, 'kv_lora_rank': null, 'v_head_dim': 0, 'num_hidden_layers': 1, "
                "'hidden_size': 64, 'num_attention_heads': 4, 'num_key_value_heads': 4}",
                TENSORS("model.layers.0.self_attn.k_proj.weight BF16 64x64",
                        "model.layers.0.self_attn.v_proj.weight BF16 64x64"));
        check_layers(folder.llm, "f", 0);
        g_assert_cmpuint(folder.llm->layers[0].kv_heads * folder.llm->layers[0].key_length, ==, 64);
        check_problem("'model_type': 'deepseek_v2', " FOUR,
                TENSORS(ATTENTION("model.layers.0.self_attn"), ATTENTION("model.layers.1.self_attn")),
                "how long compressed keys are");
}

/* The lightning attention of MiniCPM-SALA has tensors with the names of attention. */
static void test_lightning(void)
{
        check("'model_type': 'minicpm_sala', 'mixer_types': ['minicpm4', 'lightning-attn', 'lightning-attn', "
              "'minicpm4'], 'lightning_nh': 4, 'lightning_head_dim': 8, " FOUR,
                PLAIN, "f-+-+f", 4 * 8 * 8);
        check_problem(
                "'model_type': 'minicpm_sala', 'mixer_types': ['minicpm4', 'gla', 'gla', 'minicpm4'], " FOUR,
                PLAIN, "mixer_types: it is not known what a layer \"gla\" keeps");
}

/* Hymba has its keys and values within a tensor of its Mamba network, where nobody looks for them. */
static void test_hidden_keys(void)
{
        check_problem("'model_type': 'hymba', 'mamba_d_state': 8, 'num_hidden_layers': 1, " HEADS,
                TENSORS(MAMBA("0")),
                "num_key_value_heads: it is stated, but it is not known which layers have keys and values");
}

/* What is not understood, or is contradicted by a tensor, must not count as less. */
static void test_contradictions(void)
{
        static const struct {
                const char *model_type, *config, *tensors[3], *words;
        } cases[] = {
                { "lfm2", "'conv_L_cache': 0, ", { "model.layers.0.conv.conv.weight BF16 64x1x3" },
                        "conv_L_cache: it is not a whole number above 0" },
                { "lfm2", "'conv_L_cache': [3], ", { "model.layers.0.conv.conv.weight BF16 64x1x3" },
                        "conv_L_cache: it is not a whole number above 0" },
                { "lfm2", "'conv_L_cache': 3, ", { "model.layers.0.conv.conv.weight BF16 96x1x3" },
                        "conv_L_cache: the tensor of this convolution has another width" },
                { "lfm2", "'conv_L_cache': 2, ", { "model.layers.0.conv.conv.weight BF16 64x1x3" },
                        "conv_L_cache: it is less than the tensor of this convolution has" },
                { "jamba", "'mamba_d_state': 8, 'mamba_expand': '2', ", { MAMBA("0") },
                        "mamba_expand: it is not a number" },
                { "jamba", "'mamba_d_state': 8, 'mamba_n_groups': -1, ", { MAMBA("0") }, "mamba_n_groups: " },
                { "jamba", "'mamba_d_state': 8, 'mamba_d_conv': 0.5, ", { MAMBA("0") }, "mamba_d_conv: " },
                { "granitemoehybrid",
                        "'mamba_d_state': 8, 'layer_types': ['mamba', 'mamba', 'mamba', 'mamba'], ",
                        { ATTENTION("model.layers.0.self_attn") }, "model.layers.0.self_attn.: it has keys" },
                { "granitemoehybrid",
                        "'mamba_d_state': 8, 'layer_types': ['attention', 'attention', 'mamba', 'mamba'], ",
                        { MAMBA("0") }, "model.layers.0.mamba.in_proj.weight: it is of a state" },
                { "deepseek_v3", "'kv_lora_rank': 16, 'qk_rope_head_dim': 8, ",
                        { "model.layers.0.self_attn.kv_a_proj_with_mqa.weight BF16 40x64" },
                        "kv_lora_rank: with qk_rope_head_dim, it does not fit" },
                { "deepseek_v3", "'kv_lora_rank': [32], 'qk_rope_head_dim': 8, ", { NULL },
                        "kv_lora_rank: it has fewer elements" },
                { "surely_new", "'sliding_window': [8], ", { NULL },
                        "sliding_window: it has fewer elements" },
                { "surely_new", "'sliding_window': 8, 'sliding_window_pattern': 0, ", { NULL },
                        "sliding_window_pattern: it is 0" },
                { "surely_new", "'num_kv_heads': 0, ", { "model.layers.0.attn.qkv_proj.weight BF16 128x64" },
                        "it is 0, but layers have tensors" },
                { "granitemoehybrid",
                        "'mamba_d_state': 8, 'layer_types': ['mamba', 'mamba', 'mamba', 'mamba'], ",
                        { "model.layers.0.self_attn.v_proj.weight BF16 64x64" }, "it has keys and values" },
                { "falcon_h1", "'mamba_d_state': 8, 'attn_layer_indices': [2], ",
                        { "model.layers.0.mamba.A_log F32 4",
                                "model.layers.0.self_attn.k_proj.weight BF16 64x64" },
                        "model.layers.0.self_attn.: it has keys and values" },
                { "surely_new", "'hybrid_layer_pattern': [0, 1, -1, 1], ", { NULL },
                        "hybrid_layer_pattern: it does not consist of 0 and 1" },
                { "surely_new", "'num_kv_heads': 2, 'head_dim': 8, 'num_kv_shared_layers': 4, ", { NULL },
                        "all of its layers use the keys and values of others" },
                { "jamba", "'mamba_d_state': 8, 'mamba_dt_rank': 4, 'mamba_expand': 0.5, ",
                        { "model.layers.0.mamba.conv1d.weight BF16 128x1x4" },
                        "mamba_d_conv: the tensor of this convolution has another width" },
                { "minimax_text_01", "'attn_type_list': '1', ", { NULL },
                        "attn_type_list: it is not a list" },
                { "bamba", "'attn_layer_indices': 1, ", { NULL }, "attn_layer_indices: it is not a list" },
                { "jamba", "'attn_layer_period': 0, ", { NULL }, "attn_layer_period: it is not a whole" },
                { "bailing_moe_linear", "'layer_group_size': 2.5, ", { NULL },
                        "layer_group_size: it is not" },
                { "nemotron_h", "'hybrid_override_pattern': 1, ", { NULL },
                        "hybrid_override_pattern: it is not" },
                { "llama4_text", "'attention_chunk_size': '8', ", { NULL },
                        "attention_chunk_size: it is not" },
                { "surely_new", "'num_kv_heads': 1, 'head_dim': 16, ",
                        { "model.layers.0.self_attn.qkv_proj.weight BF16 192x64" },
                        "model.layers.0.self_attn.qkv_proj.weight: it has more rows" },
                { "surely_new", "'num_kv_heads': [2], ", { NULL }, "num_kv_heads: it has fewer elements" },
                { "surely_new", "'num_kv_heads': 2, 'head_dim': 0, ", { NULL }, "keys have no length" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *config = g_strdup_printf("'model_type': '%s', 'num_hidden_layers': 4, "
                                                          "'hidden_size': 64, %s'num_attention_heads': 4",
                        cases[i].model_type, cases[i].config);
                const char *tensors[4] = { "model.layers.1.input_layernorm.weight BF16 64" };

                memcpy(tensors + 1, cases[i].tensors, sizeof cases[i].tensors - sizeof *tensors);
                check_problem(config, tensors, cases[i].words);
        }
        check_problem("'model_type': 'jamba', 'num_hidden_layers': 1, 'hidden_size': 0, 'mamba_d_state': 8",
                TENSORS(MAMBA("0")), "hidden_size: it is 0");
}

static void test_nested_parts(void)
{
        static const char *const configs[] = {
                "'model_type': 'internvl_chat', 'hidden_size': 64, 'llm_config': {'model_type': "
                "'qwen2', " FOUR "}",
                "'model_type': 'deepseek_vl_v2', 'language_config': {'model_type': 'deepseek_v2', " FOUR
                ", 'kv_lora_rank': 24, 'qk_rope_head_dim': 8}",
                "'model_type': 'qwen2_5_omni', 'talker_config': {'num_hidden_layers': 9}, 'thinker_config': "
                "{'model_type': 'thinker', 'text_config': {'model_type': 'qwen2_5_omni_text', " FOUR "}}",
        };
        static const char *const prefixes[] = { "language_model.model", "language.model", "thinker.model" };

        for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
                g_auto(Folder) folder = { 0 };
                g_autofree char *layer = g_strdup_printf(
                        "%s.layers.3.self_attn.o_proj.weight BF16 64x64", prefixes[i]);
                g_autofree char *embedding = g_strdup_printf(
                        "%s.embed_tokens.weight BF16 10x64", prefixes[i]);

                folder_read(&folder, configs[i],
                        TENSORS(layer, embedding, "talker.model.layers.8.self_attn.k_proj.weight BF16 8x8",
                                "talker.model.embed_tokens.weight BF16 10x64"));
                check_layers(folder.llm, "ffff", 0);
                g_assert_cmpuint(folder.llm->layers[3].bytes, ==, 64 * 64 * 2);
                g_assert_cmpuint(folder.llm->embedding_bytes, ==, 10 * 64 * 2);
                g_assert_cmpuint(folder.llm->other_bytes, ==, 8 * 8 * 2 + 10 * 64 * 2);
        }
}

/* Published as lists or fractions where others have a number. */
static void test_numbers_in_other_forms(void)
{
        g_auto(Folder) folder = { 0 };

        folder_read(&folder,
                "'model_type': 'hunyuan_v1_moe', 'num_hidden_layers': 2.0, 'num_experts': [8, 8], "
                "'moe_topk': [2, 2], 'moe_intermediate_size': [32, 16], 'intermediate_size': 64.0, "
                "'max_position_embeddings': 0.5, " HEADS,
                TENSORS(ATTENTION("model.layers.0.self_attn")));
        g_assert_cmpuint(folder.llm->experts, ==, 8);
        g_assert_cmpuint(folder.llm->used_experts, ==, 2);
        g_assert_cmpuint(folder.llm->feed_forward_length, ==, 64);
        g_assert_cmpuint(folder.llm->context, ==, ABSENT);
}

/* 64 x 32 parameters in the layer, whatever they are packed into. */
static void check_packed(const char *quantization, const char *const *tensors, uint64_t parameters)
{
        g_autofree char *config = g_strdup_printf(
                "'model_type': 'llama', 'num_hidden_layers': 1, " HEADS ", %s", quantization);
        g_auto(Folder) folder = { 0 };
        g_autofree char *missing = NULL;

        folder_read(&folder, config, tensors);
        g_assert_cmpuint(folder.llm->layers[0].parameters, ==, parameters);
        folder.llm->embedding_bytes = folder.llm->head_bytes = 0;
        folder.llm->vocabulary = 10;
        missing = ald_llm_missing_figure(folder.llm);
        if (parameters == ALD_LLM_ABSENT)
                g_assert_nonnull(strstr(missing, "tensor model.layers.0."));
        else
                g_assert_cmpstr(missing, ==, NULL);
}

#define UP "model.layers.0.mlp.up_proj."
#define GROUP(bits, size) "{'weights': {'num_bits': " #bits ", 'group_size': " #size "}}"

static void test_compressed_tensors(void)
{
        static const char int4[] = "'quantization_config': {'config_groups': {'group_0': " GROUP(4, 32) "}}";
        static const char mixed[] = "'quantization_config': {'config_groups': {'a': " GROUP(
                4, 32) ", 'b': " GROUP(8, 32) "}}";
        const char *const *words = TENSORS(UP "weight_packed I32 64x4", UP "weight_scale BF16 64x1",
                UP "weight_shape I64 2", UP "weight_zero_point I32 8x1", UP "weight_g_idx I32 32");

        check_packed(int4, words, 2048);
        check_packed(mixed, words, 2048);
        check_packed(mixed, TENSORS(UP "weight_packed I32 64x8", UP "weight_scale BF16 64x1"), 2048);
        check_packed(mixed, TENSORS(UP "weight_packed I32 64x4"), ALD_LLM_ABSENT);
        check_packed("'text_config': {'model_type': 'llama', 'num_hidden_layers': 1, " HEADS
                     ", 'quantization_config': "
                     "{'config_groups': {'group_0': " GROUP(4, 32) "}}}",
                words, 2048);
        /* NVFP4, with two more scales. */
        check_packed("'quantization_config': {'format': 'nvfp4-pack-quantized', 'config_groups': "
                     "{'group_0': " GROUP(4, 16) "}}",
                TENSORS(UP "weight_packed U8 64x16", UP "weight_scale F8_E4M3 64x2",
                        UP "weight_global_scale F32 1", UP "input_global_scale F32 1"),
                2048);
        check_packed("'quantization_config': {'format': 'float-quantized'}",
                TENSORS(UP "weight F8_E4M3 64x32", UP "weight_scale BF16 64x1", UP "input_scale BF16 1"),
                2048);
}

static void test_packed_bytes(void)
{
        const char *const *nvfp4 = TENSORS(UP "weight U8 64x16", UP "weight_scale F8_E4M3 64x2",
                UP "weight_scale_2 F32 1", UP "input_scale F32 1");

        /* ModelOpt states it here, or only in a file of its own. */
        check_packed(
                "'quantization_config': {'quant_method': 'modelopt', 'quant_algo': 'NVFP4'}", nvfp4, 2048);
        check_packed("'other': 1", nvfp4, 2048);
        check_packed("'quantization_config': {'quant_method': 'quark'}",
                TENSORS(UP "weight U8 64x16", UP "weight_scale U8 64x1"), 2048);
        check_packed("'quantization_config': {'quant_method': 'mxfp8'}",
                TENSORS(UP "weight U8 64x32", UP "weight_scale U8 64x1"), 2048);
        check_packed("'quantization_config': {'quant_method': 'fp8'}",
                TENSORS(UP "weight F8_E4M3 64x32", UP "weight_scale_inv F32 1x1"), 2048);
        /* bitsandbytes: a column of pairs, the elements of which may be larger; or 8 bits. */
        check_packed("'quantization_config': {'quant_method': 'bitsandbytes', 'load_in_4bit': true}",
                TENSORS(UP "weight U8 1024x1", UP "weight.absmax U8 32", UP "weight.quant_map F32 16",
                        UP "weight.nested_absmax F32 1", UP "weight.nested_quant_map F32 256",
                        UP "weight.quant_state.bitsandbytes__nf4 U8 80"),
                2048);
        check_packed("'quantization_config': {'quant_method': 'bitsandbytes', 'load_in_4bit': true}",
                TENSORS(UP "weight BF16 512x1", UP "weight.absmax F32 32"), 2048);
        check_packed("'other': 1", TENSORS(UP "weight U8 1024x1", UP "weight.absmax F32 32"), 2048);
        check_packed("'quantization_config': {'quant_method': 'bitsandbytes', 'load_in_8bit': true}",
                TENSORS(UP "weight I8 64x32", UP "SCB F32 64", UP "weight_format U8 1"), 2048);
        check_packed("'other': 1", TENSORS(UP "weight U8 64x16"), ALD_LLM_ABSENT);
        check_packed("'quantization_config': {'quant_method': 'bitnet'}",
                TENSORS(UP "weight U8 16x32", UP "weight_scale BF16 1"), 2048);
        check_packed("'quantization_config': {'quant_method': 'hqq', 'quant_config': {'weight_quant_params': "
                     "{'nbits': 4, 'group_size': 32}}}",
                TENSORS(UP "W_q U8 32x32", UP "scale F16 64x1", UP "zero F16 64x1", UP "shape I32 2",
                        UP "nbits I32 1", UP "axis I32 1"),
                2048);
        check_packed(
                "'quantization_config': {'quant_method': 'hqq'}", TENSORS(UP "W_q U8 32x32"), ALD_LLM_ABSENT);
        check_packed("'expert_dtype': 'fp4', 'num_experts': 1, 'num_experts_per_tok': 1",
                TENSORS("model.layers.0.mlp.experts.0.w1.weight I8 64x16",
                        "model.layers.0.mlp.experts.0.w1.scale F8_E8M0 64x1"),
                2048);
}

static void test_packed_words(void)
{
        check_packed("'quantization': {'group_size': 32, 'bits': 4}",
                TENSORS(UP "weight U32 64x4", UP "scales BF16 64x1", UP "biases BF16 64x1"), 2048);
        /* Some modules of MLX have bits of their own. */
        check_packed(
                "'quantization': {'group_size': 32, 'bits': 4, 'model.layers.0.mlp.up_proj': {'bits': 8, "
                "'group_size': 16}}",
                TENSORS(UP "weight U32 64x8", UP "scales BF16 64x2", UP "biases BF16 64x2"), 2048);
        check_packed("'quantization_config': {'quant_method': 'gptq', 'bits': 4}",
                TENSORS(UP "qweight I32 4x64", UP "qzeros I32 1x8", UP "scales F16 1x64", UP "g_idx I32 32"),
                2048);
        check_packed("'quantization_config': {'quant_method': 'gptq', 'bits': 4, 'dynamic': {'+:up': "
                     "{'bits': 8}}}",
                TENSORS(UP "qweight I32 8x64", UP "qzeros I32 1x16", UP "scales F16 1x64"), 2048);
        check_packed("'quantization_config': {'quant_method': 'awq', 'w_bit': 4}",
                TENSORS(UP "qweight I32 32x8", UP "qzeros I32 1x8", UP "scales F16 1x64"), 2048);
        check_packed("'other': 1", TENSORS(UP "qweight I32 32x8", UP "scales F16 1x64"), 2048);
        check_packed("'other': 1", TENSORS(UP "qweight I32 32x8"), ALD_LLM_ABSENT);
        /* Bits of EXL2 and EXL3 are a mean. */
        check_packed("'quantization_config': {'quant_method': 'exl2', 'bits': 4.25}",
                TENSORS(UP "q_weight I32 5x64", UP "q_invperm I32 32", UP "q_scale I32 1x8",
                        UP "q_scale_max F16 1", UP "q_groups I16 2"),
                2048);
        check_packed("'quantization_config': {'quant_method': 'exl3', 'bits': 3.5}",
                TENSORS(UP "trellis I16 2x4x64", UP "suh F16 32", UP "svh F16 64", UP "mcg I32 1"), 2048);
        check_packed("'other': 1", TENSORS(UP "codebooks I16 8"), ALD_LLM_ABSENT);
}

static void test_missing_figures(void)
{
        static const char *const plain = "'model_type': 'llama', 'num_hidden_layers': 1, ";
        static const struct {
                const char *config, *tensors[4], *words;
        } cases[] = {
                { HEADS, { "model.layers.0.a.weight BF16 4" }, "embed_tokens" },
                { HEADS ", 'tie_word_embeddings': false",
                        { "model.layers.0.a.weight BF16 4", "model.embed_tokens.weight BF16 10x64" },
                        "lm_head" },
                { "'num_attention_heads': 4",
                        { "model.layers.0.a.weight BF16 4", "model.embed_tokens.weight U32 10x8" },
                        "hidden_size" },
                { HEADS, { "model.layers.0.a.weight BF16 4", "model.embed_tokens.weight BF16 640" },
                        "vocab_size" },
                { HEADS, { "model.layers.0.mlp.experts.0.a BF16 4", "model.embed_tokens.weight BF16 10x64" },
                        "layer 0 has experts" },
                { HEADS, { "model.layers.0.codes I64 4", "model.embed_tokens.weight BF16 10x64" },
                        "tensor model.layers.0.codes" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *config = g_strconcat(plain, cases[i].config, NULL), *missing = NULL;
                g_auto(Folder) folder = { 0 };

                folder_read(&folder, config, cases[i].tensors);
                missing = ald_llm_missing_figure(folder.llm);
                g_assert_nonnull(missing);
                if (!strstr(missing, cases[i].words))
                        g_error("\"%s\" does not say \"%s\"", missing, cases[i].words);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/model-config/defaults", test_defaults_from_shapes);
        g_test_add_func("/model-config/heads", test_heads_from_shapes);
        g_test_add_func("/model-config/lists", test_lists_of_layers);
        g_test_add_func("/model-config/windows", test_windows_of_all_layers);
        g_test_add_func("/model-config/window-forms", test_windows_in_other_forms);
        g_test_add_func("/model-config/delta", test_delta_networks);
        g_test_add_func("/model-config/kimi-linear", test_kimi_linear);
        g_test_add_func("/model-config/mamba", test_mamba_networks);
        g_test_add_func("/model-config/networks", test_other_networks);
        g_test_add_func("/model-config/compressed", test_compressed_keys);
        g_test_add_func("/model-config/two-attentions", test_two_attentions);
        g_test_add_func("/model-config/stacked-experts", test_stacked_experts);
        g_test_add_func("/model-config/groups", test_groups_from_shapes);
        g_test_add_func("/model-config/convolutions", test_several_convolutions);
        g_test_add_func("/model-config/unused-state", test_unused_state);
        g_test_add_func("/model-config/plamo", test_plamo);
        g_test_add_func("/model-config/plain-keys", test_plain_keys_of_a_latent_class);
        g_test_add_func("/model-config/lightning", test_lightning);
        g_test_add_func("/model-config/hidden-keys", test_hidden_keys);
        g_test_add_func("/model-config/contradictions", test_contradictions);
        g_test_add_func("/model-config/nested", test_nested_parts);
        g_test_add_func("/model-config/numbers", test_numbers_in_other_forms);
        g_test_add_func("/model-config/compressed-tensors", test_compressed_tensors);
        g_test_add_func("/model-config/bytes", test_packed_bytes);
        g_test_add_func("/model-config/words", test_packed_words);
        g_test_add_func("/model-config/missing", test_missing_figures);
        return g_test_run();
}
