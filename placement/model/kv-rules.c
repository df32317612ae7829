/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/model/kv-rules.h"

#define ABSENT ALD_LLM_ABSENT_COUNT
#define STATE_BYTES 4u

/* Facts about windows and shared keys of an architecture that its files do not state, or state wrongly. */
typedef struct KvRow {
        const char *name;
        uint32_t period;   /* the last layer of each period has no window; with `dense_first` the first one */
        uint32_t window;   /* used if the file states none; 0: none */
        uint32_t n_layers; /* only models with this many have windows; 0: all */
        uint32_t keeping;  /* how many of the first layers keep keys, if it is not stated how many share them;
                              0: all */
        bool dense_first;
        bool is_fixed;   /* `window` replaces what the file states */
        bool is_ignored; /* the stated window is not applied */
        bool is_latent;  /* keys are compressed, so their length must be stated */
} KvRow;

/* The names are those in GGUF files and in config.json. The source of a row is the function of llama.cpp that
 * reads the keys of the architecture, in src/models/NAME.cpp, and for a name of config.json its class in
 * transformers; of the last three, the reports of DeepSeek V2, DeepSeek V3 and Kimi K2. */
static const KvRow rows[] = {
        { "afmoe", .period = 4 },
        { "cohere2", .period = 4 },
        { "exaone4", .period = 4, .window = 4096, .n_layers = 64 },
        { "gemma2", .period = 2, .window = 4096 },
        { "gemma3", .period = 6 },
        { "gemma3_text", .period = 6 },
        { "gemma3n", .period = 5, .keeping = 20 },
        { "gemma3n_text", .period = 5 },
        { "gpt-oss", .period = 2 },
        { "gpt_oss", .period = 2 },
        { "gptoss", .period = 2 },                                   /* in files of Ollama */
        { "llama4", .period = 4, .window = 8192, .is_fixed = true }, /* chunks, which need as much */
        { "llama4_text", .period = 4, .window = 8192 },
        { "olmo2", .period = 4 },
        { "olmo3", .period = 4 },
        { "phi3", .is_ignored = true }, /* the files state windows of models that have none */
        { "plamo3", .period = 8 },
        { "smallthinker", .period = 4, .window = 4096, .is_fixed = true, .dense_first = true },
        { "deepseek_v2", .is_latent = true },
        { "deepseek_v3", .is_latent = true },
        { "kimi_k2", .is_latent = true },
};

static const KvRow no_row = { 0 };

void ald_attention_init(AldAttention *attention, uint32_t n_layers)
{
        *attention = (AldAttention){ .heads = g_new(uint32_t, n_layers),
                .kv_heads = g_new(uint32_t, n_layers),
                .key_lengths = g_new(uint32_t, n_layers),
                .value_lengths = g_new(uint32_t, n_layers),
                .state_bytes = g_new0(uint64_t, n_layers),
                .key_length = ABSENT,
                .value_length = ABSENT,
                .window_key_length = ABSENT,
                .window_value_length = ABSENT,
                .window = ABSENT,
                .period = ABSENT };
        for (uint32_t i = 0; i < n_layers; i++) {
                attention->heads[i] = ABSENT;
                attention->kv_heads[i] = ABSENT;
                attention->key_lengths[i] = ABSENT;
                attention->value_lengths[i] = ABSENT;
        }
}

void ald_attention_clear(AldAttention *attention)
{
        g_free(attention->heads);
        g_free(attention->kv_heads);
        g_free(attention->key_lengths);
        g_free(attention->value_lengths);
        g_free(attention->state_bytes);
        g_free(attention->windowed);
        g_free(attention->problem);
        *attention = (AldAttention){ 0 };
}

void ald_attention_note_problem(AldAttention *attention, const char *key, const char *reason)
{
        if (!attention->problem)
                attention->problem = g_strdup_printf("%s: %s", key, reason);
}

void ald_attention_set_state(AldAttention *attention, uint32_t layer, uint64_t numbers)
{
        if (numbers > INT64_MAX / STATE_BYTES)
                ald_attention_note_problem(
                        attention, "its recurrent state", "it has more bytes than 64 bits hold");
        else
                attention->state_bytes[layer] = numbers * STATE_BYTES;
}

static const KvRow *find_row(const AldLlm *llm)
{
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                if (strcmp(rows[i].name, llm->architecture) == 0)
                        return &rows[i];
        return &no_row;
}

/* Returns the window, which is absent if no layer has one, or none is stated. */
static uint32_t find_window(const AldLlm *llm, const KvRow *row, const AldAttention *attention)
{
        uint32_t window = attention->window;

        if (row->is_ignored || window == 0 || (row->n_layers > 0 && llm->n_layers != row->n_layers))
                return ABSENT;
        return row->is_fixed || (window == ABSENT && row->window > 0) ? row->window : window;
}

static const char *doubt_windows(const KvRow *row, const AldAttention *attention, uint32_t window)
{
        bool is_applied = attention->windowed || attention->period != ABSENT || row->period > 0;

        if (window != ABSENT && !is_applied)
                return "it states a window, but not which layers apply it";
        /* A window of 0, as in Gemma 3 for images, means none. */
        if (window == ABSENT && attention->windowed && attention->window != 0)
                return "it does not state how many tokens the window of its layers has";
        return NULL;
}

static bool is_windowed(const KvRow *row, const AldAttention *attention, uint32_t layer)
{
        uint32_t period = attention->period != ABSENT ? attention->period : row->period;

        if (attention->windowed)
                return attention->windowed[layer];
        if (row->dense_first)
                return layer % period != 0;
        return period == 0 || layer % period < period - 1;
}

/* Returns the stated length of a head, or its default, by which all heads together are as wide as the
 * model. */
static uint32_t find_length(const AldLlm *llm, const AldAttention *attention, uint32_t stated)
{
        if (stated != ABSENT || llm->embedding_length == ABSENT)
                return stated;
        for (uint32_t i = 0; i < llm->n_layers; i++)
                if (attention->heads[i] != ABSENT && attention->heads[i] > 0)
                        return llm->embedding_length / attention->heads[i];
        return ABSENT;
}

static uint32_t first_stated(uint32_t first, uint32_t second, uint32_t third)
{
        return first != ABSENT ? first : second != ABSENT ? second : third;
}

/* Returns a problem if a figure of the file is less than its tensors have, since less would be counted than
 * is kept. */
static const char *check_tensors(const AldAttention *attention, uint32_t i, const AldLlmLayer *layer)
{
        const AldLayerSigns *signs = attention->signs ? &attention->signs[i] : NULL;
        uint64_t keys = (uint64_t) layer->kv_heads * layer->key_length;
        uint64_t values = (uint64_t) layer->kv_heads * layer->value_length;

        if (!signs || layer->kv_heads == 0)
                return NULL;
        if (attention->latent)
                return signs->latent_rows != ABSENT && layer->key_length < signs->latent_rows
                               ? "attention.key_length: it is less than tensors of compressed keys have"
                               : NULL;
        if (signs->key_rows != ABSENT && keys < signs->key_rows)
                return "attention.key_length: with attention.head_count_kv, it is less than tensors of keys "
                       "have";
        if (signs->value_rows != ABSENT && values < signs->value_rows)
                return "attention.value_length: with attention.head_count_kv, it is less than tensors of "
                       "values have";
        if (signs->fused_rows != ABSENT && !signs->state && attention->heads[i] != ABSENT &&
                (uint64_t) attention->heads[i] * layer->key_length + keys + values < signs->fused_rows)
                return "attention.key_length: with attention.head_count, it is less than tensors of "
                       "queries, keys and values have";
        return NULL;
}

static const char *set_layer(AldLlm *llm, const AldAttention *attention, uint32_t i, bool windowed)
{
        AldLlmLayer *layer = &llm->layers[i];
        uint32_t key = first_stated(attention->key_lengths[i],
                windowed ? attention->window_key_length : ABSENT, attention->key_length);
        uint32_t value = first_stated(attention->value_lengths[i],
                windowed ? attention->window_value_length : ABSENT, attention->value_length);
        const char *problem;

        layer->kv_heads = attention->kv_heads[i] != ABSENT ? attention->kv_heads[i] : attention->heads[i];
        layer->key_length = find_length(llm, attention, key);
        /* Compressed values are not kept; older versions of llama.cpp did. */
        layer->value_length = attention->latent ? 0 : find_length(llm, attention, value);
        layer->state_bytes = attention->state_bytes[i];
        if (layer->kv_heads == ABSENT)
                return "it does not state how many heads its layers have, as attention.head_count or "
                       "num_attention_heads";
        if (layer->kv_heads == 0 && (layer->key_length == ABSENT || layer->value_length == ABSENT)) {
                layer->key_length = 0;
                layer->value_length = 0;
        }
        if (layer->key_length == ABSENT || layer->value_length == ABSENT)
                return "it does not state how long keys and values are, as attention.key_length or head_dim";
        if (layer->kv_heads > 0 && layer->key_length == 0)
                return "it states that keys have no length, as attention.key_length or head_dim";
        problem = check_tensors(attention, i, layer);
        if (layer->kv_heads > 0 && attention->index_length > 0)
                layer->key_length += attention->latent ? attention->index_length
                                                       : (attention->index_length + layer->kv_heads - 1) /
                                                                 layer->kv_heads;
        return problem;
}

static const char *apply_row(AldLlm *llm, const KvRow *row, const AldAttention *attention)
{
        uint32_t window = find_window(llm, row, attention), keeping;
        const char *doubt = doubt_windows(row, attention, window), *problem = NULL;

        if (attention->sharing >= llm->n_layers)
                return "it states that all of its layers use the keys and values of others";
        if (row->is_latent && !attention->latent && !attention->projects)
                return "it does not state how long compressed keys are, as kv_lora_rank";
        keeping = llm->n_layers - attention->sharing;
        if (row->keeping > 0 && attention->sharing == 0)
                keeping = MIN(keeping, row->keeping);
        if (doubt) {
                llm->window_doubt = g_strdup(doubt);
                llm->doubt_window = window;
        }
        for (uint32_t i = 0; i < llm->n_layers && !problem; i++) {
                bool windowed = window != ABSENT && !doubt && is_windowed(row, attention, i);

                problem = set_layer(llm, attention, i, windowed);
                llm->layers[i].window = windowed ? window : ABSENT;
                if (i >= keeping)
                        llm->layers[i].kv_heads = 0;
        }
        return problem;
}

/* Sets the problem and clears the figures of all layers, since some of them might be taken for the whole. */
static void set_problem(AldLlm *llm, const char *problem)
{
        llm->kv_problem = g_strdup(problem);
        g_clear_pointer(&llm->window_doubt, g_free);
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                llm->layers[i].kv_heads = ABSENT;
                llm->layers[i].key_length = ABSENT;
                llm->layers[i].value_length = ABSENT;
                llm->layers[i].window = ABSENT;
                llm->layers[i].state_bytes = 0;
        }
}

void ald_kv_rules_apply(AldLlm *llm, const AldAttention *attention)
{
        const char *problem = attention->problem;

        if (!problem)
                problem = apply_row(llm, find_row(llm), attention);
        if (problem)
                set_problem(llm, problem);
}
