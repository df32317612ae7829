/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-config.h"
#include "placement/model/kv-rules.h"
#include "record/json.h"

#define CONFIG_MAX (1024u * 1024)
#define ARCHITECTURE_MAX 255u

/* Families of models use different keys for the same thing. */
static const char *const layers_keys[] = { "num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL };
static const char *const draft_keys[] = { "num_nextn_predict_layers", NULL };
static const char *const embedding_keys[] = { "hidden_size", "n_embd", "d_model", NULL };
static const char *const context_keys[] = { "max_position_embeddings", "n_positions", "max_seq_len",
        "seq_length", "n_ctx", NULL };
static const char *const feed_forward_keys[] = { "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size",
        NULL };
static const char *const expert_feed_forward_keys[] = { "moe_intermediate_size", NULL };
static const char *const vocabulary_keys[] = { "vocab_size", NULL };
static const char *const experts_keys[] = { "num_local_experts", "num_experts", "n_routed_experts",
        "moe_num_experts", NULL };
static const char *const used_keys[] = { "num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk",
        NULL };
static const char *const heads_keys[] = { "num_attention_heads", "n_head", "n_heads", NULL };
static const char *const kv_heads_keys[] = { "num_key_value_heads", "num_kv_heads", "n_head_kv", NULL };
static const char *const length_keys[] = { "head_dim", "kv_channels", NULL };
static const char *const window_keys[] = { "sliding_window", NULL };
static const char *const period_keys[] = { "sliding_window_pattern", NULL };
static const char *const latent_keys[] = { "kv_lora_rank", NULL };
static const char *const rope_keys[] = { "qk_rope_head_dim", NULL };
static const char *const bits_keys[] = { "bits", "w_bit", "num_bits", NULL };

/* Models with such keys keep something else than keys and values, or more. */
static const char *const odd_keys[] = { "attn_config", "attention_chunk_size", "compress_ratios",
        "conv_L_cache", "full_attention_interval", "global_head_dim", "hybrid_override_pattern", "index_topk",
        "layers_block_type", "linear_attn_config", "linear_num_key_heads", "lru_width", "mamba_d_state",
        "multi_query", "num_kv_shared_layers", "ssm_cfg", "state_size", "cross_attention_layers" };

/* Without the key, each head has keys and values of its own. */
static const char *const own_heads[] = { "baichuan", "bloom", "falcon", "gpt2", "gpt_neox", "llama", "olmo",
        "orion", "phi", "qwen", "xverse", NULL };
/* Without the key, heads are as wide as the model. */
static const char *const derived_length[] = { "arcee", "baichuan", "bloom", "cohere", "deepseek", "exaone",
        "falcon", "gpt2", "gpt_neox", "granite", "granitemoe", "internlm2", "llama", "minicpm", "mistral",
        "mixtral", "olmo", "olmo2", "olmoe", "orion", "phi", "phi3", "qwen", "qwen2", "qwen2_moe", "qwen2_vl",
        "smollm3", "stablelm", "starcoder2", "xverse", NULL };

typedef struct Reader {
        const char *path;
        json_t *top, *text; /* borrowed; the same unless the model also handles more than text */
        char **ret_error;
} Reader;

void ald_hf_config_clear(AldHfConfig *config)
{
        g_clear_pointer(&config->llm, ald_llm_free);
}

int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error)
{
        g_auto(AldFileHead) head = ALD_FILE_HEAD_CLOSED;
        g_autofree char *text = NULL;
        int r;

        r = ald_file_head_open(&head, path, max, ret_error);
        if (r < 0)
                return r;
        if (head.size > max)
                return ald_file_fail(ret_error, -E2BIG, path,
                        "it has %" PRIu64 " bytes; at most %zu can be read", head.size, max);
        text = g_malloc((size_t) head.size + 1);
        r = ald_file_head_read(&head, text, (size_t) head.size);
        if (r < 0)
                return r;
        text[head.size] = '\0';
        *ret_n = (size_t) head.size;
        *ret = g_steal_pointer(&text);
        return 0;
}

static json_t *find(json_t *object, const char *const *keys, const char **ret_key)
{
        for (; *keys; keys++) {
                json_t *value = json_object_get(object, *keys);

                *ret_key = *keys;
                if (value && !json_is_null(value))
                        return value;
        }
        return NULL;
}

/* Leaves *ret alone if the file does not state the number. */
static int take(const Reader *reader, json_t *object, const char *const *keys, uint32_t *ret)
{
        const char *key = NULL;
        json_t *value = find(object, keys, &key);

        if (!value)
                return 0;
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX)
                return ald_file_fail(reader->ret_error, -EBADMSG, reader->path,
                        "%s is not a whole number from 0 to 2147483647", key);
        *ret = (uint32_t) json_integer_value(value);
        return 0;
}

static bool is_true(json_t *object, const char *key)
{
        return json_is_true(json_object_get(object, key));
}

static const char *find_name(json_t *object, const char *key)
{
        const char *name = json_string_value(json_object_get(object, key));
        size_t n = name ? strlen(name) : 0;

        return n <= ARCHITECTURE_MAX && ald_file_name_is_plain(name, n) ? name : NULL;
}

static int take_layers(const Reader *reader, AldHfConfig *config)
{
        const char *architecture = find_name(reader->text, "model_type"), *name;
        uint32_t layers = 0;
        int r;

        if (!architecture)
                architecture = find_name(reader->top, "model_type");
        if (!architecture)
                return ald_file_fail(reader->ret_error, -EBADMSG, reader->path,
                        "model_type is missing, too long or not printable");
        r = take(reader, reader->text, layers_keys, &layers);
        if (r >= 0)
                r = take(reader, reader->text, draft_keys, &config->draft_layers);
        if (r < 0)
                return r;
        if (layers == 0 || layers > ALD_LLM_LAYERS_MAX || config->draft_layers > ALD_LLM_LAYERS_MAX)
                return ald_file_fail(reader->ret_error, -EBADMSG, reader->path,
                        "num_hidden_layers is missing, or not from 1 to %u", ALD_LLM_LAYERS_MAX);
        config->llm = ald_llm_new(layers);
        config->llm->architecture = g_strdup(architecture);
        name = find_name(reader->top, "_name_or_path");
        config->llm->name = g_strdup(name);
        return 0;
}

static int take_experts(const Reader *reader, AldLlm *llm)
{
        uint32_t experts = 0, used = ALD_LLM_ABSENT_COUNT;
        int r = take(reader, reader->text, experts_keys, &experts);

        if (r >= 0)
                r = take(reader, reader->text, used_keys, &used);
        if (r < 0 || experts == 0)
                return r;
        if (used != ALD_LLM_ABSENT_COUNT && (used > experts || used == 0))
                return ald_file_fail(reader->ret_error, -EBADMSG, reader->path,
                        "%s: it uses %" PRIu32 " of %" PRIu32 " experts", used_keys[0], used, experts);
        llm->experts = experts;
        llm->used_experts = used;
        return 0;
}

/* The most, where there is one number for each layer. Absent if it is anything else, as little depends on it.
 */
static uint32_t widest(const Reader *reader, const char *const *keys)
{
        const char *key = NULL;
        json_t *value = find(reader->text, keys, &key), *one;
        json_int_t most = json_integer_value(value);
        size_t i;

        json_array_foreach(value, i, one)
                most = MAX(most, json_integer_value(one));
        return most > 0 && most <= INT32_MAX ? (uint32_t) most : ALD_LLM_ABSENT_COUNT;
}

static int take_sizes(const Reader *reader, AldLlm *llm)
{
        int r = take(reader, reader->text, embedding_keys, &llm->embedding_length);

        if (r >= 0)
                r = take(reader, reader->text, context_keys, &llm->context);
        if (r >= 0)
                r = take(reader, reader->text, vocabulary_keys, &llm->vocabulary);
        if (r >= 0)
                r = take_experts(reader, llm);
        if (r >= 0)
                ald_llm_set_feed_forward(
                        llm, widest(reader, feed_forward_keys), widest(reader, expert_feed_forward_keys));
        return r;
}

/* GPTQ and AWQ, bitsandbytes, and compressed-tensors state it in different ways. */
static int take_packing(const Reader *reader, AldHfConfig *config)
{
        json_t *packing = json_object_get(reader->top, "quantization_config");
        json_t *groups = json_object_get(packing, "config_groups");
        json_t *weights = json_object_get(json_object_get(groups, "group_0"), "weights");
        uint32_t bits = ALD_LLM_ABSENT_COUNT;
        int r;

        config->odd_bytes = json_object_get(reader->text, "expert_dtype") != NULL;
        if (is_true(packing, "load_in_4bit"))
                bits = 4;
        r = take(reader, json_object_size(groups) == 1 ? weights : packing, bits_keys, &bits);
        config->packed_bits = bits > 0 && bits <= 32 ? bits : ALD_LLM_ABSENT_COUNT;
        return r;
}

static void refuse_kv(AldAttention *attention, const char *key, const char *reason)
{
        if (!attention->problem)
                attention->problem = g_strdup_printf("%s: %s", key, reason);
}

static void find_odd(const Reader *reader, AldAttention *attention)
{
        for (size_t i = 0; i < G_N_ELEMENTS(odd_keys); i++) {
                json_t *value = json_object_get(reader->text, odd_keys[i]);

                if (value && !json_is_null(value) && !json_is_false(value) &&
                        !(json_is_integer(value) && json_integer_value(value) == 0))
                        refuse_kv(attention, odd_keys[i], "it is not known what layers of this kind keep");
        }
        if (is_true(reader->text, "is_encoder_decoder"))
                refuse_kv(attention, "is_encoder_decoder", "it is not known what such layers keep");
}

/* Newer files list what each layer attends to. */
static void take_kinds(const Reader *reader, uint32_t n_layers, AldAttention *attention)
{
        json_t *kinds = json_object_get(reader->text, "layer_types");

        if (!kinds || json_is_null(kinds))
                return;
        if (json_array_size(kinds) < n_layers) {
                refuse_kv(attention, "layer_types", "it has fewer elements than the model has layers");
                return;
        }
        attention->windowed = g_new0(bool, n_layers);
        for (uint32_t i = 0; i < n_layers; i++) {
                const char *kind = json_string_value(json_array_get(kinds, i));

                attention->windowed[i] = g_strcmp0(kind, "sliding_attention") == 0;
                if (!attention->windowed[i] && g_strcmp0(kind, "full_attention") != 0)
                        refuse_kv(attention, "layer_types", "it has a kind of layer that is not known");
        }
        for (uint32_t i = 0; i < n_layers; i++)
                if (attention->windowed[i])
                        return;
        /* No layer has a window, so its size does not matter. */
        g_clear_pointer(&attention->windowed, g_free);
        attention->window = 0;
}

/* A missing key means the default of a class in transformers, which only some classes derive from other keys.
 * A text_config omits all defaults. */
static void check_defaults(const Reader *reader, const AldLlm *llm, AldAttention *attention)
{
        bool is_part = reader->text != reader->top;

        if (attention->latent)
                return;
        if (attention->kv_heads[0] == ALD_LLM_ABSENT_COUNT &&
                (is_part || !g_strv_contains(own_heads, llm->architecture)))
                refuse_kv(attention, kv_heads_keys[0], "it is not stated");
        if (attention->key_length == ALD_LLM_ABSENT_COUNT &&
                (is_part || !g_strv_contains(derived_length, llm->architecture)))
                refuse_kv(attention, length_keys[0], "it is not stated");
}

static int take_lengths(const Reader *reader, AldAttention *attention)
{
        uint32_t latent = 0, rope = ALD_LLM_ABSENT_COUNT, length = ALD_LLM_ABSENT_COUNT;
        int r = take(reader, reader->text, latent_keys, &latent);

        if (r >= 0)
                r = take(reader, reader->text, rope_keys, &rope);
        if (r >= 0)
                r = take(reader, reader->text, length_keys, &length);
        if (r < 0)
                return r;
        if (latent > 0 && rope == ALD_LLM_ABSENT_COUNT)
                refuse_kv(attention, rope_keys[0], "it is not stated");
        attention->latent = latent > 0;
        attention->key_length = latent > 0 ? latent + rope : length;
        attention->value_length = length;
        return 0;
}

static int take_heads(const Reader *reader, uint32_t n_layers, AldAttention *attention)
{
        uint32_t heads = ALD_LLM_ABSENT_COUNT, kv_heads = ALD_LLM_ABSENT_COUNT;
        int r = take(reader, reader->text, heads_keys, &heads);

        if (r >= 0)
                r = take(reader, reader->text, kv_heads_keys, &kv_heads);
        for (uint32_t i = 0; i < n_layers; i++) {
                attention->heads[i] = heads;
                attention->kv_heads[i] = attention->latent ? 1 : kv_heads;
        }
        return r;
}

static int take_attention(const Reader *reader, AldLlm *llm)
{
        g_auto(AldAttention) attention = { 0 };
        int r;

        ald_attention_init(&attention, llm->n_layers);
        find_odd(reader, &attention);
        r = take_lengths(reader, &attention);
        if (r >= 0)
                r = take_heads(reader, llm->n_layers, &attention);
        if (r >= 0)
                r = take(reader, reader->text, window_keys, &attention.window);
        if (r >= 0)
                r = take(reader, reader->text, period_keys, &attention.period);
        if (r < 0)
                return r;
        if (json_is_false(json_object_get(reader->text, "use_sliding_window")))
                attention.window = 0;
        take_kinds(reader, llm->n_layers, &attention);
        check_defaults(reader, llm, &attention);
        ald_kv_rules_apply(llm, &attention);
        return 0;
}

static void take_tied(const Reader *reader, AldHfConfig *config)
{
        json_t *tied = json_object_get(reader->text, "tie_word_embeddings");

        if (!json_is_boolean(tied))
                tied = json_object_get(reader->top, "tie_word_embeddings");
        config->tied = json_is_true(tied);
        config->untied = json_is_false(tied);
}

static int take_all(const Reader *reader, AldHfConfig *config)
{
        int r = take_layers(reader, config);

        if (r >= 0)
                r = take_sizes(reader, config->llm);
        if (r >= 0)
                r = take_packing(reader, config);
        if (r >= 0)
                r = take_attention(reader, config->llm);
        take_tied(reader, config);
        return r;
}

int ald_hf_config_read(const char *path, AldHfConfig *ret, char **ret_error)
{
        g_auto(AldHfConfig) config = { .packed_bits = ALD_LLM_ABSENT_COUNT };
        g_autofree char *text = NULL, *reason = NULL;
        json_auto_t *json = NULL;
        Reader reader = { .path = path, .ret_error = ret_error };
        size_t n = 0;
        int r;

        r = ald_text_file_read(path, CONFIG_MAX, &text, &n, ret_error);
        if (r < 0)
                return r;
        r = ald_json_load(text, n, CONFIG_MAX, &json, &reason);
        if (r < 0)
                return ald_file_fail(ret_error, r, path, "%s", reason);
        reader.top = json;
        reader.text = json_object_get(json, "text_config");
        if (!json_is_object(reader.text))
                reader.text = json;
        r = take_all(&reader, &config);
        if (r < 0)
                return r;
        *ret = config;
        config.llm = NULL;
        return 0;
}
