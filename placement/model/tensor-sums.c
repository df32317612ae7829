/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/model/tensor-sums.h"

typedef struct ExpertSums {
        uint64_t bytes, parameters;
        bool unclear;
} ExpertSums;

#define CHUNK (64u * 1024)

void ald_tensor_sums_init(AldTensorSums *sums, AldLlm *llm)
{
        *sums = (AldTensorSums){ .llm = llm,
                .experts = g_new0(ExpertSums, llm->n_layers),
                .names_left = ALD_TENSOR_NAMES_BYTES,
                .names = g_string_chunk_new(CHUNK),
                .sorted = g_ptr_array_new() };
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                llm->layers[i].bytes = 0;
                llm->layers[i].parameters = 0;
        }
        llm->draft_bytes = 0;
        llm->other_bytes = 0;
}

void ald_tensor_sums_clear(AldTensorSums *sums)
{
        g_free(sums->experts);
        if (sums->names)
                g_string_chunk_free(sums->names);
        if (sums->sorted)
                g_ptr_array_unref(sums->sorted);
        *sums = (AldTensorSums){ 0 };
}

/* Adds to a sum, which becomes absent if either is. */
static int add_or_absent(uint64_t *sum, uint64_t more)
{
        if (*sum == ALD_LLM_ABSENT || more == ALD_LLM_ABSENT) {
                *sum = ALD_LLM_ABSENT;
                return 0;
        }
        return __builtin_add_overflow(*sum, more, sum) || *sum == ALD_LLM_ABSENT ? -ERANGE : 0;
}

int ald_tensor_sums_count(
        AldTensorSums *sums, uint32_t layer, bool expert, uint64_t parameters, const char *name)
{
        int r = add_or_absent(&sums->llm->layers[layer].parameters, parameters);

        if (r >= 0 && expert)
                r = add_or_absent(&sums->experts[layer].parameters, parameters);
        if (parameters == ALD_LLM_ABSENT && !sums->llm->unsized)
                sums->llm->unsized = g_strdup(name);
        return r;
}

const char *ald_tensor_sums_last(const AldTensorSums *sums)
{
        return sums->sorted->pdata[sums->sorted->len - 1];
}

static int add_to_layer(AldTensorSums *sums, const AldTensor *tensor)
{
        AldLlmLayer *layer = &sums->llm->layers[tensor->layer];
        ExpertSums *experts = &sums->experts[tensor->layer];
        int r;

        sums->in_layers = true;
        experts->unclear = experts->unclear || tensor->unclear;
        r = add_or_absent(&layer->bytes, tensor->bytes);
        if (r >= 0 && tensor->expert)
                r = add_or_absent(&experts->bytes, tensor->bytes);
        return r < 0 ? r
                     : ald_tensor_sums_count(
                               sums, tensor->layer, tensor->expert, tensor->parameters, tensor->name);
}

static int add_to_part(uint64_t *bytes, const AldTensor *tensor)
{
        if (*bytes == ALD_LLM_ABSENT)
                *bytes = 0;
        return add_or_absent(bytes, tensor->bytes);
}

static int add_to_model(AldTensorSums *sums, const AldTensor *tensor)
{
        AldLlm *llm = sums->llm;

        switch (tensor->place) {
        case ALD_TENSOR_LAYER:
                return add_to_layer(sums, tensor);
        case ALD_TENSOR_EMBEDDING:
                return add_to_part(&llm->embedding_bytes, tensor);
        case ALD_TENSOR_HEAD:
                return add_to_part(&llm->head_bytes, tensor);
        case ALD_TENSOR_DRAFT:
                return add_to_part(&llm->draft_bytes, tensor);
        case ALD_TENSOR_OTHER:
                break;
        }
        return add_to_part(&llm->other_bytes, tensor);
}

int ald_tensor_sums_add(AldTensorSums *sums, const AldTensor *tensor, const char **ret_reason)
{
        size_t n = strlen(tensor->name) + 1;
        int r;

        if (sums->sorted->len >= ALD_TENSORS_MAX || n > sums->names_left) {
                *ret_reason = "there are more tensors than can be read";
                return -E2BIG;
        }
        sums->names_left -= n;
        g_ptr_array_add(sums->sorted, g_string_chunk_insert(sums->names, tensor->name));
        r = add_to_model(sums, tensor);
        if (r < 0)
                *ret_reason = "the tensors add up to more than 64 bits hold";
        return r;
}

/* Names are sorted, since maliciously chosen ones would slow down a hash table. */
static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static const char *find_twice(AldTensorSums *sums)
{
        char **names = (char **) sums->sorted->pdata;

        if (sums->sorted->len > 0)
                qsort(names, sums->sorted->len, sizeof *names, compare_names);
        for (unsigned i = 1; i < sums->sorted->len; i++)
                if (strcmp(names[i - 1], names[i]) == 0)
                        return names[i];
        return NULL;
}

/* Returns of * used / all, rounded down, even if the product exceeds 64 bits. */
static uint64_t share(uint64_t of, uint32_t used, uint32_t all)
{
        return of / all * used + of % all * used / all;
}

static void find_used(const AldLlm *llm, AldLlmLayer *layer, const ExpertSums *experts)
{
        bool counted = llm->experts != ALD_LLM_ABSENT_COUNT && llm->used_experts != ALD_LLM_ABSENT_COUNT;

        if (experts->unclear || (experts->bytes > 0 && !counted))
                return;
        layer->token_bytes = layer->bytes;
        if (experts->bytes > 0)
                layer->token_bytes -= experts->bytes - share(experts->bytes, llm->used_experts, llm->experts);
        layer->token_parameters = layer->parameters;
        if (experts->bytes > 0 && layer->parameters != ALD_LLM_ABSENT)
                layer->token_parameters -= experts->parameters -
                                           share(experts->parameters, llm->used_experts, llm->experts);
}

int ald_tensor_sums_finish(AldTensorSums *sums, const char **ret_twice)
{
        AldLlm *llm = sums->llm;
        const char *twice = find_twice(sums);

        if (twice || !sums->in_layers) {
                *ret_twice = twice;
                return -EBADMSG;
        }
        for (uint32_t i = 0; i < llm->n_layers; i++)
                find_used(llm, &llm->layers[i], &sums->experts[i]);
        return 0;
}
