/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-attention.h"
#include "placement/model/hf-config.h"
#include "placement/model/packed-weights.h"
#include "placement/model/safetensors-file.h"
#include "placement/model/safetensors-index.h"
#include "placement/model/safetensors.h"
#include "placement/model/tensor-sums.h"

#define LAYER_DIGITS_MAX 9u
#define EXPERTS_DIMS 3u /* one matrix for each expert */

/* Prefixes of the number of a layer; layers that process images have other ones. */
static const char *const layer_prefixes[] = { "model.layers.layers.", "model.layers.",
        "model.language_model.layers.", "language_model.model.layers.", "language_model.layers.",
        "model.text_model.layers.", "model.decoder.layers.", "decoder.layers.", "transformer.encoder.layers.",
        "rwkv.blocks.", "transformer.h.", "transformer.layers.", "transformer.blocks.", "gpt_neox.layers.",
        "backbone.layers.", "layers.", "h." };
static const char *const embedding_parts[] = { "embed_tokens", "wte", "word_embeddings", "embed_in",
        "tok_embeddings" };
static const char *const head_parts[] = { "lm_head", "embed_out" };
typedef struct Model {
        const char *folder;
        AldHfKeys keys;
        uint32_t n_layers, n_drafts; /* n_layers is absent until found if config.json does not state it */
        AldLlm *llm;
        AldTensorSums sums;
        AldLayerSigns *signs; /* of each layer */
        AldPackedWeights packed;
        uint64_t embedding_rows, embedding_columns; /* 0 if unknown */
        char **ret_error;
} Model;

static void model_clear(Model *model)
{
        ald_hf_keys_clear(&model->keys);
        ald_tensor_sums_clear(&model->sums);
        ald_layer_signs_free(model->signs, model->n_layers);
        ald_packed_weights_clear(&model->packed);
        g_clear_pointer(&model->llm, ald_llm_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Model, model_clear)

/* Returns whether a part of the name between periods is one of these. */
static bool has_part(const char *name, const char *const *parts, size_t n_parts)
{
        for (const char *at = name; at; at = strchr(at, '.')) {
                size_t n;

                at += at != name;
                n = strcspn(at, ".");
                for (size_t i = 0; i < n_parts; i++)
                        if (strlen(parts[i]) == n && strncmp(at, parts[i], n) == 0)
                                return true;
        }
        return false;
}

/* Returns whether a prefix of n bytes belongs to the part for text; other parts of a model have layers,
 * too. */
static bool is_of_text(const char *name, size_t n)
{
        static const char *const others[] = { "vision", "visual", "image", "audio", "speech", "talker",
                "code2wav", "token2wav", "encoder", "resampler", "mtp", "draft", "depth_decoder" };
        static const char *const parts[] = { "language_model.", "text_model.", "thinker.", "llm.",
                "language." };
        g_autofree char *prefix = g_strndup(name, n);

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (strstr(prefix, others[i]))
                        return false;
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                if (strstr(prefix, parts[i]))
                        return true;
        return false;
}

/* Returns the name after the prefix of a layer, or NULL. */
static const char *skip_prefix(const char *name)
{
        const char *at = strstr(name, ".layers.");

        for (size_t i = 0; i < G_N_ELEMENTS(layer_prefixes); i++)
                if (g_str_has_prefix(name, layer_prefixes[i]))
                        return name + strlen(layer_prefixes[i]);
        return at && is_of_text(name, (size_t) (at - name) + 1) ? at + strlen(".layers.") : NULL;
}

/* Reads the number of a layer. Returns the rest of the name, or NULL if it is not of a layer. */
static const char *read_layer(const char *name, uint32_t *ret)
{
        const char *at = skip_prefix(name);
        uint32_t layer = 0;
        unsigned digits = 0;

        for (; at && g_ascii_isdigit(*at) && digits <= LAYER_DIGITS_MAX; at++, digits++)
                layer = layer * 10 + (uint32_t) (*at - '0');
        *ret = layer;
        return digits > 0 && digits <= LAYER_DIGITS_MAX && *at == '.' ? at + 1 : NULL;
}

/* Returns whether the tensor holds experts. Many families have one tensor for all experts of a layer, which
 * is not always named after them: it is switch_mlp in MLX, input_linear in Granite, moe.up_proj in Step3. */
static bool is_expert(const Model *model, const AldSafetensor *found)
{
        return strstr(found->name, ".experts.") ||
               (found->n_dims == EXPERTS_DIMS && model->llm->experts != ALD_LLM_ABSENT_COUNT &&
                       found->dims[0] == model->llm->experts);
}

static int place_in_layer(
        const Model *model, const AldSafetensor *found, AldTensor *tensor, const char **ret_reason)
{
        tensor->expert = is_expert(model, found);
        if (tensor->layer >= model->n_layers + model->n_drafts) {
                *ret_reason = "it is of a layer that the model does not have";
                return -EBADMSG;
        }
        tensor->place = tensor->layer < model->n_layers ? ALD_TENSOR_LAYER : ALD_TENSOR_DRAFT;
        return 0;
}

static bool is_embedding(const char *name)
{
        static const char *const whole[] = { "backbone.embeddings.weight", "model.embeddings.weight",
                "rwkv.embeddings.weight", "embeddings.weight", "emb.weight" };

        for (size_t i = 0; i < G_N_ELEMENTS(whole); i++)
                if (strcmp(name, whole[i]) == 0)
                        return true;
        return has_part(name, embedding_parts, G_N_ELEMENTS(embedding_parts));
}

static bool is_head(const char *name)
{
        static const char *const whole[] = { "output.weight", "head.weight", "language_model.output.weight",
                "transformer.output_layer.weight" };

        for (size_t i = 0; i < G_N_ELEMENTS(whole); i++)
                if (strcmp(name, whole[i]) == 0)
                        return true;
        return has_part(name, head_parts, G_N_ELEMENTS(head_parts));
}

static void place_outside(AldTensor *tensor)
{
        static const char *const draft_parts[] = { "mtp", "mtp_layers" };
        static const char *const other_parts[] = { "talker", "code2wav", "token2wav" };

        tensor->place = ALD_TENSOR_OTHER;
        if (has_part(tensor->name, draft_parts, G_N_ELEMENTS(draft_parts)))
                tensor->place = ALD_TENSOR_DRAFT;
        else if (has_part(tensor->name, other_parts, G_N_ELEMENTS(other_parts)))
                return;
        else if (is_embedding(tensor->name))
                tensor->place = ALD_TENSOR_EMBEDDING;
        else if (is_head(tensor->name))
                tensor->place = ALD_TENSOR_HEAD;
}

static uint32_t rows_of(const Model *model, const AldSafetensor *found, AldLayerSign sign)
{
        bool is_last = sign == ALD_SIGN_KEY_NORM && found->n_dims > 0 && found->n_dims <= ALD_SAFETENSOR_DIMS;
        uint64_t length = is_last ? found->dims[found->n_dims - 1] : 0;

        if (sign == ALD_SIGN_KEY_NORM)
                return length > 0 && length < ALD_LLM_ABSENT_COUNT ? (uint32_t) length : ALD_LLM_ABSENT_COUNT;
        return ald_packed_weights_rows(&model->packed, found);
}

/* Returns how many tokens a convolution covers: the length of its rows, which is the last dimension, or in
 * MLX the one before; 0 if unknown. */
static uint32_t kernel_of(const AldSafetensor *found)
{
        unsigned n = MIN(found->n_dims, ALD_SAFETENSOR_DIMS);
        uint64_t tokens;

        if (n < 2)
                return 0;
        tokens = n > 2 && found->dims[n - 1] == 1 ? found->dims[n - 2] : found->dims[n - 1];
        return tokens < UINT32_MAX ? (uint32_t) tokens : 0;
}

static void note_embedding(Model *model, const AldSafetensor *found)
{
        bool is_plain = found->type[0] == 'F' || found->type[0] == 'B';

        if (found->n_dims != 2 || !g_str_has_suffix(found->name, ".weight"))
                return;
        model->embedding_rows = found->dims[0];
        model->embedding_columns = is_plain ? found->dims[1] : 0;
}

static int add_tensor(const AldSafetensor *found, void *userdata, const char **ret_reason)
{
        Model *model = userdata;
        AldTensor tensor = { .name = found->name, .bytes = found->bytes };
        const char *part = read_layer(found->name, &tensor.layer);
        bool waits = ald_packed_weights_is_deferred(&model->packed, found, &tensor.parameters);
        bool is_side = !waits && tensor.parameters == 0;
        int r = 0;

        if (waits)
                tensor.parameters = 0;
        if (part)
                r = place_in_layer(model, found, &tensor, ret_reason);
        else
                place_outside(&tensor);
        if (r >= 0)
                r = ald_tensor_sums_add(&model->sums, &tensor, ret_reason);
        if (r < 0)
                return r;
        if (waits || is_side)
                ald_packed_weights_note(&model->packed, found, &tensor, ald_tensor_sums_last(&model->sums));
        if (tensor.place == ALD_TENSOR_EMBEDDING)
                note_embedding(model, found);
        if (tensor.place == ALD_TENSOR_LAYER) {
                AldLayerSign sign = ald_layer_sign_of_safetensors(part);
                bool is_packed = waits || is_side;

                ald_layer_signs_note(
                        &model->signs[tensor.layer], sign, found->name, rows_of(model, found, sign));
                if (sign == ALD_SIGN_CONVOLUTION)
                        model->signs[tensor.layer].kernel = MAX(
                                model->signs[tensor.layer].kernel, kernel_of(found));
                if (is_packed &&
                        (sign == ALD_SIGN_KEYS || sign == ALD_SIGN_VALUES || sign == ALD_SIGN_LATENT ||
                                sign == ALD_SIGN_INDEX || sign == ALD_SIGN_FUSED))
                        model->signs[tensor.layer].is_packed = true;
        }
        return 0;
}

/* Raises n_layers to include the layer of a tensor, for models whose config.json does not state the
 * number. */
static int count_layer(const AldSafetensor *found, void *userdata, const char **ret_reason)
{
        Model *model = userdata;
        uint32_t layer = 0;

        if (read_layer(found->name, &layer) &&
                (model->n_layers == ALD_LLM_ABSENT_COUNT || layer >= model->n_layers))
                model->n_layers = layer + 1;
        return 0;
}

static int read_shards(Model *model, const char *index_path, AldSafetensorFound found)
{
        g_auto(AldSafetensorsIndex) index = { 0 };
        int r = ald_safetensors_index_read(index_path, &index, model->ret_error);

        for (unsigned i = 0; r >= 0 && i < index.files->len; i++) {
                g_autofree char *path = g_build_filename(model->folder, index.files->pdata[i], NULL);

                r = ald_safetensors_file_read(path, found, model, model->ret_error);
        }
        if (r >= 0 && found == add_tensor && model->sums.sorted->len < index.n_tensors)
                r = ald_file_fail(model->ret_error, -EBADMSG, index_path,
                        "it names %" PRIu32 " tensors, but its files have %u", index.n_tensors,
                        model->sums.sorted->len);
        return r;
}

static int read_tensors(Model *model, AldSafetensorFound found)
{
        g_autofree char *index = g_build_filename(model->folder, "model.safetensors.index.json", NULL);
        g_autofree char *single = g_build_filename(model->folder, "model.safetensors", NULL);

        return access(index, F_OK) == 0 ? read_shards(model, index, found)
                                        : ald_safetensors_file_read(single, found, model, model->ret_error);
}

/* Sets whether the embedding replaces the head, which engines do not load then. */
static void settle_head(Model *model)
{
        AldLlm *llm = model->llm;
        json_t *tied = ald_hf_any(&model->keys, "tie_word_embeddings");
        bool has_embedding = llm->embedding_bytes != ALD_LLM_ABSENT;
        bool has_head = llm->head_bytes != ALD_LLM_ABSENT;

        llm->head_tied = has_embedding && (json_is_true(tied) || (!has_head && !json_is_false(tied)));
        if (llm->head_tied)
                llm->head_bytes = 0;
}

/* Takes sizes that config.json leaves to a default from the embedding. */
static void settle_embedding(Model *model)
{
        AldLlm *llm = model->llm;

        if (llm->vocabulary == ALD_LLM_ABSENT_COUNT && model->embedding_rows > 0 &&
                model->embedding_rows < ALD_LLM_ABSENT_COUNT)
                llm->vocabulary = (uint32_t) model->embedding_rows;
        if (llm->embedding_length == ALD_LLM_ABSENT_COUNT && model->embedding_columns > 0 &&
                model->embedding_columns < ALD_LLM_ABSENT_COUNT)
                llm->embedding_length = (uint32_t) model->embedding_columns;
}

static int finish_model(Model *model)
{
        const char *twice = NULL;

        if (ald_packed_weights_finish(&model->packed, &model->sums) < 0)
                return ald_file_fail(model->ret_error, -ERANGE, model->folder,
                        "the tensors add up to more than 64 bits hold");
        if (ald_tensor_sums_finish(&model->sums, &twice) < 0)
                return twice ? ald_file_fail(model->ret_error, -EBADMSG, model->folder,
                                       "there are two tensors %s", twice)
                             : ald_file_fail(model->ret_error, -EBADMSG, model->folder,
                                       "it has no tensors of layers");
        settle_head(model);
        settle_embedding(model);
        return ald_hf_attention_apply(&model->keys, model->signs, model->llm, model->ret_error);
}

static int find_layers(Model *model)
{
        g_autofree char *places = ald_hf_places(&model->keys);
        int r = ald_hf_config_layers(&model->keys, &model->n_layers, &model->n_drafts, model->ret_error);

        if (r < 0 || model->n_layers != ALD_LLM_ABSENT_COUNT)
                return r;
        r = read_tensors(model, count_layer);
        if (r < 0)
                return r;
        if (model->n_layers == ALD_LLM_ABSENT_COUNT)
                return ald_file_fail(model->ret_error, -EBADMSG, model->keys.path,
                        "num_hidden_layers is not stated (looked for in %s), and no tensor is of a layer",
                        places);
        if (model->n_layers <= model->n_drafts || model->n_layers - model->n_drafts > ALD_LLM_LAYERS_MAX)
                return ald_file_fail(model->ret_error, -EBADMSG, model->keys.path,
                        "its tensors are of %" PRIu32 " layers", model->n_layers);
        model->n_layers -= model->n_drafts;
        return 0;
}

int ald_safetensors_read(const char *folder, AldLlm **ret, char **ret_error)
{
        g_autofree char *config = g_build_filename(folder, "config.json", NULL);
        g_auto(Model) model = { .folder = folder, .ret_error = ret_error };
        int r;

        r = ald_hf_keys_read(config, &model.keys, ret_error);
        if (r >= 0)
                r = find_layers(&model);
        if (r >= 0)
                r = ald_hf_config_read(&model.keys, model.n_layers, &model.llm, ret_error);
        if (r < 0)
                return r;
        ald_tensor_sums_init(&model.sums, model.llm);
        ald_packed_weights_init(&model.packed, &model.keys);
        model.signs = ald_layer_signs_new(model.n_layers);
        r = read_tensors(&model, add_tensor);
        if (r >= 0)
                r = finish_model(&model);
        if (r >= 0)
                *ret = g_steal_pointer(&model.llm);
        return r;
}
