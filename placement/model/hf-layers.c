/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/model/hf-layers.h"

typedef struct Finding {
        json_t *text;
        const AldLlm *llm;
        const AldLayerSigns *signs;
        AldAttention *attention;
        AldHfLayer *layers;
        const char *key; /* key that lists the kinds of the layers; NULL if none does */
} Finding;

static const struct {
        const char *word;
        AldHfLayer layer;
} words[] = {
        { "attention", ALD_HF_LAYER_FULL },
        { "full_attention", ALD_HF_LAYER_FULL },
        { "full", ALD_HF_LAYER_FULL },
        { "global_attention", ALD_HF_LAYER_FULL },
        { "global", ALD_HF_LAYER_FULL },
        { "sliding_attention", ALD_HF_LAYER_WINDOW },
        { "chunked_attention", ALD_HF_LAYER_WINDOW },
        { "local_attention", ALD_HF_LAYER_WINDOW },
        { "linear_attention", ALD_HF_LAYER_STATE },
        { "minicpm4", ALD_HF_LAYER_FULL },
        { "lightning-attn", ALD_HF_LAYER_STATE },
        { "mamba", ALD_HF_LAYER_STATE },
        { "mamba2", ALD_HF_LAYER_STATE },
        { "conv", ALD_HF_LAYER_STATE },
        { "hybrid", ALD_HF_LAYER_BOTH },
        { "mlp", ALD_HF_LAYER_NONE },
        { "moe", ALD_HF_LAYER_NONE },
};

static void refuse_word(Finding *finding, const char *key, const char *word)
{
        g_autofree char *reason = g_strdup_printf("it is not known what a layer \"%.40s\" keeps", word);

        ald_attention_note_problem(finding->attention, key,
                g_str_is_ascii(reason) ? reason : "it is not known what one of its layers keeps");
}

static void take_word(Finding *finding, const char *key, uint32_t i, const char *word)
{
        for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
                if (word && strcmp(words[k].word, word) == 0) {
                        finding->layers[i] = words[k].layer;
                        return;
                }
        refuse_word(finding, key, word ? word : "");
}

/* Reads keys that have a word for each layer. Like those of the next functions, returns whether the model has
 * such a key. */
static bool take_words(Finding *finding)
{
        static const char *const names[] = { "layer_types", "layers_block_type", "mixer_types", NULL };
        const char *key = NULL;
        json_t *list = ald_hf_find(finding->text, names, &key);

        if (!list || (json_is_array(list) && json_array_size(list) == 0))
                return false;
        finding->key = key;
        if (json_array_size(list) < finding->llm->n_layers)
                ald_attention_note_problem(
                        finding->attention, key, "it has fewer elements than the model has layers");
        else
                for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                        take_word(finding, key, i, json_string_value(json_array_get(list, i)));
        return true;
}

/* Refuses a key whose value is not understood, which must not count as missing. */
static void refuse_other(Finding *finding, json_t *object, const char *key, bool is_right, const char *reason)
{
        json_t *value = json_object_get(object, key);

        if (value && !json_is_null(value) && !is_right)
                ald_attention_note_problem(finding->attention, key, reason);
}

/* Reads the letters of Nemotron-H, one for each layer. */
static bool take_letters(Finding *finding)
{
        const char *letters = json_string_value(json_object_get(finding->text, "hybrid_override_pattern"));

        refuse_other(finding, finding->text, "hybrid_override_pattern", letters != NULL, "it is not text");
        if (!letters)
                return false;
        finding->key = "hybrid_override_pattern";
        if (strlen(letters) < finding->llm->n_layers) {
                ald_attention_note_problem(
                        finding->attention, finding->key, "it has fewer letters than the model has layers");
                return true;
        }
        for (uint32_t i = 0; i < finding->llm->n_layers; i++) {
                const char letter[2] = { letters[i], '\0' };

                switch (letters[i]) {
                case '*':
                        finding->layers[i] = ALD_HF_LAYER_FULL;
                        break;
                case 'M':
                        finding->layers[i] = ALD_HF_LAYER_STATE;
                        break;
                case '-':
                case 'E':
                        finding->layers[i] = ALD_HF_LAYER_NONE;
                        break;
                default:
                        refuse_word(finding, finding->key, letter);
                }
        }
        return true;
}

/* Reads a list of numbers, one for each layer, which is `full` if it attends to the whole context. */
static bool take_numbers(Finding *finding, const char *key, json_int_t full, AldHfLayer other)
{
        json_t *list = json_object_get(finding->text, key);

        refuse_other(finding, finding->text, key, json_is_array(list), "it is not a list");
        if (json_array_size(list) == 0)
                return false;
        finding->key = key;
        if (json_array_size(list) < finding->llm->n_layers) {
                ald_attention_note_problem(
                        finding->attention, key, "it has fewer elements than the model has layers");
                return true;
        }
        for (uint32_t i = 0; i < finding->llm->n_layers; i++) {
                json_t *number = json_array_get(list, i);

                if (!json_is_integer(number) || json_integer_value(number) < 0 ||
                        json_integer_value(number) > 1)
                        ald_attention_note_problem(finding->attention, key, "it does not consist of 0 and 1");
                finding->layers[i] = json_integer_value(number) == full ? ALD_HF_LAYER_FULL : other;
        }
        return true;
}

/* Reads the numbers of the layers with attention, counted from `base`; all others have a state. */
static bool take_indices(Finding *finding, json_t *object, const char *key, json_int_t base)
{
        json_t *list = json_object_get(object, key), *one;
        size_t i;

        refuse_other(finding, object, key, json_is_array(list), "it is not a list");
        if (!json_is_array(list))
                return false;
        finding->key = key;
        for (uint32_t layer = 0; layer < finding->llm->n_layers; layer++)
                finding->layers[layer] = ALD_HF_LAYER_STATE;
        json_array_foreach(list, i, one) {
                json_int_t layer = json_integer_value(one) - base;

                if (!json_is_integer(one) || layer < 0)
                        ald_attention_note_problem(finding->attention, key, "it does not consist of numbers");
                else if (layer < finding->llm->n_layers)
                        finding->layers[layer] = ALD_HF_LAYER_FULL;
        }
        return true;
}

/* Reads an interval: every n-th layer has attention. */
static bool take_interval(Finding *finding, const char *key, const char *offset_key, uint32_t offset)
{
        uint32_t interval = 0;
        bool is_count = ald_hf_is_count(json_object_get(finding->text, key), &interval) && interval > 0;

        refuse_other(finding, finding->text, key, is_count, "it is not a whole number above 0");
        if (!is_count)
                return false;
        if (offset_key)
                (void) ald_hf_is_count(json_object_get(finding->text, offset_key), &offset);
        else
                offset = interval - 1;
        finding->key = key;
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                finding->layers[i] = i % interval == offset % interval ? ALD_HF_LAYER_FULL
                                                                       : ALD_HF_LAYER_STATE;
        return true;
}

/* Reads the groups of Ling and Ring: the last layer of each group has attention, and so have those after the
 * last whole group. */
static bool take_groups(Finding *finding)
{
        const char *key = "layer_group_size";
        uint32_t size = 0, whole;
        bool is_count = ald_hf_is_count(json_object_get(finding->text, key), &size);

        refuse_other(finding, finding->text, key, is_count, "it is not a whole number");
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                if (finding->signs[i].state)
                        return false;
        if (!is_count || size <= 1)
                return false;
        finding->key = key;
        whole = finding->llm->n_layers / size * size;
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                finding->layers[i] = (i + 1) % size == 0 || i >= whole ? ALD_HF_LAYER_FULL
                                                                       : ALD_HF_LAYER_STATE;
        return true;
}

/* Recognizes RWKV, whose keys and values have the names of attention, but go into a state. */
static bool take_rwkv(Finding *finding)
{
        if (!g_str_has_prefix(finding->llm->architecture, "rwkv"))
                return false;
        if (json_is_object(json_object_get(finding->text, "attn")))
                ald_attention_note_problem(
                        finding->attention, "attn", "it is not known which layers have attention");
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                finding->layers[i] = ALD_HF_LAYER_STATE;
        return true;
}

/* Derives the kinds of layers from their tensors if config.json does not list them. */
static void take_tensors(Finding *finding)
{
        bool attends = false;

        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                attends = attends || finding->signs[i].projects || finding->signs[i].fused;
        for (uint32_t i = 0; i < finding->llm->n_layers; i++) {
                const AldLayerSigns *signs = &finding->signs[i];
                bool has_keys = signs->projects || signs->fused;

                finding->layers[i] = !signs->state ? ALD_HF_LAYER_FULL
                                     : has_keys    ? ALD_HF_LAYER_BOTH
                                                   : ALD_HF_LAYER_STATE;
                if (signs->state || has_keys || signs->attends || !attends)
                        continue;
                if (signs->other)
                        ald_attention_note_problem(finding->attention, signs->other,
                                "it is not known what layers with such a tensor keep");
                finding->layers[i] = ALD_HF_LAYER_NONE;
        }
}

/* Reads the period of windows or, in EXAONE 4, a letter for each layer of it, where G means global
 * attention. */
static void take_window_pattern(Finding *finding)
{
        static const char *const names[] = { "sliding_window_pattern", "_sliding_window_pattern", NULL };
        const char *key = NULL, *letters;
        json_t *pattern = ald_hf_find(finding->text, names, &key);
        size_t n;

        if (!pattern)
                return;
        if (ald_hf_is_count(pattern, &finding->attention->period)) {
                if (finding->attention->period == 0)
                        ald_attention_note_problem(finding->attention, key, "it is 0");
                return;
        }
        letters = json_string_value(pattern);
        n = letters ? strlen(letters) : 0;
        if (n == 0 || strspn(letters, "LG") != n) {
                ald_attention_note_problem(finding->attention, key, "it is neither a period nor of L and G");
                return;
        }
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                finding->layers[i] = letters[i % n] == 'L' ? ALD_HF_LAYER_WINDOW : ALD_HF_LAYER_FULL;
        finding->key = key;
}

/* Reads the chunks of Llama 4: layers with positions attend to a chunk, the others to everything. */
static bool take_chunks(Finding *finding)
{
        uint32_t length = 0;
        bool is_count = ald_hf_is_count(json_object_get(finding->text, "attention_chunk_size"), &length);

        refuse_other(finding, finding->text, "attention_chunk_size", is_count, "it is not a whole number");
        if (!is_count || length == 0)
                return false;
        finding->attention->window = length;
        return take_numbers(finding, "no_rope_layers", 0, ALD_HF_LAYER_WINDOW);
}

static void set_windows(Finding *finding)
{
        AldAttention *attention = finding->attention;
        bool any = false;

        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                any = any || finding->layers[i] == ALD_HF_LAYER_WINDOW;
        if (!finding->key)
                return;
        if (!any) {
                /* No layer has a window, so its size does not matter. */
                attention->window = 0;
                return;
        }
        g_free(attention->windowed);
        attention->windowed = g_new(bool, finding->llm->n_layers);
        for (uint32_t i = 0; i < finding->llm->n_layers; i++)
                attention->windowed[i] = finding->layers[i] == ALD_HF_LAYER_WINDOW;
}

bool ald_hf_layers_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        AldAttention *attention, AldHfLayer *ret)
{
        Finding finding = { ald_hf_text(keys), llm, signs, attention, ret, NULL };
        json_t *linear = json_object_get(finding.text, "linear_attn_config");
        bool is_chunked;

        for (uint32_t i = 0; i < llm->n_layers; i++)
                ret[i] = ALD_HF_LAYER_FULL;
        is_chunked = take_chunks(&finding);
        if (!take_words(&finding) && !is_chunked && !take_letters(&finding) &&
                !take_numbers(&finding, "attn_type_list", 1, ALD_HF_LAYER_STATE) &&
                !take_numbers(&finding, "hybrid_layer_pattern", 0, ALD_HF_LAYER_WINDOW) &&
                !take_indices(&finding, linear, "full_attn_layers", 1) &&
                !take_indices(&finding, finding.text, "full_attn_idxs", 0) &&
                !take_indices(&finding, finding.text, "attn_layer_indices", 0) &&
                !take_interval(&finding, "attn_layer_period", "attn_layer_offset", 0) &&
                !take_interval(&finding, "full_attention_interval", NULL, 0) && !take_groups(&finding) &&
                !take_rwkv(&finding))
                take_tensors(&finding);
        if (!finding.key)
                take_window_pattern(&finding);
        set_windows(&finding);
        return finding.key != NULL;
}
