/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/model/ggml-types.h"
#include "placement/model/model-needs.h"

static const AldLlmLayer absent_layer = {
        .bytes = ALD_LLM_ABSENT,
        .token_bytes = ALD_LLM_ABSENT,
        .parameters = ALD_LLM_ABSENT,
        .token_parameters = ALD_LLM_ABSENT,
        .kv_heads = ALD_LLM_ABSENT_COUNT,
        .key_length = ALD_LLM_ABSENT_COUNT,
        .value_length = ALD_LLM_ABSENT_COUNT,
        .window = ALD_LLM_ABSENT_COUNT,
};

AldLlm *ald_llm_new(uint32_t n_layers)
{
        AldLlm *llm = g_new(AldLlm, 1);

        *llm = (AldLlm){ .n_layers = n_layers,
                .layers = g_new(AldLlmLayer, n_layers),
                .embedding_bytes = ALD_LLM_ABSENT,
                .head_bytes = ALD_LLM_ABSENT,
                .draft_bytes = ALD_LLM_ABSENT,
                .other_bytes = ALD_LLM_ABSENT,
                .embedding_length = ALD_LLM_ABSENT_COUNT,
                .experts = ALD_LLM_ABSENT_COUNT,
                .used_experts = ALD_LLM_ABSENT_COUNT,
                .feed_forward_length = ALD_LLM_ABSENT_COUNT,
                .vocabulary = ALD_LLM_ABSENT_COUNT,
                .context = ALD_LLM_ABSENT_COUNT,
                .doubt_window = ALD_LLM_ABSENT_COUNT };
        for (uint32_t i = 0; i < n_layers; i++)
                llm->layers[i] = absent_layer;
        return llm;
}

/* If the width of experts is not stated, an expert has that of the layer, as in Mixtral; if it is, the width
 * of the layer is that of layers without experts. */
void ald_llm_set_feed_forward(AldLlm *llm, uint32_t layer, uint32_t expert)
{
        bool has_layer = layer != ALD_LLM_ABSENT_COUNT && layer > 0;
        bool has_expert = expert != ALD_LLM_ABSENT_COUNT && expert > 0;
        uint64_t one = has_expert ? expert : has_layer ? layer : 0, most = has_layer ? layer : 0;

        if (llm->experts != ALD_LLM_ABSENT_COUNT) {
                if (one == 0 || llm->used_experts == ALD_LLM_ABSENT_COUNT)
                        return;
                most = MAX(most, one * llm->used_experts);
        }
        if (most > 0 && most < ALD_LLM_ABSENT_COUNT)
                llm->feed_forward_length = (uint32_t) most;
}

void ald_llm_free(AldLlm *llm)
{
        g_free(llm->name);
        g_free(llm->architecture);
        g_free(llm->layers);
        g_free(llm->kv_problem);
        g_free(llm->window_doubt);
        g_free(llm->unsized);
        g_free(llm);
}

static const uint32_t ggml_ids[ALD_N_KV_TYPES] = {
        [ALD_KV_F32] = ALD_GGML_F32,
        [ALD_KV_F16] = ALD_GGML_F16,
        [ALD_KV_BF16] = ALD_GGML_BF16,
        [ALD_KV_Q8_0] = ALD_GGML_Q8_0,
        [ALD_KV_Q4_0] = ALD_GGML_Q4_0,
        [ALD_KV_Q4_1] = ALD_GGML_Q4_1,
        [ALD_KV_Q5_0] = ALD_GGML_Q5_0,
        [ALD_KV_Q5_1] = ALD_GGML_Q5_1,
        [ALD_KV_IQ4_NL] = ALD_GGML_IQ4_NL,
};

/* Returns the bytes of a token's heads. Engines quantize each head separately, so a head must consist of
 * whole blocks. */
static int row_bytes(AldKvType type, uint32_t heads, uint32_t length, uint64_t *ret)
{
        const AldGgmlType *ggml = (unsigned) type < ALD_N_KV_TYPES ? ald_ggml_type(ggml_ids[type]) : NULL;

        if (!ggml || (heads > 0 && length % ggml->block != 0))
                return -EINVAL;
        return __builtin_mul_overflow((uint64_t) (length / ggml->block) * ggml->bytes, heads, ret) ? -ERANGE
                                                                                                   : 0;
}

static uint64_t round_up(uint64_t tokens)
{
        return (tokens + ALD_LLM_CELLS_STEP - 1) / ALD_LLM_CELLS_STEP * ALD_LLM_CELLS_STEP;
}

static uint64_t count_cells(const AldLlmLayer *layer, uint32_t context)
{
        uint64_t all = round_up(context);

        return layer->window == ALD_LLM_ABSENT_COUNT
                       ? all
                       : MIN(all, round_up((uint64_t) layer->window + ALD_LLM_UBATCH));
}

int ald_llm_kv_bytes(const AldLlm *llm, uint32_t layer, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, uint64_t *ret)
{
        const AldLlmLayer *it = layer < llm->n_layers ? &llm->layers[layer] : NULL;
        uint64_t keys, values, bytes, state;
        int r;

        if (!it)
                return -EINVAL;
        if (llm->kv_problem)
                return -EOPNOTSUPP;
        r = row_bytes(type_k, it->kv_heads, it->key_length, &keys);
        if (r >= 0)
                r = row_bytes(type_v, it->kv_heads, it->value_length, &values);
        if (r < 0)
                return r;
        if (__builtin_add_overflow(keys, values, &bytes) ||
                __builtin_mul_overflow(bytes, count_cells(it, context), &bytes) ||
                __builtin_mul_overflow(bytes, (uint64_t) parallel, &bytes) ||
                __builtin_mul_overflow(it->state_bytes, (uint64_t) parallel, &state) ||
                __builtin_add_overflow(bytes, state, &bytes) || bytes == ALD_LLM_ABSENT)
                return -ERANGE;
        *ret = bytes;
        return 0;
}

const char *ald_llm_window_doubt(const AldLlm *llm, uint32_t context)
{
        bool matters = llm->doubt_window == ALD_LLM_ABSENT_COUNT || context > llm->doubt_window;

        return matters ? llm->window_doubt : NULL;
}

static char *missing_of_layer(const AldLlm *llm, uint32_t i)
{
        const AldLlmLayer *layer = &llm->layers[i];

        if (layer->bytes == ALD_LLM_ABSENT || layer->token_bytes == ALD_LLM_ABSENT)
                return g_strdup_printf("layer %u has experts, and it is not stated how many a token uses", i);
        if (layer->token_parameters == ALD_LLM_ABSENT)
                return llm->unsized ? g_strdup_printf("how many parameters tensor %s holds", llm->unsized)
                                    : g_strdup_printf("how many parameters layer %u has", i);
        return NULL;
}

char *ald_llm_missing_figure(const AldLlm *llm)
{
        char *missing = NULL;

        if (llm->embedding_bytes == ALD_LLM_ABSENT)
                return g_strdup("there is no tensor of the embedding, such as token_embd or embed_tokens");
        if (!llm->head_tied && llm->head_bytes == ALD_LLM_ABSENT)
                return g_strdup("there is no tensor of the head, such as lm_head");
        if (llm->embedding_length == ALD_LLM_ABSENT_COUNT)
                return g_strdup("how wide the model is: embedding_length or hidden_size");
        if (llm->vocabulary == ALD_LLM_ABSENT_COUNT)
                return g_strdup("how many tokens it knows: vocab_size or tokenizer.ggml.tokens");
        for (uint32_t i = 0; i < llm->n_layers && !missing; i++)
                missing = missing_of_layer(llm, i);
        return missing;
}
