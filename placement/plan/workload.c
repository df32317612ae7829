/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/plan/workload.h"

typedef struct Sums {
        uint64_t layer_bytes, kv_bytes; /* the most */
        double bytes, token_bytes, kv, parameters;
} Sums;

static int add_layer(const AldLlm *llm, uint32_t i, uint64_t kv_bytes, Sums *sums)
{
        const AldLlmLayer *layer = &llm->layers[i];

        if (layer->bytes == ALD_LLM_ABSENT || layer->token_bytes == ALD_LLM_ABSENT ||
                layer->token_parameters == ALD_LLM_ABSENT)
                return -ENODATA;
        sums->layer_bytes = MAX(sums->layer_bytes, layer->bytes);
        sums->kv_bytes = MAX(sums->kv_bytes, kv_bytes);
        sums->bytes += (double) layer->bytes;
        sums->token_bytes += (double) layer->token_bytes;
        sums->parameters += (double) layer->token_parameters;
        sums->kv += (double) kv_bytes;
        return 0;
}

int ald_plan_workload_of_llm(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, AldPlanWorkload *ret)
{
        Sums sums = {};
        uint64_t head = llm->head_tied ? llm->embedding_bytes : llm->head_bytes;

        if (llm->n_layers == 0 || llm->embedding_bytes == ALD_LLM_ABSENT || head == ALD_LLM_ABSENT ||
                llm->embedding_length == ALD_LLM_ABSENT_COUNT || llm->vocabulary == ALD_LLM_ABSENT_COUNT)
                return -ENODATA;
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                uint64_t kv_bytes;
                int r = ald_llm_kv_bytes(llm, i, context, parallel, type_k, type_v, &kv_bytes);

                if (r >= 0)
                        r = add_layer(llm, i, kv_bytes, &sums);
                if (r < 0)
                        return r;
        }
        *ret = (AldPlanWorkload){ .layers = llm->n_layers,
                .layer_bytes = sums.layer_bytes,
                .layer_kv_bytes = sums.kv_bytes,
                .mean_layer_bytes = sums.bytes / llm->n_layers,
                .token_bytes = sums.token_bytes / llm->n_layers,
                .token_kv_bytes = sums.kv / llm->n_layers / parallel,
                .token_parameters = sums.parameters / llm->n_layers,
                .embedding_bytes = llm->embedding_bytes,
                .head_bytes = head,
                .head_parameters = (double) llm->vocabulary * llm->embedding_length,
                .activation_elements = llm->embedding_length,
                .vocabulary = llm->vocabulary,
                .parallel = parallel,
                .context = context };
        return 0;
}
