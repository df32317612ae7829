/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/model/gguf-attention.h"
#include "placement/model/kv-rules.h"

#define TOKEN_SHIFTS_DEFAULT 2u
#define KDA_PARTS 3u /* queries, keys and values are convolved */
#define KDA_KERNEL_DEFAULT 4u

typedef struct Reading {
        const AldGgufFacts *facts;
        const AldLayerSigns *signs;
        AldLlm *llm;
        AldAttention attention;
} Reading;

static bool is_set(const Reading *reading, AldGgufKey key)
{
        return reading->facts->facts[key].is_set;
}

/* Reads one number for all layers, or one for each. */
static void take_each(Reading *reading, AldGgufKey key, uint32_t *to)
{
        const AldGgufFact *fact = &reading->facts->facts[key];

        if (!fact->is_set)
                return;
        if (fact->list && fact->n < reading->llm->n_layers)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(key),
                        "it has fewer elements than the model has layers");
        else
                for (uint32_t i = 0; i < reading->llm->n_layers; i++)
                        to[i] = fact->list ? fact->list[i] : fact->value;
}

static void take_one(Reading *reading, AldGgufKey key, uint32_t *to)
{
        const AldGgufFact *fact = &reading->facts->facts[key];

        if (fact->is_set && fact->list)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(key),
                        "it is not known what an array means here");
        else if (fact->is_set)
                *to = fact->value;
}

/* Reads which layers have a window: a number is a period, a list has an element for each layer. */
static void take_pattern(Reading *reading)
{
        const AldGgufFact *fact = &reading->facts->facts[ALD_GGUF_WINDOW_PATTERN];
        g_autofree uint32_t *windowed = NULL;
        uint32_t n = reading->llm->n_layers;

        if (!fact->is_set || !fact->list) {
                take_one(reading, ALD_GGUF_WINDOW_PATTERN, &reading->attention.period);
                return;
        }
        windowed = g_new0(uint32_t, n);
        take_each(reading, ALD_GGUF_WINDOW_PATTERN, windowed);
        reading->attention.windowed = g_new(bool, n);
        for (uint32_t i = 0; i < n; i++)
                reading->attention.windowed[i] = windowed[i] != 0;
}

/* Reads the length of one more key, which models that choose the tokens to attend to keep for each token. */
static void take_index(Reading *reading)
{
        if (is_set(reading, ALD_GGUF_INDEX_TOP) && !is_set(reading, ALD_GGUF_INDEX_LENGTH))
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(ALD_GGUF_INDEX_TOP),
                        "it is stated without attention.indexer.key_length");
        take_one(reading, ALD_GGUF_INDEX_LENGTH, &reading->attention.index_length);
}

static void take_lengths(Reading *reading)
{
        AldAttention *attention = &reading->attention;

        take_each(reading, ALD_GGUF_HEADS, attention->heads);
        take_each(reading, ALD_GGUF_KV_HEADS, attention->kv_heads);
        take_one(reading, ALD_GGUF_KEY_LENGTH, &attention->key_length);
        take_one(reading, ALD_GGUF_VALUE_LENGTH, &attention->value_length);
        take_one(reading, ALD_GGUF_KEY_LENGTH_WINDOW, &attention->window_key_length);
        take_one(reading, ALD_GGUF_VALUE_LENGTH_WINDOW, &attention->window_value_length);
        take_one(reading, ALD_GGUF_WINDOW, &attention->window);
        take_one(reading, ALD_GGUF_SHARED_KV, &attention->sharing);
        attention->latent = is_set(reading, ALD_GGUF_KEY_LENGTH_MLA);
}

/* Returns whether each layer is recurrent, or NULL if the file does not state it; to be freed. */
static uint32_t *take_recurrent(Reading *reading)
{
        uint32_t interval = 0, n = reading->llm->n_layers, *recurrent;

        take_one(reading, ALD_GGUF_INTERVAL, &interval);
        if (!is_set(reading, ALD_GGUF_RECURRENT) && interval == 0)
                return NULL;
        recurrent = g_new0(uint32_t, n);
        if (is_set(reading, ALD_GGUF_RECURRENT))
                take_each(reading, ALD_GGUF_RECURRENT, recurrent);
        else
                for (uint32_t i = 0; i < n; i++)
                        recurrent[i] = (i + 1) % interval != 0;
        return recurrent;
}

/* Returns whether a layer has neither keys and values nor a feed-forward network, so that it is taken for
 * recurrent if tensors do not show which layers are. */
static bool lacks_all_else(const Reading *reading, uint32_t i)
{
        const AldGgufFact *wide = &reading->facts->facts[ALD_GGUF_FEED_FORWARD];

        return reading->attention.kv_heads[i] == 0 && !(wide->list && i < wide->n && wide->list[i] > 0);
}

static bool any_layer_has(const Reading *reading, bool state)
{
        for (uint32_t i = 0; i < reading->llm->n_layers; i++)
                if (state ? reading->signs[i].state != NULL
                          : reading->signs[i].projects && !reading->signs[i].state)
                        return true;
        return false;
}

static uint64_t product(uint64_t a, uint64_t b)
{
        return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
        return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* Returns the number; if it is missing or 0, refuses the key. */
static uint32_t require_number(Reading *reading, AldGgufKey key)
{
        uint32_t value = 0;

        if (!is_set(reading, key))
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(key),
                        "it is not stated, and the layers have a state");
        take_one(reading, key, &value);
        if (is_set(reading, key) && value == 0)
                ald_attention_note_problem(
                        &reading->attention, ald_gguf_key_name(key), "it is 0, and the layers have a state");
        return value;
}

/* Returns how many tokens a convolution keeps of each number: all that it covers except the newest. */
static uint32_t find_kept(Reading *reading, const AldLayerSigns *signs, AldGgufKey key, uint32_t kernel)
{
        if (kernel < signs->kernel)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(key),
                        "it is less than tensors of the convolution have");
        return kernel > 0 ? kernel - 1 : 0;
}

static uint64_t find_kda_state(Reading *reading, const AldLayerSigns *signs)
{
        uint32_t kernel = KDA_KERNEL_DEFAULT;
        uint64_t heads = reading->attention.heads[0], length = require_number(reading, ALD_GGUF_KDA_LENGTH);

        if (heads == ALD_LLM_ABSENT_COUNT)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(ALD_GGUF_HEADS),
                        "it is not stated, and the layers have a state");
        take_one(reading, ALD_GGUF_SSM_KERNEL, &kernel);
        length = product(length, heads);
        return sum(
                product(product(KDA_PARTS, find_kept(reading, signs, ALD_GGUF_SSM_KERNEL, kernel)), length),
                product(length, require_number(reading, ALD_GGUF_KDA_LENGTH)));
}

/* Returns how many numbers engines keep for a recurrent layer. */
static uint64_t find_state(Reading *reading, const AldLayerSigns *signs)
{
        const uint32_t rows = signs->convolution_rows;
        uint64_t kernel, inner, size, groups;
        uint32_t shifts = TOKEN_SHIFTS_DEFAULT, group_count = 0;

        if (is_set(reading, ALD_GGUF_WKV_LENGTH)) {
                take_one(reading, ALD_GGUF_TOKEN_SHIFTS, &shifts);
                return product(require_number(reading, ALD_GGUF_EMBEDDING),
                        (uint64_t) shifts + require_number(reading, ALD_GGUF_WKV_LENGTH));
        }
        if (is_set(reading, ALD_GGUF_KDA_LENGTH))
                return find_kda_state(reading, signs);
        if (is_set(reading, ALD_GGUF_CONVOLUTION)) {
                kernel = require_number(reading, ALD_GGUF_CONVOLUTION);
                return product(require_number(reading, ALD_GGUF_EMBEDDING),
                        find_kept(reading, signs, ALD_GGUF_CONVOLUTION, (uint32_t) kernel));
        }
        kernel = require_number(reading, ALD_GGUF_SSM_KERNEL);
        inner = require_number(reading, ALD_GGUF_SSM_INNER);
        size = require_number(reading, ALD_GGUF_SSM_SIZE);
        take_one(reading, ALD_GGUF_SSM_GROUPS, &group_count);
        groups = product(2 * (uint64_t) group_count, size);
        if (rows != ALD_LLM_ABSENT_COUNT && sum(inner, groups) < rows)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(ALD_GGUF_SSM_GROUPS),
                        "with ssm.inner_size, it is less than tensors of the convolution have");
        return sum(product(find_kept(reading, signs, ALD_GGUF_SSM_KERNEL, (uint32_t) kernel),
                           sum(inner, groups)),
                product(inner, size));
}

/* Returns whether a recurrent layer keeps no keys and values. Linear attention may have a tensor for queries,
 * keys and values, too, but does not keep them. */
static bool is_without_keys(Reading *reading, uint32_t i, bool others_project)
{
        const AldLayerSigns *signs = &reading->signs[i];

        if (!signs->state || signs->projects)
                return false;
        if (signs->fused && !others_project)
                ald_attention_note_problem(&reading->attention, signs->fused,
                        "it is not known whether its layer, which has a state, keeps keys and values too");
        return true;
}

/* Returns whether all layers have attention. Some architectures state the figures of a state even then. */
static bool attends_throughout(const Reading *reading)
{
        for (uint32_t i = 0; i < reading->llm->n_layers; i++) {
                const AldLayerSigns *signs = &reading->signs[i];

                if (signs->state || signs->other || (!signs->projects && !signs->fused))
                        return false;
        }
        return true;
}

static void set_states(Reading *reading)
{
        g_autofree uint32_t *stated = take_recurrent(reading);
        bool by_tensors = any_layer_has(reading, true), others = any_layer_has(reading, false), any = false;
        bool has_keys = is_set(reading, ALD_GGUF_SSM_KERNEL) || is_set(reading, ALD_GGUF_CONVOLUTION) ||
                        is_set(reading, ALD_GGUF_WKV_LENGTH) || is_set(reading, ALD_GGUF_KDA_LENGTH);

        for (uint32_t i = 0; i < reading->llm->n_layers; i++) {
                bool recurrent = stated       ? stated[i] != 0
                                 : by_tensors ? reading->signs[i].state != NULL
                                              : has_keys && lacks_all_else(reading, i);

                if (!recurrent)
                        continue;
                any = true;
                ald_attention_set_state(&reading->attention, i, find_state(reading, &reading->signs[i]));
                if (stated || is_without_keys(reading, i, others))
                        reading->attention.kv_heads[i] = 0;
        }
        if (has_keys && !any && !attends_throughout(reading))
                ald_attention_note_problem(&reading->attention,
                        ald_gguf_key_name(is_set(reading, ALD_GGUF_SSM_KERNEL)    ? ALD_GGUF_SSM_KERNEL
                                          : is_set(reading, ALD_GGUF_CONVOLUTION) ? ALD_GGUF_CONVOLUTION
                                          : is_set(reading, ALD_GGUF_WKV_LENGTH)  ? ALD_GGUF_WKV_LENGTH
                                                                                  : ALD_GGUF_KDA_LENGTH),
                        "it is not known which layers have such a state");
}

static void refuse_layers_without_heads(Reading *reading)
{
        for (uint32_t i = 0; i < reading->llm->n_layers; i++)
                if ((reading->signs[i].projects ||
                            (reading->signs[i].fused && reading->attention.state_bytes[i] == 0)) &&
                        !reading->signs[i].state && reading->attention.kv_heads[i] == 0)
                        ald_attention_note_problem(&reading->attention, ald_gguf_key_name(ALD_GGUF_KV_HEADS),
                                "it is 0 for a layer that has tensors of keys and values");
}

/* Refuses layers with tensors that are not understood among layers with attention, since they may keep
 * anything. */
static void refuse_unknown_layers(Reading *reading)
{
        bool attends = false;

        for (uint32_t i = 0; i < reading->llm->n_layers; i++)
                attends = attends || reading->signs[i].projects || reading->signs[i].fused;
        for (uint32_t i = 0; attends && i < reading->llm->n_layers; i++) {
                const AldLayerSigns *signs = &reading->signs[i];

                if (signs->other && !signs->projects && !signs->fused && !signs->attends && !signs->state &&
                        reading->attention.kv_heads[i] != 0)
                        ald_attention_note_problem(&reading->attention, signs->other,
                                "it is not known what layers with such a tensor keep");
        }
}

/* Refuses layers that are stated to be draft blocks, but have no tensor of such blocks; they would not be
 * counted. */
static void refuse_layers_as_drafts(Reading *reading)
{
        const AldLlm *llm = reading->llm;

        for (uint32_t i = llm->n_layers; i < llm->n_layers + llm->draft_layers; i++)
                if (reading->signs[i].projects && !reading->signs[i].drafts)
                        ald_attention_note_problem(&reading->attention,
                                ald_gguf_key_name(ALD_GGUF_DRAFT_BLOCKS),
                                "one of these blocks has no tensor that such blocks have, as nextn.eh_proj");
}

/* Refuses models that embed texts, or fill in words anywhere, since they generate no next token. */
static void refuse_encoders(Reading *reading)
{
        uint32_t causal = 1;

        take_one(reading, ALD_GGUF_CAUSAL, &causal);
        if (causal == 0)
                ald_attention_note_problem(&reading->attention, ald_gguf_key_name(ALD_GGUF_CAUSAL),
                        "it is false, so that the model generates no token after another");
}

void ald_gguf_attention_apply(const AldGgufFacts *facts, const AldLayerSigns *signs, AldLlm *llm)
{
        Reading reading = { .facts = facts, .signs = signs, .llm = llm };

        ald_attention_init(&reading.attention, llm->n_layers);
        if (facts->odd)
                ald_attention_note_problem(
                        &reading.attention, facts->odd, "it is not known what layers of this kind keep");
        refuse_encoders(&reading);
        take_lengths(&reading);
        take_index(&reading);
        take_pattern(&reading);
        set_states(&reading);
        refuse_layers_without_heads(&reading);
        refuse_unknown_layers(&reading);
        refuse_layers_as_drafts(&reading);
        reading.attention.signs = signs;
        ald_kv_rules_apply(llm, &reading.attention);
        ald_attention_clear(&reading.attention);
}
