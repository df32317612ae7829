/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/kv-types.h"
#include "placement/plan/layer-sizes.h"
#include "placement/plan/method.h"
#include "placement/plan/workload.h"

#define FP16_BYTES 2
#define SLACK 1.0001 /* tolerance, since means of many layers are rounded */

static void set_if_absent(uint64_t *number, uint64_t value)
{
        if (*number == ALD_ABSENT_UINT64)
                *number = value;
}

static void set_mean_if_absent(double *number, double value)
{
        if (isnan(*number))
                *number = value;
}

static bool can_keep(const AldPlanEngine *engine, const char *name)
{
        AldKvType type;

        return !name || (ald_kv_type_from_name(name, &type) >= 0 && ald_plan_engine_keeps(engine, type));
}

int ald_plan_workload_check(
        const AldPlanWorkload *workload, const AldPlanEngine *engine, const char **ret_reason)
{
        bool has_layers = engine->method->has_layers;
        const char *wrong = NULL;

        if (has_layers && workload->layers == ALD_ABSENT_UINT64)
                wrong = "Layers is missing";
        else if (has_layers && workload->layer_bytes == ALD_ABSENT_UINT64)
                wrong = "LayerBytes is missing";
        else if (has_layers && workload->activation_elements == ALD_ABSENT_UINT64)
                wrong = "ActivationElements is missing";
        else if (!has_layers && workload->message_bytes == ALD_ABSENT_UINT64)
                wrong = "MessageBytes is missing";
        else if (has_layers && !can_keep(engine, workload->kv_type_k))
                wrong = "The engine cannot keep keys in KvTypeK";
        else if (has_layers && !can_keep(engine, workload->kv_type_v))
                wrong = "The engine cannot keep values in KvTypeV";
        if (!wrong)
                return 0;
        *ret_reason = wrong;
        return -EINVAL;
}

int ald_plan_workload_complete(AldPlanWorkload *workload, const char **ret_reason)
{
        g_autofree AldPlanLayerSizes *sizes = NULL;

        if (workload->layers == ALD_ABSENT_UINT64) {
                if (!workload->layer_sizes)
                        return 0;
                *ret_reason = "LayerSizes needs Layers";
                return -EINVAL;
        }
        set_if_absent(&workload->layer_kv_bytes, 0);
        set_if_absent(&workload->embedding_bytes, 0);
        set_if_absent(&workload->head_bytes, 0);
        set_if_absent(&workload->vocabulary, 0);
        set_if_absent(&workload->parallel, 1);
        set_if_absent(&workload->context, 0);
        set_if_absent(&workload->batch_tokens, ALD_LLM_UBATCH);
        set_mean_if_absent(&workload->mean_layer_bytes, (double) workload->layer_bytes);
        set_mean_if_absent(&workload->token_bytes, workload->mean_layer_bytes);
        set_mean_if_absent(
                &workload->token_kv_bytes, (double) workload->layer_kv_bytes / (double) workload->parallel);
        set_mean_if_absent(&workload->token_parameters, workload->token_bytes / FP16_BYTES);
        set_mean_if_absent(&workload->head_parameters, (double) workload->head_bytes / FP16_BYTES);
        if (workload->mean_layer_bytes > (double) workload->layer_bytes * SLACK) {
                *ret_reason = "MeanLayerBytes is more than LayerBytes";
                return -EINVAL;
        }
        if (workload->token_bytes > workload->mean_layer_bytes * SLACK) {
                *ret_reason = "TokenBytes is more than MeanLayerBytes";
                return -EINVAL;
        }
        if ((workload->experts == ALD_ABSENT_UINT64) != (workload->used_experts == ALD_ABSENT_UINT64)) {
                *ret_reason = "Experts and UsedExperts are stated together, or neither is";
                return -EINVAL;
        }
        if (workload->experts != ALD_ABSENT_UINT64 && workload->used_experts > workload->experts) {
                *ret_reason = "UsedExperts is more than Experts";
                return -EINVAL;
        }
        if (workload->layer_sizes)
                sizes = ald_plan_layer_sizes_new(workload, ret_reason);
        return workload->layer_sizes && !sizes ? -EINVAL : 0;
}

uint64_t ald_plan_ends_bytes(const AldPlanWorkload *workload, const AldPlanEngine *engine)
{
        bool is_once = engine->method->has_ends && workload->head_tied == 1;

        return workload->embedding_bytes + workload->head_bytes -
               (is_once ? MIN(workload->embedding_bytes, workload->head_bytes) : 0);
}

typedef struct Sums {
        uint64_t *weights, *kv;        /* [layer] */
        uint64_t layer_bytes, kv_most; /* the most of any layer */
        uint64_t kv_heads;             /* the fewest of any layer, or absent */
        double bytes, token_bytes, kv_all, parameters;
} Sums;

static void sums_clear(Sums *sums)
{
        g_free(sums->weights);
        g_free(sums->kv);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sums, sums_clear)

static int add_layer(const AldLlm *llm, uint32_t i, uint64_t kv_bytes, Sums *sums)
{
        const AldLlmLayer *layer = &llm->layers[i];

        if (layer->bytes == ALD_LLM_ABSENT || layer->token_bytes == ALD_LLM_ABSENT ||
                layer->token_parameters == ALD_LLM_ABSENT)
                return -ENODATA;
        sums->weights[i] = layer->bytes;
        sums->kv[i] = kv_bytes;
        sums->layer_bytes = MAX(sums->layer_bytes, layer->bytes);
        sums->kv_most = MAX(sums->kv_most, kv_bytes);
        sums->bytes += (double) layer->bytes;
        sums->token_bytes += (double) layer->token_bytes;
        sums->parameters += (double) layer->token_parameters;
        sums->kv_all += (double) kv_bytes;
        if (layer->kv_heads != ALD_LLM_ABSENT_COUNT && layer->kv_heads > 0)
                sums->kv_heads = MIN(sums->kv_heads, layer->kv_heads);
        return 0;
}

/* The size of all keys and values if it is stated, else what determines it. */
typedef struct KvSizes {
        uint64_t stated;
        uint32_t context, parallel;
        AldKvType type_k, type_v;
} KvSizes;

static int find_kv_bytes(const AldLlm *llm, uint32_t i, const KvSizes *sizes, uint64_t *ret)
{
        if (sizes->stated == ALD_ABSENT_UINT64)
                return ald_llm_kv_bytes(
                        llm, i, sizes->context, sizes->parallel, sizes->type_k, sizes->type_v, ret);
        *ret = sizes->stated / llm->n_layers + (sizes->stated % llm->n_layers > 0);
        return 0;
}

static int make_workload(const AldLlm *llm, const KvSizes *sizes, AldPlanWorkload *ret)
{
        g_auto(Sums) sums = { .weights = g_new0(uint64_t, llm->n_layers),
                .kv = g_new0(uint64_t, llm->n_layers),
                .kv_heads = ALD_ABSENT_UINT64 };
        uint64_t other = llm->other_bytes == ALD_LLM_ABSENT ? 0 : llm->other_bytes, beside;
        uint64_t head = llm->head_tied ? llm->embedding_bytes : llm->head_bytes;
        bool is_mixture = llm->experts != ALD_LLM_ABSENT_COUNT && llm->used_experts != ALD_LLM_ABSENT_COUNT;

        if (llm->n_layers == 0 || llm->embedding_bytes == ALD_LLM_ABSENT || head == ALD_LLM_ABSENT ||
                llm->embedding_length == ALD_LLM_ABSENT_COUNT || llm->vocabulary == ALD_LLM_ABSENT_COUNT)
                return -ENODATA;
        if (__builtin_add_overflow(llm->embedding_bytes, other, &beside))
                return -ERANGE;
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                uint64_t kv_bytes;
                int r = find_kv_bytes(llm, i, sizes, &kv_bytes);

                if (r >= 0)
                        r = add_layer(llm, i, kv_bytes, &sums);
                if (r < 0)
                        return r;
        }
        *ret = (AldPlanWorkload){ .layers = llm->n_layers,
                .draft_layers = llm->draft_layers > 0 ? llm->draft_layers : ALD_ABSENT_UINT64,
                .layer_bytes = sums.layer_bytes,
                .layer_kv_bytes = sums.kv_most,
                .layer_sizes = (const char *const *) ald_plan_layer_sizes_to_text(
                        sums.weights, sums.kv, llm->n_layers),
                .mean_layer_bytes = sums.bytes / llm->n_layers,
                .token_bytes = sums.token_bytes / llm->n_layers,
                .token_kv_bytes = sums.kv_all / llm->n_layers / sizes->parallel,
                .token_parameters = sums.parameters / llm->n_layers,
                .experts = is_mixture ? llm->experts : ALD_ABSENT_UINT64,
                .used_experts = is_mixture ? llm->used_experts : ALD_ABSENT_UINT64,
                .embedding_bytes = beside,
                .head_bytes = head,
                .head_tied = llm->head_tied,
                .head_parameters = (double) llm->vocabulary * llm->embedding_length,
                .activation_elements = llm->embedding_length,
                .vocabulary = llm->vocabulary,
                .kv_heads = sums.kv_heads,
                .message_bytes = ALD_ABSENT_UINT64,
                .feed_forward_elements = llm->feed_forward_length == ALD_LLM_ABSENT_COUNT
                                                 ? ALD_ABSENT_UINT64
                                                 : llm->feed_forward_length,
                .batch_tokens = ALD_LLM_UBATCH,
                .parallel = sizes->parallel,
                .context = sizes->context };
        return 0;
}

int ald_plan_workload_of_llm(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, AldPlanWorkload *ret)
{
        const KvSizes sizes = { .stated = ALD_ABSENT_UINT64,
                .context = context,
                .parallel = parallel,
                .type_k = type_k,
                .type_v = type_v };

        return make_workload(llm, &sizes, ret);
}

int ald_plan_workload_of_llm_and_kv(
        const AldLlm *llm, uint64_t kv_bytes, uint32_t context, uint32_t parallel, AldPlanWorkload *ret)
{
        const KvSizes sizes = { .stated = kv_bytes, .context = context, .parallel = parallel };

        return make_workload(llm, &sizes, ret);
}

void ald_plan_workload_clear(AldPlanWorkload *workload)
{
        g_strfreev((char **) workload->layer_sizes);
        workload->layer_sizes = NULL;
}
