/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-config.h"
#include "placement/model/safetensors-file.h"
#include "placement/model/safetensors-index.h"
#include "placement/model/safetensors.h"
#include "placement/model/tensor-sums.h"

#define LAYER_DIGITS_MAX 9u
#define WORD_BITS 32u

/* What precedes the number of a layer; layers that process images have other prefixes. */
static const char *const layer_prefixes[] = { "model.layers.", "model.language_model.layers.",
        "language_model.model.layers.", "language_model.layers.", "model.text_model.layers.",
        "model.decoder.layers.", "decoder.layers.", "transformer.h.", "transformer.layers.",
        "transformer.blocks.", "gpt_neox.layers.", "backbone.layers.", "layers.", "h." };
static const char *const embedding_parts[] = { "embed_tokens", "wte", "word_embeddings", "embed_in",
        "tok_embeddings" };
static const char *const head_parts[] = { "lm_head", "embed_out" };
/* Tensors of quantized layers that hold no parameters. */
static const char *const side_parts[] = { "scales", "qzeros", "g_idx", "absmax", "quant_map", "nested_absmax",
        "nested_quant_map", "quant_state", "weight_scale", "weight_scale_2", "weight_scale_inv",
        "weight_zero_point", "weight_shape", "weight_g_idx", "input_scale", "k_scale", "v_scale", "scale",
        "SCB", "weight_format" };

typedef struct Model {
        const char *folder;
        AldHfConfig config;
        AldTensorSums sums;
        char **ret_error;
} Model;

static void model_clear(Model *model)
{
        ald_hf_config_clear(&model->config);
        ald_tensor_sums_clear(&model->sums);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Model, model_clear)

/* Whether a part between periods is one of these. */
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

static bool read_layer(const char *name, uint32_t *ret)
{
        for (size_t i = 0; i < G_N_ELEMENTS(layer_prefixes); i++) {
                const char *at = name + strlen(layer_prefixes[i]);
                uint32_t layer = 0;
                unsigned digits = 0;

                if (!g_str_has_prefix(name, layer_prefixes[i]))
                        continue;
                for (; g_ascii_isdigit(*at) && digits <= LAYER_DIGITS_MAX; at++, digits++)
                        layer = layer * 10 + (uint32_t) (*at - '0');
                *ret = layer;
                return digits > 0 && digits <= LAYER_DIGITS_MAX && *at == '.';
        }
        return false;
}

static bool ends_with_one_of(const char *name, const char *const *ends, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_has_suffix(name, ends[i]))
                        return true;
        return false;
}

/* Absent if several parameters share an element, and it is not stated how many. */
static uint64_t count_parameters(const Model *model, const AldSafetensor *tensor)
{
        static const char *const words[] = { ".qweight", ".weight_packed" };
        uint32_t bits = model->config.packed_bits;
        bool word = strcmp(tensor->type, "I32") == 0 || strcmp(tensor->type, "U32") == 0;
        bool byte = strcmp(tensor->type, "U8") == 0;

        if (has_part(tensor->name, side_parts, G_N_ELEMENTS(side_parts)) ||
                g_str_has_suffix(tensor->name, "_scales"))
                return 0;
        if (byte && g_str_has_suffix(tensor->name, "_blocks")) /* of MXFP4, in pairs */
                return tensor->elements > ALD_LLM_ABSENT / 2 ? ALD_LLM_ABSENT : tensor->elements * 2;
        if ((word && ends_with_one_of(tensor->name, words, G_N_ELEMENTS(words))) ||
                (byte && bits < 8 && g_str_has_suffix(tensor->name, ".weight")))
                return bits == ALD_LLM_ABSENT_COUNT || tensor->bytes > UINT64_MAX / 8
                               ? ALD_LLM_ABSENT
                               : tensor->bytes * 8 / bits;
        if (tensor->type[0] == 'F' || tensor->type[0] == 'B')
                return tensor->elements;
        return strcmp(tensor->type, "I8") == 0 && !model->config.odd_bytes ? tensor->elements
                                                                           : ALD_LLM_ABSENT;
}

static int place_in_layer(const Model *model, AldTensor *tensor, const char **ret_reason)
{
        uint32_t layers = model->config.llm->n_layers;

        tensor->expert = strstr(tensor->name, ".experts.") != NULL;
        if (tensor->layer >= layers + model->config.draft_layers) {
                *ret_reason = "it is of a layer that the model does not have";
                return -EBADMSG;
        }
        tensor->place = tensor->layer < layers ? ALD_TENSOR_LAYER : ALD_TENSOR_DRAFT;
        return 0;
}

static int place(const Model *model, AldTensor *tensor, const char **ret_reason)
{
        if (read_layer(tensor->name, &tensor->layer))
                return place_in_layer(model, tensor, ret_reason);
        if (g_str_has_prefix(tensor->name, "mtp."))
                tensor->place = ALD_TENSOR_DRAFT;
        else if (has_part(tensor->name, embedding_parts, G_N_ELEMENTS(embedding_parts)))
                tensor->place = ALD_TENSOR_EMBEDDING;
        else if (has_part(tensor->name, head_parts, G_N_ELEMENTS(head_parts)) ||
                 strcmp(tensor->name, "output.weight") == 0)
                tensor->place = ALD_TENSOR_HEAD;
        else
                tensor->place = ALD_TENSOR_OTHER;
        return 0;
}

static int add_tensor(const AldSafetensor *found, void *userdata, const char **ret_reason)
{
        Model *model = userdata;
        AldTensor tensor = {
                .name = found->name, .bytes = found->bytes, .parameters = count_parameters(model, found)
        };
        int r = place(model, &tensor, ret_reason);

        if (r < 0)
                return r;
        return ald_tensor_sums_add(&model->sums, &tensor, ret_reason);
}

static int read_shards(Model *model, const char *index_path)
{
        g_auto(AldSafetensorsIndex) index = { 0 };
        int r = ald_safetensors_index_read(index_path, &index, model->ret_error);

        for (unsigned i = 0; r >= 0 && i < index.files->len; i++) {
                g_autofree char *path = g_build_filename(model->folder, index.files->pdata[i], NULL);

                r = ald_safetensors_file_read(path, add_tensor, model, model->ret_error);
        }
        if (r >= 0 && model->sums.sorted->len < index.n_tensors)
                r = ald_file_fail(model->ret_error, -EBADMSG, index_path,
                        "it names %" PRIu32 " tensors, but its files have %u", index.n_tensors,
                        model->sums.sorted->len);
        return r;
}

static int read_tensors(Model *model)
{
        g_autofree char *index = g_build_filename(model->folder, "model.safetensors.index.json", NULL);
        g_autofree char *single = g_build_filename(model->folder, "model.safetensors", NULL);

        return access(index, F_OK) == 0
                       ? read_shards(model, index)
                       : ald_safetensors_file_read(single, add_tensor, model, model->ret_error);
}

/* Engines do not load the head if the embedding replaces it. */
static void settle_head(Model *model)
{
        AldLlm *llm = model->config.llm;
        bool has_embedding = llm->embedding_bytes != ALD_LLM_ABSENT;
        bool has_head = llm->head_bytes != ALD_LLM_ABSENT;

        llm->head_tied = has_embedding && (model->config.tied || (!has_head && !model->config.untied));
        if (llm->head_tied)
                llm->head_bytes = 0;
}

static int finish(Model *model)
{
        const char *twice = NULL;

        if (ald_tensor_sums_finish(&model->sums, &twice) < 0)
                return twice ? ald_file_fail(model->ret_error, -EBADMSG, model->folder,
                                       "there are two tensors %s", twice)
                             : ald_file_fail(model->ret_error, -EBADMSG, model->folder,
                                       "it has no tensors of layers");
        settle_head(model);
        return 0;
}

int ald_safetensors_read(const char *folder, AldLlm **ret, char **ret_error)
{
        g_autofree char *config = g_build_filename(folder, "config.json", NULL);
        g_auto(Model) model = { .folder = folder, .ret_error = ret_error };
        int r;

        r = ald_hf_config_read(config, &model.config, ret_error);
        if (r < 0)
                return r;
        ald_tensor_sums_init(&model.sums, model.config.llm);
        r = read_tensors(&model);
        if (r >= 0)
                r = finish(&model);
        if (r >= 0)
                *ret = g_steal_pointer(&model.config.llm);
        return r;
}
