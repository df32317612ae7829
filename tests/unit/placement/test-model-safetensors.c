/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "placement/model/model-file.h"
#include "tests/unit/gguf-maker.h"

#define LLAMA                                                                                         \
        "'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 64, 'num_attention_heads': 4," \
        "'num_key_value_heads': 2, 'vocab_size': 10, 'max_position_embeddings': 8192"
#define LAYERS                                                                                    \
        "'model.layers.0.a.weight': {'dtype': 'BF16', 'shape': [4, 8], 'data_offsets': [0, 64]}," \
        "'model.layers.1.a.weight': {'dtype': 'F32', 'shape': [], 'data_offsets': [64, 68]}"
#define LAYERS_BYTES 68

typedef struct Fixture {
        char *folder;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        fixture->folder = model_folder_new();
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        model_folder_remove(fixture->folder);
}

/* JSON with ' for ". */
static char *quote(const char *text)
{
        return g_strdelimit(g_strdup(text), "'", '"');
}

static void write_text(const Fixture *fixture, const char *name, const char *text)
{
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL), *quoted = quote(text);

        gguf_write_bytes(path, quoted, strlen(quoted), strlen(quoted));
}

/* The keys of its header, and how many bytes follow. */
static void write_tensors(const Fixture *fixture, const char *name, const char *keys, uint64_t data)
{
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL), *quoted = quote(keys);
        g_autofree char *header = g_strdup_printf("{%s} ", quoted);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        uint64_t n = GUINT64_TO_LE(strlen(header));

        g_byte_array_append(bytes, (const uint8_t *) &n, sizeof n);
        g_byte_array_append(bytes, (const uint8_t *) header, (guint) strlen(header));
        gguf_write_bytes(path, bytes->data, bytes->len, bytes->len + data);
}

static void write_model(const Fixture *fixture, const char *config, const char *tensors, uint64_t data)
{
        g_autofree char *object = g_strdup_printf("{%s}", config);

        write_text(fixture, "config.json", object);
        write_tensors(fixture, "model.safetensors", tensors, data);
}

static AldLlm *read_folder(const Fixture *fixture)
{
        AldLlm *llm = NULL;
        g_autofree char *error = NULL;
        int r = ald_llm_read(fixture->folder, &llm, &error);

        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return llm;
}

static void check_error(const Fixture *fixture, int expected, const char *words)
{
        AldLlm *llm = NULL;
        g_autofree char *error = NULL;
        int r = ald_llm_read(fixture->folder, &llm, &error);

        g_assert_nonnull(error);
        if (!strstr(error, words))
                g_error("\"%s\" does not say \"%s\"", error, words);
        g_assert_cmpstr(g_strerror(-r), ==, g_strerror(-expected));
        g_assert_null(llm);
        g_assert_true(g_utf8_validate(error, -1, NULL));
        g_assert_cmpint(ald_llm_read(fixture->folder, &llm, NULL), ==, expected);
}

static void test_plain(Fixture *fixture, gconstpointer data)
{
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture, LLAMA ", '_name_or_path': 'some/model', 'tie_word_embeddings': false",
                "'__metadata__': {'format': 'pt'}," LAYERS ","
                "'model.embed_tokens.weight': {'shape': [10, 2], 'dtype': 'F16', 'data_offsets': [68, 108]},"
                "'model.norm.weight': {'shape': [4], 'dtype': 'F8_E4M3', 'data_offsets': [108, 112]},"
                "'vision_tower.encoder.layers.0.a': {'dtype': 'I64', 'shape': [1], 'data_offsets': [120, "
                "128]},"
                "'lm_head.weight': {'dtype': 'F4', 'shape': [8, 2], 'data_offsets': [112, 120]}",
                128);
        llm = read_folder(fixture);
        g_assert_cmpstr(llm->architecture, ==, "llama");
        g_assert_cmpstr(llm->name, ==, "some/model");
        g_assert_cmpuint(llm->n_layers, ==, 2);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 64);
        g_assert_cmpuint(llm->layers[0].token_bytes, ==, 64);
        g_assert_cmpuint(llm->layers[0].parameters, ==, 32);
        g_assert_cmpuint(llm->layers[1].bytes, ==, 4);
        g_assert_cmpuint(llm->layers[1].parameters, ==, 1);
        g_assert_cmpuint(llm->embedding_bytes, ==, 40);
        g_assert_cmpuint(llm->head_bytes, ==, 8);
        g_assert_false(llm->head_tied);
        g_assert_cmpuint(llm->other_bytes, ==, 12);
        g_assert_cmpuint(llm->draft_bytes, ==, 0);
        g_assert_cmpuint(llm->vocabulary, ==, 10);
        g_assert_cmpuint(llm->context, ==, 8192);
        g_assert_cmpuint(llm->embedding_length, ==, 64);
        g_assert_cmpuint(llm->experts, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpstr(llm->kv_problem, ==, NULL);
        g_assert_cmpuint(llm->layers[1].kv_heads, ==, 2);
        g_assert_cmpuint(llm->layers[1].key_length, ==, 16);
        g_assert_cmpuint(llm->layers[1].value_length, ==, 16);
}

static void check_tied(const Fixture *fixture, const char *stated, bool tied, uint64_t head)
{
        g_autofree char *config = g_strdup_printf("%s%s", LLAMA, stated);
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture, config,
                LAYERS
                ", 'model.embed_tokens.weight': {'dtype': 'U8', 'shape': [8], 'data_offsets': [68, 76]}",
                LAYERS_BYTES + 8);
        llm = read_folder(fixture);
        g_assert_cmpint(llm->head_tied, ==, tied);
        g_assert_cmpuint(llm->head_bytes, ==, head);
}

static void test_tied_head(Fixture *fixture, gconstpointer data)
{
        check_tied(fixture, "", true, 0);
        check_tied(fixture, ", 'tie_word_embeddings': true", true, 0);
        check_tied(fixture, ", 'tie_word_embeddings': false", false, ALD_LLM_ABSENT);
}

static void test_experts_and_drafts(Fixture *fixture, gconstpointer data)
{
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture,
                "'model_type': 'deepseek_v3', 'num_hidden_layers': 1, 'num_nextn_predict_layers': 1,"
                "'intermediate_size': [50, 90], 'moe_intermediate_size': 40, 'n_routed_experts': 4, "
                "'num_experts_per_tok': 2, 'kv_lora_rank': 512,"
                "'qk_rope_head_dim': 64, 'num_attention_heads': 128, 'num_key_value_heads': 128",
                "'model.layers.0.mlp.experts.0.w': {'dtype': 'F8_E5M2', 'shape': [8], 'data_offsets': [0, "
                "8]},"
                "'model.layers.0.mlp.experts.1.w': {'dtype': 'F8_E5M2', 'shape': [8], 'data_offsets': [8, "
                "16]},"
                "'model.layers.0.mlp.shared_experts.w': {'dtype': 'BOOL', 'shape': [8], 'data_offsets': [16, "
                "24]},"
                "'model.layers.1.embed_tokens.weight': {'dtype': 'I8', 'shape': [8], 'data_offsets': [24, "
                "32]},"
                "'mtp.a': {'dtype': 'I16', 'shape': [8], 'data_offsets': [32, 48]}",
                48);
        llm = read_folder(fixture);
        g_assert_cmpuint(llm->experts, ==, 4);
        g_assert_cmpuint(llm->used_experts, ==, 2);
        g_assert_cmpuint(llm->feed_forward_length, ==, 90);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 24);
        g_assert_cmpuint(llm->layers[0].token_bytes, ==, 16);
        g_assert_cmpuint(llm->layers[0].parameters, ==, 24);
        g_assert_cmpuint(llm->layers[0].token_parameters, ==, 16);
        g_assert_cmpuint(llm->draft_bytes, ==, 24);
        g_assert_cmpuint(llm->embedding_bytes, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(llm->layers[0].kv_heads, ==, 1);
        g_assert_cmpuint(llm->layers[0].key_length, ==, 576);
        g_assert_cmpuint(llm->layers[0].value_length, ==, 0);
}

static void check_parameters(
        const Fixture *fixture, const char *packing, const char *name, const char *type, uint64_t expected)
{
        g_autofree char *config = g_strdup_printf("%s%s", LLAMA, packing);
        g_autofree char *tensor = g_strdup_printf(
                "'model.layers.0.%s': {'dtype': '%s', 'shape': [%u], 'data_offsets': [0, 96]}", name, type,
                strchr(type, '8') ? 96 : 24);
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture, config, tensor, 96);
        llm = read_folder(fixture);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 96);
        g_assert_cmpuint(llm->layers[0].parameters, ==, expected);
}

static void test_quantized(Fixture *fixture, gconstpointer data)
{
        static const char gptq[] = ", 'quantization_config': {'quant_method': 'gptq', 'bits': 4}";
        static const char packed[] = ", 'quantization_config': {'config_groups': {'group_0': {'weights':"
                                     "{'num_bits': 8}}}}";
        static const char pairs[] = ", 'quantization_config': {'load_in_4bit': true}";

        check_parameters(fixture, gptq, "q_proj.qweight", "I32", 192);
        check_parameters(fixture, gptq, "q_proj.qzeros", "I32", 0);
        check_parameters(fixture, gptq, "q_proj.scales", "F32", 0);
        check_parameters(fixture, gptq, "q_proj.other", "I32", ALD_LLM_ABSENT);
        check_parameters(fixture, "", "q_proj.qweight", "I32", ALD_LLM_ABSENT);
        check_parameters(fixture, packed, "q_proj.weight_packed", "I32", 96);
        check_parameters(fixture, pairs, "q_proj.weight", "U8", 192);
        check_parameters(fixture, pairs, "q_proj.weight.quant_state.bitsandbytes__nf4", "U8", 0);
        check_parameters(fixture, "", "q_proj.weight", "U8", ALD_LLM_ABSENT);
        check_parameters(fixture, "", "q_proj.weight", "I8", 96);
        check_parameters(fixture, ", 'expert_dtype': 'fp4'", "q_proj.weight", "I8", ALD_LLM_ABSENT);
        check_parameters(fixture, "", "mlp.experts.down_proj_scales", "U8", 0);
}

/* Of a mixture of experts, each byte of which has two parameters. */
static void test_pairs_of_mxfp4(Fixture *fixture, gconstpointer data)
{
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture,
                "'model_type': 'gpt_oss', 'num_hidden_layers': 2, 'num_attention_heads': 64,"
                "'num_key_value_heads': 8, 'head_dim': 64, 'hidden_size': 2880, 'sliding_window': 128,"
                "'num_local_experts': 32, 'num_experts_per_tok': 4,"
                "'layer_types': ['sliding_attention', 'full_attention']",
                "'model.layers.0.mlp.experts.down_proj_blocks':"
                "{'dtype': 'U8', 'shape': [32, 2], 'data_offsets': [0, 64]}",
                64);
        llm = read_folder(fixture);
        g_assert_cmpuint(llm->layers[0].parameters, ==, 128);
        g_assert_cmpuint(llm->layers[0].token_parameters, ==, 16);
        g_assert_cmpuint(llm->layers[0].token_bytes, ==, 8);
        g_assert_cmpuint(llm->layers[0].window, ==, 128);
        g_assert_cmpuint(llm->layers[1].window, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(llm->layers[1].key_length, ==, 64);
}

static void test_part_for_text(Fixture *fixture, gconstpointer data)
{
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture,
                "'model_type': 'mistral3', 'vision_config': {'num_hidden_layers': 24},"
                "'text_config': {'model_type': 'mistral', 'num_hidden_layers': 1, 'hidden_size': 64,"
                "'num_attention_heads': 4, 'num_key_value_heads': 2, 'head_dim': 32,"
                "'sliding_window': null, 'tie_word_embeddings': true}",
                "'language_model.model.layers.0.a': {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4]},"
                "'language_model.model.embed_tokens.weight':"
                "{'dtype': 'F32', 'shape': [1], 'data_offsets': [4, 8]},"
                "'language_model.lm_head.weight': {'dtype': 'F32', 'shape': [1], 'data_offsets': [8, 12]}",
                12);
        llm = read_folder(fixture);
        g_assert_cmpstr(llm->architecture, ==, "mistral");
        g_assert_cmpuint(llm->n_layers, ==, 1);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 4);
        g_assert_cmpuint(llm->layers[0].key_length, ==, 32);
        /* The copy in the file is not loaded. */
        g_assert_true(llm->head_tied);
        g_assert_cmpuint(llm->head_bytes, ==, 0);
        g_assert_null(llm->name);
}

static void check_kv_problem(const Fixture *fixture, const char *config, const char *words)
{
        g_autofree char *all = g_strdup_printf("'num_hidden_layers': 2, %s", config);
        g_autoptr(AldLlm) llm = NULL;

        write_model(fixture, all, LAYERS, LAYERS_BYTES);
        llm = read_folder(fixture);
        if (!words)
                g_assert_cmpstr(llm->kv_problem, ==, NULL);
        else if (!llm->kv_problem || !strstr(llm->kv_problem, words))
                g_error("\"%s\" does not say \"%s\"", llm->kv_problem, words);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 64);
}

#define HEADS "'hidden_size': 64, 'num_attention_heads': 4, 'num_key_value_heads': 2"

static void test_unknown_kv(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *config, *words;
        } cases[] = {
                { "'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4", NULL },
                { "'model_type': 'mistral', 'hidden_size': 64, 'num_attention_heads': 4",
                        "num_key_value_heads" },
                { "'model_type': 'gemma2', " HEADS, "head_dim" },
                { "'model_type': 'gemma2', 'head_dim': 256, " HEADS, NULL },
                { "'model_type': 'llava', 'text_config': {'model_type': 'llama', 'num_hidden_layers': "
                  "2, " HEADS "}",
                        "head_dim" },
                { "'model_type': 'llama', 'state_size': 16", "state_size" },
                { "'model_type': 'qwen2', 'sliding_window': 4096, 'use_sliding_window': false," HEADS, NULL },
                { "'model_type': 'qwen2', 'sliding_window': 4096, 'use_sliding_window': true," HEADS, NULL },
                { "'model_type': 'qwen2', 'sliding_window': 4096, 'layer_types':"
                  "['full_attention', 'full_attention']," HEADS,
                        NULL },
                { "'model_type': 'llama', 'layer_types': ['full_attention', 'linear_attention']," HEADS,
                        "layer_types" },
                { "'model_type': 'llama', 'layer_types': ['full_attention']," HEADS, "fewer elements" },
                { "'model_type': 'llama', 'layer_types': ['sliding_attention', 'full_attention']," HEADS,
                        NULL },
                { "'model_type': 'deepseek_v3', " HEADS, "head_dim" },
                { "'model_type': 'deepseek_v3', 'head_dim': 64, " HEADS, "compressed" },
                { "'model_type': 'deepseek_v3', 'kv_lora_rank': 512, " HEADS, "qk_rope_head_dim" },
                { "'model_type': 'deepseek_v3', 'kv_lora_rank': 512, 'qk_rope_head_dim': 64, 'index_topk': "
                  "9," HEADS,
                        "index_topk" },
                { "'model_type': 'llama', 'is_encoder_decoder': true, " HEADS, "is_encoder_decoder" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check_kv_problem(fixture, cases[i].config, cases[i].words);
}

static void test_shards(Fixture *fixture, gconstpointer data)
{
        g_autofree char *second = g_build_filename(fixture->folder, "b.safetensors", NULL);
        g_autoptr(AldLlm) llm = NULL;

        write_text(fixture, "config.json", "{" LLAMA "}");
        write_text(fixture, "model.safetensors.index.json",
                "{'metadata': {'total_size': 68}, 'weight_map': {'model.layers.1.b': 'b.safetensors',"
                "'model.layers.0.a.weight': 'a.safetensors', 'model.layers.1.a.weight': 'a.safetensors'}}");
        write_tensors(fixture, "a.safetensors", LAYERS, LAYERS_BYTES);
        check_error(fixture, -ENOENT, "b.safetensors: No such file");
        write_tensors(fixture, "b.safetensors",
                "'model.layers.1.b': {'dtype': 'F64', 'shape': [2], 'data_offsets': [0, 16]}", 16);
        llm = read_folder(fixture);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 64);
        g_assert_cmpuint(llm->layers[1].bytes, ==, 20);
        write_tensors(fixture, "b.safetensors", "", 0);
        check_error(fixture, -EBADMSG, "names 3 tensors, but its files have 2");
        write_tensors(fixture, "b.safetensors", LAYERS, LAYERS_BYTES);
        check_error(fixture, -EBADMSG, "there are two tensors model.layers.");
        g_assert_cmpint(g_remove(second), ==, 0);
}

static void test_bad_indexes(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *text;
                int error;
                const char *words;
        } cases[] = {
                { "", -EBADMSG, "not an object" },
                { "[]", -EBADMSG, "not an object" },
                { "{}", -EBADMSG, "names no file" },
                { "{'weight_map': {}}", -EBADMSG, "names no file" },
                { "{'weight_map': []}", -EBADMSG, "weight_map is not an object" },
                { "{'weight_map': {'a': 1}}", -EBADMSG, "a string is missing" },
                { "{'weight_map': {'a': '../a.safetensors'}}", -EBADMSG, "same folder" },
                { "{'weight_map': {'a': '/etc/passwd'}}", -EBADMSG, "same folder" },
                { "{'weight_map': {'a': '..'}}", -EBADMSG, "same folder" },
                { "{'weight_map': {'a': ''}}", -EBADMSG, "same folder" },
                { "{'weight_map': {'a': 'a\\u001bb'}}", -EBADMSG, "same folder" },
                { "{'weight_map': {'a': 'b'}, 'weight_map': {}}", -EBADMSG, "occurs twice" },
                { "{'weight_map': {'a': 'b'}", -EBADMSG, "a comma or an end" },
                { "{'weight_map': {'a': 'b'}} x", -EBADMSG, "more than one value" },
                { "{'weight_map': {'a': 'b'}, 'c': [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}", -EBADMSG,
                        "too deep" },
        };

        write_text(fixture, "config.json", "{" LLAMA "}");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                write_text(fixture, "model.safetensors.index.json", cases[i].text);
                check_error(fixture, cases[i].error, cases[i].words);
        }
}

static void test_bad_configs(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *config;
                int error;
                const char *words;
        } cases[] = {
                { "", -EBADMSG, "config.json: line 1" },
                { "[]", -EBADMSG, "model_type is missing" },
                { "{'model_type': 'llama', 'model_type': 'llama'}", -EBADMSG, "duplicate" },
                { "{'model_type': 1}", -EBADMSG, "model_type is missing" },
                { "{'model_type': 'a\\nb'}", -EBADMSG, "model_type is missing" },
                { "{'model_type': 'llama', 'num_hidden_layers': 0}", -EBADMSG, "num_hidden_layers is 0" },
                /* As GGUF files with too many layers are refused. */
                { "{'model_type': 'llama', 'num_hidden_layers': 1025}", -E2BIG,
                        "1025 layers; at most 1024 can be read" },
                { "{'model_type': 'llama', 'num_hidden_layers': 2, 'num_nextn_predict_layers': 1026}", -E2BIG,
                        "1026 layers; at most 1024 can be read" },
                { "{'model_type': 'llama', 'num_hidden_layers': -1}", -EBADMSG, "num_hidden_layers is not" },
                { "{'model_type': 'llama', 'n_layer': 1.5}", -EBADMSG, "n_layer is not a whole number" },
                { "{'model_type': 'llama', 'n_layers': '2'}", -EBADMSG, "n_layers is not a whole number" },
                { "{'model_type': 'llama', 'num_layers': 99999999999}", -EBADMSG, "num_layers is not" },
                { "{'model_type': 'llama', 'num_layers': 1, 'num_experts': 2, 'moe_k': 3}", -EBADMSG,
                        "it uses 3 of 2 experts" },
                { "{'model_type': 'llama', 'num_layers': 2, 'head_dim': []}", -EBADMSG, "head_dim is not" },
                { "{'model_type': 'llama', 'num_layers': 2, 'head_dim': [64, 'x']}", -EBADMSG,
                        "head_dim is not" },
                { "{'model_type': 'llama', 'num_layers': 2, 'head_dim': 64.5}", -EBADMSG, "head_dim is not" },
                { "{'model_type': 'llama', 'num_nextn_predict_layers': 2}", -EBADMSG, "are of 2 layers" },
        };

        write_tensors(fixture, "model.safetensors", LAYERS, LAYERS_BYTES);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                write_text(fixture, "config.json", cases[i].config);
                check_error(fixture, cases[i].error, cases[i].words);
        }
}

#define ONE(dtype, shape, offsets) \
        "'a': {'dtype': '" dtype "', 'shape': " shape ", 'data_offsets': " offsets "}"

static void test_bad_headers(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *header;
                int error;
                const char *words;
        } cases[] = {
                { "", -EBADMSG, "its tensors have 0 bytes, but 8 follow" },
                { ONE("F32", "[2]", "[0, 8]"), -EBADMSG, "no tensors of layers" },
                { ONE("F32", "[2]", "[0, 9]"), -EBADMSG, "not inside of the file" },
                { ONE("F32", "[2]", "[8, 0]"), -EBADMSG, "not inside of the file" },
                { ONE("F32", "[1]", "[0, 8]"), -EBADMSG, "do not fit" },
                { ONE("F32", "[1]", "[0, 4]"), -EBADMSG, "its tensors have 4 bytes" },
                { ONE("F32", "[-1]", "[0, 8]"), -EBADMSG, "tensor a: not a whole number" },
                { ONE("F32", "[1.0]", "[0, 8]"), -EBADMSG, "not a whole number" },
                { ONE("F32", "['1']", "[0, 8]"), -EBADMSG, "not a whole number" },
                { ONE("F32", "[9223372036854775808]", "[0, 8]"), -EBADMSG, "too big" },
                { ONE("F32", "[4294967296, 4294967296]", "[0, 8]"), -EBADMSG, "more elements" },
                { ONE("F64", "[4611686018427387904]", "[0, 8]"), -EBADMSG, "too many" },
                { ONE("F4", "[3]", "[0, 8]"), -EBADMSG, "whole bytes" },
                { ONE("F32", "2", "[0, 8]"), -EBADMSG, "not a list" },
                { ONE("F32", "[2]", "[0]"), -EBADMSG, "less than two" },
                { ONE("F32", "[2]", "[0, 8, 8]"), -EBADMSG, "more than two" },
                { ONE("F99", "[2]", "[0, 8]"), -EOPNOTSUPP, "the type F99 is not known" },
                { ONE("", "[2]", "[0, 8]"), -EBADMSG, "not the name of a type" },
                { ONE("ABCDEFGHIJKLMNOP", "[2]", "[0, 8]"), -EBADMSG, "not the name of a type" },
                { "'a': {'dtype': 'F32', 'shape': [2]}", -EBADMSG, "is missing" },
                { "'a': {'dtype': 'F32', 'dtype': 'F32'}", -EBADMSG, "unknown or stated twice" },
                { "'a': {'other': 1}", -EBADMSG, "unknown or stated twice" },
                { "'a': 1", -EBADMSG, "not an object" },
                { "'\\u00e4': 1", -EBADMSG, "printable ASCII" },
                { "'': 1", -EBADMSG, "printable ASCII" },
                { "'model.layers.2.a': {'dtype': 'F64', 'shape': [1], 'data_offsets': [0, 8]}", -EBADMSG,
                        "a layer that the model does not have" },
                { "'model.layers.0.a': {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4]},"
                  "'model.layers.0.a': {'dtype': 'F32', 'shape': [1], 'data_offsets': [4, 8]}",
                        -EBADMSG, "there are two tensors model.layers.0.a" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                write_model(fixture, LLAMA, cases[i].header, 8);
                check_error(fixture, cases[i].error, cases[i].words);
        }
}

static void test_limit_of_the_header(Fixture *fixture, gconstpointer data)
{
        static const uint64_t lengths[] = { 16 * 1024 * 1024 + 1, UINT64_MAX, 17 };
        g_autofree char *path = g_build_filename(fixture->folder, "model.safetensors", NULL);

        write_text(fixture, "config.json", "{" LLAMA "}");
        for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
                uint64_t n = GUINT64_TO_LE(lengths[i]);

                gguf_write_bytes(path, &n, sizeof n, 24);
                check_error(fixture, lengths[i] == 17 ? -EBADMSG : -E2BIG, "header");
        }
}

static void test_each_prefix(Fixture *fixture, gconstpointer data)
{
        g_autofree char *config = g_build_filename(fixture->folder, "config.json", NULL);
        g_autofree char *file = g_build_filename(fixture->folder, "model.safetensors", NULL);
        g_autofree char *text = NULL, *bytes = NULL;
        gsize n_text = 0, n_bytes = 0;

        write_model(fixture, LLAMA, LAYERS, LAYERS_BYTES);
        g_assert_true(g_file_get_contents(config, &text, &n_text, NULL));
        g_assert_true(g_file_get_contents(file, &bytes, &n_bytes, NULL));
        for (gsize n = 0; n < n_bytes; n++) {
                gguf_write_bytes(file, bytes, n, n);
                check_error(fixture, -EBADMSG, file);
        }
        gguf_write_bytes(file, bytes, n_bytes, n_bytes);
        for (gsize n = 0; n < n_text; n++) {
                gguf_write_bytes(config, text, n, n);
                check_error(fixture, -EBADMSG, config);
        }
}

/* It says little without the others. */
static void test_part_of_a_model(Fixture *fixture, gconstpointer data)
{
        static const char *const names[] = { "model.safetensors", "config.json" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(fixture->folder, names[i], NULL), *error = NULL;
                AldLlm *llm = NULL;

                write_text(fixture, names[i], "{}");
                g_assert_cmpint(ald_llm_read(path, &llm, &error), ==, -EINVAL);
                g_assert_nonnull(strstr(error, "give its folder"));
        }
}

static void test_missing_files(Fixture *fixture, gconstpointer data)
{
        check_error(fixture, -ENOENT, "config.json: No such file");
        write_text(fixture, "config.json", "{" LLAMA "}");
        check_error(fixture, -ENOENT, "model.safetensors: No such file");
}

#define TEST(name, function) \
        g_test_add("/model-safetensors/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        TEST("plain", test_plain);
        TEST("tied-head", test_tied_head);
        TEST("experts", test_experts_and_drafts);
        TEST("quantized", test_quantized);
        TEST("mxfp4", test_pairs_of_mxfp4);
        TEST("part-for-text", test_part_for_text);
        TEST("unknown-kv", test_unknown_kv);
        TEST("shards", test_shards);
        TEST("bad-indexes", test_bad_indexes);
        TEST("bad-configs", test_bad_configs);
        TEST("bad-headers", test_bad_headers);
        TEST("limit-of-the-header", test_limit_of_the_header);
        TEST("each-prefix", test_each_prefix);
        TEST("part-of-a-model", test_part_of_a_model);
        TEST("missing-files", test_missing_files);
        return g_test_run();
}
