/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/model/hf-attention.h"
#include "placement/model/hf-layers.h"
#include "placement/model/hf-state.h"

#define ABSENT ALD_LLM_ABSENT_COUNT

static const char *const heads_keys[] = { "num_attention_heads", "n_head", "n_heads", "num_query_heads",
        NULL };
static const char *const kv_heads_keys[] = { "num_key_value_heads", "num_kv_heads", "n_head_kv",
        "num_attention_groups", "multi_query_group_num", NULL };
static const char *const length_keys[] = { "head_dim", "kv_channels", "attention_head_dim",
        "hidden_size_per_head", NULL };
static const char *const window_keys[] = { "sliding_window", "sliding_window_size", "attention_window_size",
        NULL };
static const char *const latent_keys[] = { "kv_lora_rank", NULL };
static const char *const rope_keys[] = { "qk_rope_head_dim", NULL };
static const char *const nope_keys[] = { "qk_nope_head_dim", NULL };
static const char *const value_keys[] = { "v_head_dim", NULL };
static const char *const index_keys[] = { "index_head_dim", NULL };
static const char *const sharing_keys[] = { "num_kv_shared_layers", NULL };
static const char *const group_keys[] = { "kv_n_heads", NULL };

/* Models with these keys keep something else than keys and values, or more. */
static const char *const odd_keys[] = { "compress_ratios", "cross_attention_layers", "lru_width", "ssm_cfg" };

/* Architectures in which each head has its own keys and values if the key is missing. */
static const char *const own_heads[] = { "baichuan", "bloom", "dbrx", "falcon", "gpt2", "gpt_bigcode",
        "gpt_neox", "llama", "mpt", "olmo", "orion", "phi", "qwen", "xverse", NULL };
/* Architectures in which all heads together are as wide as the model if the key is missing. */
static const char *const derived_length[] = { "arcee", "baichuan", "bitnet", "bloom", "cohere", "dbrx",
        "deepseek", "exaone", "falcon", "gpt2", "gpt_bigcode", "gpt_neox", "granite", "granitemoe",
        "internlm2", "llama", "minicpm", "mistral", "mixtral", "mpt", "olmo", "olmo2", "olmoe", "orion",
        "phi", "phi3", "qwen", "qwen2", "qwen2_moe", "qwen2_vl", "smollm3", "stablelm", "starcoder2",
        "xverse", NULL };
/* Architectures whose keys are compressed in the file, but kept expanded by engines. */
static const char *const expanded[] = { "minicpm3", "plm", NULL };

typedef struct Taking {
        const AldHfKeys *keys;
        json_t *text;
        const AldLayerSigns *signs;
        AldLlm *llm;
        AldAttention attention;
        AldHfLayer *layers;
        bool are_listed; /* config.json lists the kinds of the layers */
        char **ret_error;
} Taking;

static void taking_clear(Taking *taking)
{
        ald_attention_clear(&taking->attention);
        g_free(taking->layers);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Taking, taking_clear)

/* Reads a number, or the greatest element of a list with one for each layer. */
static int take_number(Taking *taking, const char *const *names, uint32_t *ret)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(taking->text, names, &name);

        if (json_is_array(value) && json_array_size(value) > 0 &&
                json_array_size(value) < taking->llm->n_layers)
                ald_attention_note_problem(
                        &taking->attention, name, "it has fewer elements than the model has layers");
        return ald_hf_read_number(taking->keys, taking->text, names, ret, taking->ret_error);
}

static bool is_stated(const Taking *taking, const char *key)
{
        json_t *value = json_object_get(taking->text, key);
        uint32_t count = 1;

        return value && !json_is_null(value) && !json_is_false(value) &&
               !(ald_hf_is_count(value, &count) && count == 0);
}

static void find_odd(Taking *taking)
{
        for (size_t i = 0; i < G_N_ELEMENTS(odd_keys); i++)
                if (is_stated(taking, odd_keys[i]))
                        ald_attention_note_problem(&taking->attention, odd_keys[i],
                                "it is not known what layers of this kind keep");
        if (json_is_true(ald_hf_any(taking->keys, "use_bidirectional_attention")))
                ald_attention_note_problem(&taking->attention, "use_bidirectional_attention",
                        "it is true, so that the model generates no token after another");
        if (json_is_true(ald_hf_any(taking->keys, "is_encoder_decoder")))
                ald_attention_note_problem(
                        &taking->attention, "is_encoder_decoder", "it is not known what such layers keep");
}

/* Reads one number for all layers, or a list with one for each. */
static int take_each(Taking *taking, const char *const *names, uint32_t *to)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(taking->text, names, &name);
        uint32_t most = ABSENT;
        int r = take_number(taking, names, &most);

        for (uint32_t i = 0; r >= 0 && i < taking->llm->n_layers; i++) {
                json_t *one = json_array_get(value, i);

                to[i] = most;
                if (one)
                        (void) ald_hf_is_count(one, &to[i]);
        }
        return r;
}

static bool is_one_of(const Taking *taking, const char *const *names)
{
        return g_strv_contains(names, taking->llm->architecture);
}

/* Sets kv_heads where they are stated in another way, such as that all heads share one key and value. */
static void take_single_head(Taking *taking)
{
        json_t *part = json_object_get(taking->text, "attn_config"); /* of DBRX */
        uint32_t groups = ABSENT;

        if (ald_hf_is_true(taking->text, "multi_query") &&
                !ald_hf_is_true(taking->text, "new_decoder_architecture"))
                groups = 1;
        groups = json_is_object(part) ? ald_hf_most(part, group_keys) : groups;
        for (uint32_t i = 0; groups != ABSENT && i < taking->llm->n_layers; i++)
                if (taking->attention.kv_heads[i] == ABSENT || groups == 1)
                        taking->attention.kv_heads[i] = groups;
}

static int take_latent(Taking *taking)
{
        AldAttention *attention = &taking->attention;
        uint32_t rank = 0, rope = ABSENT, nope = ABSENT, values = ABSENT;
        int r = take_number(taking, latent_keys, &rank);

        if (r >= 0)
                r = take_number(taking, rope_keys, &rope);
        if (r >= 0)
                r = take_number(taking, nope_keys, &nope);
        if (r >= 0)
                r = take_number(taking, value_keys, &values);
        if (r < 0 || rank == 0)
                return r;
        if (rope == ABSENT) {
                ald_attention_note_problem(attention, rope_keys[0], "it is not stated");
                return 0;
        }
        attention->latent = !is_one_of(taking, expanded);
        if (attention->latent)
                attention->key_length = rank + rope;
        else if (nope == ABSENT)
                ald_attention_note_problem(attention, nope_keys[0], "it is not stated");
        else {
                attention->key_length = nope + rope;
                attention->value_length = MAX(values == ABSENT ? 0 : values, nope + rope);
        }
        return 0;
}

static int take_index(Taking *taking)
{
        int r = take_number(taking, index_keys, &taking->attention.index_length);

        if (r >= 0 && is_stated(taking, "index_topk") && taking->attention.index_length == 0)
                ald_attention_note_problem(
                        &taking->attention, "index_topk", "it is stated without index_head_dim");
        return r;
}

/* Reads the window of all layers, or a list with one for each; null, false or a negative number mean none. */
static void take_window(Taking *taking)
{
        AldAttention *attention = &taking->attention;
        const char *name = NULL;
        json_t *value = ald_hf_find(taking->text, window_keys, &name), *one;
        uint32_t count = 0;
        size_t i;

        if (!value)
                return;
        attention->window = 0;
        if (!json_is_array(value)) {
                if (ald_hf_is_count(value, &count))
                        attention->window = count;
                else if (!json_is_false(value) && !(json_number_value(value) < 0))
                        ald_attention_note_problem(attention, name, "it is not a number of tokens");
                return;
        }
        if (json_array_size(value) < taking->llm->n_layers)
                ald_attention_note_problem(
                        attention, name, "it has fewer elements than the model has layers");
        else
                attention->windowed = g_new0(bool, taking->llm->n_layers);
        json_array_foreach(value, i, one) {
                bool is_window = ald_hf_is_count(one, &count) && count > 0;

                if (is_window)
                        attention->window = MAX(attention->window, count);
                if (attention->windowed && i < taking->llm->n_layers)
                        attention->windowed[i] = is_window;
        }
}

static int take_numbers(Taking *taking)
{
        AldAttention *attention = &taking->attention;
        uint32_t length = ABSENT;
        int r = take_each(taking, heads_keys, attention->heads);

        if (r >= 0)
                r = take_each(taking, kv_heads_keys, attention->kv_heads);
        if (r >= 0)
                r = take_number(taking, length_keys, &length);
        if (r >= 0)
                r = take_number(taking, sharing_keys, &attention->sharing);
        if (r < 0)
                return r;
        attention->key_length = length;
        attention->value_length = length;
        take_window(taking);
        if (json_is_false(json_object_get(taking->text, "use_sliding_window")))
                attention->window = 0;
        take_single_head(taking);
        r = take_latent(taking);
        return r < 0 ? r : take_index(taking);
}

/* Returns the number of heads with keys, given that the keys of all heads together are as long as their
 * tensor has rows. */
static uint32_t count_heads(const Taking *taking, const AldLayerSigns *signs, uint32_t stated)
{
        const uint32_t rows = signs->key_rows, norm = signs->key_norm;
        const uint32_t lengths[] = { norm == rows ? ABSENT : norm, taking->attention.key_length };

        for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++)
                if (lengths[i] != ABSENT && lengths[i] > 0 && rows % lengths[i] == 0)
                        return rows / lengths[i];
        return stated != ABSENT && stated > 0 && rows % stated == 0 ? stated : 1;
}

static void shape_plain(Taking *taking, uint32_t i)
{
        const AldLayerSigns *signs = &taking->signs[i];
        AldAttention *attention = &taking->attention;
        uint32_t values = signs->value_rows != ABSENT ? signs->value_rows : signs->key_rows, heads;

        /* Stated figures are more reliable than the guessed shape of a packed matrix. */
        if (signs->is_packed && attention->kv_heads[i] != ABSENT && attention->key_length != ABSENT)
                return;
        heads = count_heads(taking, signs, attention->kv_heads[i]);
        attention->kv_heads[i] = heads;
        attention->key_lengths[i] = signs->key_rows / heads;
        attention->value_lengths[i] = (values + heads - 1) / heads;
}

/* Derives kv_heads or their lengths from a tensor with queries, keys and values together. */
static void shape_fused(Taking *taking, uint32_t i)
{
        AldAttention *attention = &taking->attention;
        uint32_t rows = taking->signs[i].fused_rows, heads = attention->heads[i];
        uint32_t kv_heads = attention->kv_heads[i], length = attention->key_length;
        uint64_t all = (uint64_t) heads + 2 * (uint64_t) kv_heads;

        if (heads == ABSENT)
                return;
        if (kv_heads == ABSENT && length != ABSENT && length > 0 && rows % length == 0 &&
                rows / length > heads && (rows / length - heads) % 2 == 0)
                attention->kv_heads[i] = (rows / length - heads) / 2;
        else if (kv_heads != ABSENT && kv_heads > 0 && length == ABSENT && rows % all == 0) {
                attention->key_lengths[i] = (uint32_t) (rows / all);
                attention->value_lengths[i] = attention->key_lengths[i];
        } else if (kv_heads != ABSENT && kv_heads > 0 && length != ABSENT && all * length < rows &&
                   !taking->signs[i].is_packed)
                ald_attention_note_problem(attention, taking->signs[i].fused,
                        "it has more rows than queries, keys and values have by config.json");
}

static void shape_layer(Taking *taking, uint32_t i)
{
        const AldLayerSigns *signs = &taking->signs[i];
        AldAttention *attention = &taking->attention;

        if (attention->latent)
                attention->kv_heads[i] = MAX(signs->attentions->len, 1);
        else if (signs->key_rows != ABSENT && signs->key_rows > 0)
                shape_plain(taking, i);
        else if (signs->fused_rows != ABSENT)
                shape_fused(taking, i);
        if (!attention->latent && attention->kv_heads[i] != ABSENT && signs->attentions->len > 1 &&
                __builtin_mul_overflow(
                        attention->kv_heads[i], signs->attentions->len, &attention->kv_heads[i]))
                ald_attention_note_problem(attention, kv_heads_keys[0], "it is too large");
}

static bool keeps_keys(const Taking *taking, uint32_t i)
{
        return taking->layers[i] != ALD_HF_LAYER_STATE && taking->layers[i] != ALD_HF_LAYER_NONE;
}

/* Refuses a layer whose figures depend on defaults that are not known. A missing key means the default of
 * a class in transformers, which only some classes derive from other keys. A part for text omits all
 * defaults. */
static void check_defaults(Taking *taking, uint32_t i)
{
        AldAttention *attention = &taking->attention;
        const AldLayerSigns *signs = &taking->signs[i];
        bool is_part = taking->keys->n_levels > 1;

        if (attention->latent)
                return;
        if (attention->kv_heads[i] == 0 && (signs->projects || signs->fused))
                ald_attention_note_problem(
                        attention, kv_heads_keys[0], "it is 0, but layers have tensors of keys and values");
        if (attention->kv_heads[i] == ABSENT && (is_part || !is_one_of(taking, own_heads)))
                ald_attention_note_problem(attention, kv_heads_keys[0], "it is not stated");
        if (attention->key_length == ABSENT && attention->key_lengths[i] == ABSENT &&
                (is_part || !is_one_of(taking, derived_length)))
                ald_attention_note_problem(attention, length_keys[0], "it is not stated");
}

static void set_state(Taking *taking, uint32_t i)
{
        uint64_t numbers = 0;
        const char *reason = NULL;
        const char *bad = ald_hf_state_find(taking->keys, taking->llm, &taking->signs[i], &numbers, &reason);

        if (bad) {
                const char *name = taking->signs[i].state;
                g_autofree char *missing = g_strdup_printf(
                        "it is not stated, and %s has a state", name ? name : "one of the layer_types");

                ald_attention_note_problem(&taking->attention, bad, reason ? reason : missing);
        } else
                ald_attention_set_state(&taking->attention, i, numbers);
}

/* Returns whether the layer has attention beside its state. Linear attention projects queries and keys within
 * the module that has the state. */
static bool is_beside_state(const AldLayerSigns *signs)
{
        return signs->state && signs->attentions->len > 0 &&
               !g_str_has_prefix(signs->state, signs->attentions->pdata[0]);
}

/* Refuses a layer with keys that config.json says keeps none, and one with a state that it says has
 * attention. The tensors of some networks with a state have the names of attention. */
static void check_layer(Taking *taking, uint32_t i)
{
        const AldLayerSigns *signs = &taking->signs[i];
        bool is_named_so = g_str_has_prefix(taking->llm->architecture, "rwkv") ||
                           is_stated(taking, "lightning_head_dim");
        AldHfLayer layer = taking->layers[i];

        if (!keeps_keys(taking, i) && signs->projects && (!signs->state || is_beside_state(signs)) &&
                !is_named_so)
                ald_attention_note_problem(&taking->attention,
                        signs->attentions->len > 0 ? signs->attentions->pdata[0] : "layer_types",
                        "it has keys and values, but config.json says that the layer has none");
        if ((layer == ALD_HF_LAYER_FULL || layer == ALD_HF_LAYER_WINDOW) && signs->state &&
                !signs->projects && !signs->fused)
                ald_attention_note_problem(&taking->attention, signs->state,
                        "it is of a state, but config.json says that the layer has attention");
}

/* Returns whether all layers have attention and are listed so. Some classes state the figures of a state even
 * then. */
static bool attends_throughout(const Taking *taking)
{
        for (uint32_t i = 0; i < taking->llm->n_layers; i++) {
                const AldLayerSigns *signs = &taking->signs[i];

                if (signs->state || signs->other || (!signs->projects && !signs->fused))
                        return false;
        }
        return taking->are_listed;
}

static void set_layers(Taking *taking)
{
        bool has_state = false, any_keeps = false;
        bool is_stated_count = taking->attention.kv_heads[0] != ABSENT && taking->attention.kv_heads[0] > 0;
        const char *key = ald_hf_state_key(taking->keys);

        for (uint32_t i = 0; i < taking->llm->n_layers; i++) {
                check_layer(taking, i);
                if (taking->layers[i] == ALD_HF_LAYER_STATE || taking->layers[i] == ALD_HF_LAYER_BOTH) {
                        has_state = true;
                        set_state(taking, i);
                }
                if (keeps_keys(taking, i)) {
                        any_keeps = true;
                        shape_layer(taking, i);
                        check_defaults(taking, i);
                } else
                        taking->attention.kv_heads[i] = 0;
        }
        if (key && !has_state && !attends_throughout(taking))
                ald_attention_note_problem(
                        &taking->attention, key, "it is not known which layers have such a state");
        if (is_stated_count && !any_keeps && !g_str_has_prefix(taking->llm->architecture, "rwkv"))
                ald_attention_note_problem(&taking->attention, kv_heads_keys[0],
                        "it is stated, but it is not known which layers have keys and values");
}

static bool have_plain_keys(const Taking *taking)
{
        for (uint32_t i = 0; i < taking->llm->n_layers; i++)
                if (taking->signs[i].key_rows == ABSENT || taking->signs[i].key_rows == 0)
                        return false;
        return true;
}

/* Sets the length of the keys by which others are chosen from their tensor, or checks it. */
static void find_index_rows(Taking *taking)
{
        AldAttention *attention = &taking->attention;

        for (uint32_t i = 0; i < taking->llm->n_layers; i++) {
                const AldLayerSigns *signs = &taking->signs[i];

                if (signs->index_rows == ABSENT || signs->is_packed)
                        continue;
                if (attention->index_length == 0)
                        attention->index_length = signs->index_rows;
                else if (attention->index_length != signs->index_rows)
                        ald_attention_note_problem(
                                attention, index_keys[0], "it does not fit the tensor indexer.wk");
        }
}

/* Sets the length of compressed keys from their tensor if config.json does not state it, or checks it. */
static void find_latent_rows(Taking *taking)
{
        AldAttention *attention = &taking->attention;

        for (uint32_t i = 0; i < taking->llm->n_layers && attention->latent; i++)
                if (taking->signs[i].latent_rows != ABSENT && !taking->signs[i].is_packed &&
                        taking->signs[i].latent_rows != attention->key_length)
                        ald_attention_note_problem(attention, latent_keys[0],
                                "with qk_rope_head_dim, it does not fit the tensor of compressed keys");
        for (uint32_t i = 0; i < taking->llm->n_layers && !taking->attention.latent; i++)
                if (taking->signs[i].latent_rows != ABSENT && !is_one_of(taking, expanded)) {
                        taking->attention.latent = true;
                        taking->attention.key_length = taking->signs[i].latent_rows;
                }
}

int ald_hf_attention_apply(const AldHfKeys *keys, const AldLayerSigns *signs, AldLlm *llm, char **ret_error)
{
        g_auto(Taking) taking = { .keys = keys, .text = ald_hf_text(keys), .signs = signs, .llm = llm };
        int r;

        taking.ret_error = ret_error;
        taking.layers = g_new0(AldHfLayer, llm->n_layers);
        ald_attention_init(&taking.attention, llm->n_layers);
        find_odd(&taking);
        r = take_numbers(&taking);
        if (r < 0)
                return r;
        find_latent_rows(&taking);
        find_index_rows(&taking);
        taking.are_listed = ald_hf_layers_find(keys, llm, signs, &taking.attention, taking.layers);
        set_layers(&taking);
        taking.attention.projects = have_plain_keys(&taking);
        ald_kv_rules_apply(llm, &taking.attention);
        return 0;
}
