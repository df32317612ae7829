/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-config.h"

/* Families of models use different keys for the same thing. */
static const char *const layers_keys[] = { "num_hidden_layers", "n_layer", "n_layers", "num_layers",
        "num_transformer_layers", NULL };
static const char *const draft_keys[] = { "num_nextn_predict_layers", NULL };
static const char *const embedding_keys[] = { "hidden_size", "n_embd", "d_model", "model_dim", NULL };
static const char *const context_keys[] = { "max_position_embeddings", "n_positions", "max_seq_len",
        "seq_length", "n_ctx", "max_context_length", NULL };
static const char *const feed_forward_keys[] = { "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size",
        NULL };
static const char *const expert_feed_forward_keys[] = { "moe_intermediate_size", NULL };
static const char *const vocabulary_keys[] = { "vocab_size", "padded_vocab_size", NULL };
static const char *const experts_keys[] = { "num_local_experts", "num_experts", "n_routed_experts",
        "moe_num_experts", NULL };
static const char *const used_keys[] = { "num_experts_per_tok", "num_experts_per_token", "top_k_experts",
        "experts_per_token", "moe_k", "moe_topk", "moe_top_k", NULL };

static const char *find_architecture(const AldHfKeys *keys)
{
        for (unsigned i = keys->n_levels; i > 0; i--) {
                const char *name = ald_hf_name(keys->levels[i - 1], "model_type");

                if (name)
                        return name;
        }
        return NULL;
}

int ald_hf_config_layers(const AldHfKeys *keys, uint32_t *ret_layers, uint32_t *ret_drafts, char **ret_error)
{
        uint32_t layers = ALD_LLM_ABSENT_COUNT, drafts = 0, most;
        int r = 0;

        if (!find_architecture(keys))
                return ald_file_fail(
                        ret_error, -EBADMSG, keys->path, "model_type is missing, too long or not printable");
        for (unsigned i = keys->n_levels; i > 0 && r >= 0 && layers == ALD_LLM_ABSENT_COUNT; i--)
                r = ald_hf_read_number(keys, keys->levels[i - 1], layers_keys, &layers, ret_error);
        if (r >= 0)
                r = ald_hf_read_number(keys, ald_hf_text(keys), draft_keys, &drafts, ret_error);
        if (r < 0)
                return r;
        if (layers == 0)
                return ald_file_fail(ret_error, -EBADMSG, keys->path, "num_hidden_layers is 0");
        most = layers == ALD_LLM_ABSENT_COUNT ? drafts : MAX(layers, drafts);
        if (most > ALD_LLM_LAYERS_MAX)
                return ald_file_fail(ret_error, -E2BIG, keys->path,
                        "there are %" PRIu32 " layers; at most %u can be read", most, ALD_LLM_LAYERS_MAX);
        *ret_layers = layers;
        *ret_drafts = drafts;
        return 0;
}

static int take_experts(const AldHfKeys *keys, AldLlm *llm, char **ret_error)
{
        uint32_t experts = 0, used = ALD_LLM_ABSENT_COUNT;
        json_t *text = ald_hf_text(keys), *part = json_object_get(text, "ffn_config"); /* of DBRX */
        json_t *of = json_is_object(part) ? part : text;
        int r = ald_hf_read_number(keys, of, experts_keys, &experts, ret_error);

        if (r >= 0)
                r = ald_hf_read_number(keys, of, used_keys, &used, ret_error);
        if (r < 0 || experts == 0)
                return r;
        if (used != ALD_LLM_ABSENT_COUNT && (used > experts || used == 0))
                return ald_file_fail(ret_error, -EBADMSG, keys->path,
                        "%s: it uses %" PRIu32 " of %" PRIu32 " experts", used_keys[0], used, experts);
        llm->experts = experts;
        llm->used_experts = used;
        return 0;
}

int ald_hf_config_read(const AldHfKeys *keys, uint32_t n_layers, AldLlm **ret, char **ret_error)
{
        g_autoptr(AldLlm) llm = ald_llm_new(n_layers);
        json_t *text = ald_hf_text(keys);
        int r;

        llm->format = ALD_LLM_SAFETENSORS;
        llm->architecture = g_strdup(find_architecture(keys));
        if (!llm->architecture)
                return ald_file_fail(
                        ret_error, -EBADMSG, keys->path, "model_type is missing, too long or not printable");
        llm->name = g_strdup(ald_hf_name(keys->levels[0], "_name_or_path"));
        r = ald_hf_read_number(keys, text, embedding_keys, &llm->embedding_length, ret_error);
        if (r >= 0)
                r = ald_hf_read_number(keys, text, vocabulary_keys, &llm->vocabulary, ret_error);
        if (r >= 0)
                r = take_experts(keys, llm, ret_error);
        if (r < 0)
                return r;
        llm->context = ald_hf_most(text, context_keys);
        ald_llm_set_feed_forward(
                llm, ald_hf_most(text, feed_forward_keys), ald_hf_most(text, expert_feed_forward_keys));
        *ret = g_steal_pointer(&llm);
        return 0;
}
