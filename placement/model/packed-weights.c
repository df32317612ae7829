/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "placement/model/packed-weights.h"

#define ABSENT ALD_LLM_ABSENT
#define WORD_BITS 32u
#define PAIR_BITS 4u /* bits of each of two parameters in a byte */
#define TERNARY_BITS 2u
#define TILE_SIDE 16u /* rows and columns of a tile of EXL3 */
#define TILE (TILE_SIDE * TILE_SIDE)
#define NVFP4_BYTES 8u /* bytes for each scale */
#define MXFP4_BYTES 16u
#define MXFP8_BYTES 32u

typedef struct PackedTensor {
        const char *name; /* owned by the sums */
        uint32_t layer;
        bool expert, is_byte;
        uint64_t elements, bytes, rows, columns; /* columns is 0 if it is not a matrix */
} PackedTensor;

/* Parts of names of tensors that hold no parameters. */
static const char *const side_parts[] = { "scales", "biases", "qzeros", "g_idx", "absmax", "quant_map",
        "nested_absmax", "nested_quant_map", "quant_state", "weight_shape", "weight_g_idx", "scale", "SCB",
        "weight_format", "q_invperm", "q_perm", "q_scale", "q_scale_max", "q_groups", "q_group_map", "suh",
        "svh", "su", "sv", "mcg", "mul1", "bitmask", "row_offsets" };
static const char *const side_ends[] = { "_scale", "_scales", "_scale_inv", "_scale_2", "_zero_point",
        "_scale_max" };
static const char *const bits_names[] = { "bits", "w_bit", "num_bits", "weight_bits", NULL };
static const char *const group_names[] = { "group_size", "q_group_size", NULL };

static json_t *find_config(const AldHfKeys *keys)
{
        static const char *const names[] = { "quantization_config", "quantization", "compression_config" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                json_t *config = ald_hf_any(keys, names[i]);

                if (json_is_object(config))
                        return config;
        }
        return NULL;
}

void ald_packed_weights_init(AldPackedWeights *packed, const AldHfKeys *keys)
{
        json_t *experts = ald_hf_any(keys, "expert_dtype");

        *packed = (AldPackedWeights){ .config = find_config(keys),
                .has_odd_bytes = experts != NULL,
                .has_paired_experts = g_strcmp0(json_string_value(experts), "fp4") == 0,
                .weights = g_array_new(FALSE, FALSE, sizeof(PackedTensor)),
                .beside = g_array_new(FALSE, FALSE, sizeof(PackedTensor)) };
}

void ald_packed_weights_clear(AldPackedWeights *packed)
{
        g_clear_pointer(&packed->weights, g_array_unref);
        g_clear_pointer(&packed->beside, g_array_unref);
}

/* Returns whether the tensor is a setting of a module of HQQ. */
static bool is_setting(const AldPackedWeights *packed, const char *name)
{
        static const char *const parts[] = { "zero", "shape", "nbits", "axis", "packing", "group_size",
                "compute_dtype", "optimize", "round_zero", "channel_wise", "quant_scale", "quant_zero",
                "stores_quant_config", "unpack_view_dtype", "view_as_float", "encoded_state_dict",
                "offload_meta", "meta", NULL };
        const char *method = json_string_value(json_object_get(packed->config, "quant_method"));
        const char *end = strrchr(name, '.');

        return end && g_strcmp0(method, "hqq") == 0 && g_strv_contains(parts, end + 1);
}

/* Returns whether the tensor holds no parameters, according to its name. */
static bool is_side(const AldPackedWeights *packed, const char *name)
{
        for (const char *at = name; at; at = strchr(at, '.')) {
                size_t n;

                at += at != name;
                n = strcspn(at, ".");
                for (size_t i = 0; i < G_N_ELEMENTS(side_parts); i++)
                        if (strlen(side_parts[i]) == n && strncmp(at, side_parts[i], n) == 0)
                                return true;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(side_ends); i++)
                if (g_str_has_suffix(name, side_ends[i]))
                        return true;
        return is_setting(packed, name);
}

static uint64_t times(uint64_t a, uint64_t b)
{
        return a == ABSENT || __builtin_mul_overflow(a, b, &a) ? ABSENT : a;
}

static uint64_t columns_of(const AldSafetensor *tensor)
{
        return tensor->n_dims == 2 ? tensor->dims[1] : 0;
}

/* Returns whether the tensor is a column of pairs as packed by bitsandbytes, whose elements may have any
 * type. */
static bool is_column_of_pairs(const AldPackedWeights *packed, const AldSafetensor *tensor)
{
        return ald_hf_is_true(packed->config, "load_in_4bit") && columns_of(tensor) == 1 &&
               g_str_has_suffix(tensor->name, ".weight");
}

static bool is_packed(const AldSafetensor *tensor)
{
        static const char *const word_ends[] = { ".weight", ".weight_packed", ".W_q", ".qweight",
                ".q_weight" };
        bool is_word = strcmp(tensor->type, "I32") == 0 || strcmp(tensor->type, "U32") == 0;

        for (size_t i = 0; i < G_N_ELEMENTS(word_ends); i++)
                if (g_str_has_suffix(tensor->name, word_ends[i]))
                        return is_word || (strcmp(tensor->type, "U8") == 0 && i < 3);
        return false;
}

/* Returns the parameters of a tensor of signed bytes. In models whose experts are stated to be FP4, their
 * bytes hold pairs. */
static uint64_t count_signed_bytes(const AldPackedWeights *packed, const AldSafetensor *tensor)
{
        if (packed->has_paired_experts && strstr(tensor->name, ".experts."))
                return times(tensor->elements, 2);
        return packed->has_odd_bytes ? ABSENT : tensor->elements;
}

bool ald_packed_weights_is_deferred(
        const AldPackedWeights *packed, const AldSafetensor *tensor, uint64_t *ret)
{
        *ret = ABSENT;
        if (is_side(packed, tensor->name))
                *ret = 0;
        else if (strcmp(tensor->type, "U8") == 0 && g_str_has_suffix(tensor->name, "_blocks"))
                *ret = times(tensor->elements, 2); /* of MXFP4 */
        else if (g_str_has_suffix(tensor->name, ".trellis") && tensor->n_dims == 3)
                *ret = times(times(tensor->dims[0], tensor->dims[1]), TILE); /* of EXL3 */
        else if (is_column_of_pairs(packed, tensor))
                *ret = times(tensor->bytes, 2);
        else if (is_packed(tensor))
                return true;
        else if (tensor->type[0] == 'F' || tensor->type[0] == 'B')
                *ret = tensor->elements;
        else if (strcmp(tensor->type, "I8") == 0)
                *ret = count_signed_bytes(packed, tensor);
        return false;
}

/* Returns a setting of this module, as in MLX, or else that of all modules; 0 if neither is stated. */
static uint32_t number_of(const AldPackedWeights *packed, const char *module, const char *const *names)
{
        json_t *own = json_object_get(packed->config, module);
        const char *name = NULL;
        uint32_t number = 0;

        if (json_is_object(own) && ald_hf_is_count(ald_hf_find(own, names, &name), &number))
                return number;
        return ald_hf_is_count(ald_hf_find(packed->config, names, &name), &number) ? number : 0;
}

/* Returns the bits of all groups of compressed-tensors; 0 if they differ or there are none. */
static uint32_t bits_of_groups(const AldPackedWeights *packed)
{
        json_t *groups = json_object_get(packed->config, "config_groups"), *group;
        uint32_t bits = 0, one = 0;
        const char *key;

        json_object_foreach(groups, key, group) {
                json_t *number = json_object_get(json_object_get(group, "weights"), "num_bits");

                if (!ald_hf_is_count(number, &one) || (bits != 0 && one != bits))
                        return 0;
                bits = one;
        }
        return bits;
}

/* Returns the bits of methods that state them elsewhere: BitNet has three values, and HQQ its own object. */
static uint32_t bits_of_method(const AldPackedWeights *packed)
{
        const char *method = json_string_value(json_object_get(packed->config, "quant_method"));
        json_t *own = json_object_get(json_object_get(packed->config, "quant_config"), "weight_quant_params");
        uint32_t bits = 0;

        if (g_strcmp0(method, "bitnet") == 0)
                return TERNARY_BITS;
        return g_strcmp0(method, "hqq") == 0 && ald_hf_is_count(json_object_get(own, "nbits"), &bits) ? bits
                                                                                                      : 0;
}

/* Returns the bits of a parameter; 0 if config.json does not state them, or not the same for all. */
static uint32_t find_bits(const AldPackedWeights *packed, const char *module)
{
        const char *algorithm = json_string_value(json_object_get(packed->config, "quant_algo"));
        uint32_t bits = number_of(packed, module, bits_names);

        if (bits == 0)
                bits = bits_of_groups(packed);
        if (bits == 0)
                bits = bits_of_method(packed);
        if (bits == 0 &&
                (ald_hf_is_true(packed->config, "load_in_4bit") || (algorithm && strstr(algorithm, "FP4"))))
                bits = PAIR_BITS;
        return bits <= WORD_BITS ? bits : 0;
}

/* Returns whether scales have a column for each row of the original matrix. */
static bool has_scales_in_columns(const AldPackedWeights *packed)
{
        static const char *const methods[] = { "gptq", "awq", "auto-round", "intel/auto-round", NULL };
        const char *method = json_string_value(json_object_get(packed->config, "quant_method"));

        return method && g_strv_contains(methods, method);
}

/* Returns the rows of the original matrix; 0 if unknown. */
static uint64_t find_rows(const AldPackedWeights *packed, const AldSafetensor *tensor)
{
        const char *algorithm = json_string_value(json_object_get(packed->config, "quant_algo"));
        const char *method = json_string_value(json_object_get(packed->config, "quant_method"));
        bool is_weight = g_str_has_suffix(tensor->name, ".weight"), is_byte = strcmp(tensor->type, "U8") == 0;

        if (tensor->n_dims == 0 || is_column_of_pairs(packed, tensor) || g_strcmp0(method, "eetq") == 0)
                return 0; /* EETQ transposes weights */
        if (g_str_has_suffix(tensor->name, ".scales"))
                return has_scales_in_columns(packed) ? columns_of(tensor) : 0;
        if (g_str_has_suffix(tensor->name, ".q_weight"))
                return columns_of(tensor);
        if (g_str_has_suffix(tensor->name, ".trellis"))
                return tensor->n_dims == 3 ? times(tensor->dims[1], TILE_SIDE) : 0;
        /* Other packings of bytes may halve the rows. */
        if (is_weight && is_byte && !(algorithm && strstr(algorithm, "FP4")))
                return 0;
        return is_weight || g_str_has_suffix(tensor->name, ".weight_packed") ||
                               g_str_has_suffix(tensor->name, ".bias")
                       ? tensor->dims[0]
                       : 0;
}

uint32_t ald_packed_weights_rows(const AldPackedWeights *packed, const AldSafetensor *tensor)
{
        uint64_t rows = find_rows(packed, tensor);

        return rows > 0 && rows < ALD_LLM_ABSENT_COUNT ? (uint32_t) rows : ALD_LLM_ABSENT_COUNT;
}

void ald_packed_weights_note(
        AldPackedWeights *packed, const AldSafetensor *tensor, const AldTensor *added, const char *name)
{
        const PackedTensor one = { .name = name,
                .layer = added->layer,
                .expert = added->expert,
                .is_byte = strcmp(tensor->type, "U8") == 0,
                .elements = tensor->elements,
                .bytes = tensor->bytes,
                .rows = tensor->n_dims > 0 ? tensor->dims[0] : 1,
                .columns = columns_of(tensor) };

        if (added->place != ALD_TENSOR_LAYER)
                return;
        if (is_side(packed, name))
                g_array_append_val(packed->beside, one);
        else
                g_array_append_val(packed->weights, one);
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(((const PackedTensor *) a)->name, ((const PackedTensor *) b)->name);
}

/* Returns the tensor with this ending beside the weight of a module, or NULL. */
static const PackedTensor *find_beside(const AldPackedWeights *packed, const char *module, const char *end)
{
        g_autofree char *name = g_strconcat(module, end, NULL);
        PackedTensor key = { .name = name };

        return packed->beside->len == 0
                       ? NULL
                       : bsearch(&key, packed->beside->data, packed->beside->len, sizeof key, compare_names);
}

static uint64_t count_by_bits(const PackedTensor *weight, uint32_t bits)
{
        return bits == 0 || weight->bytes > UINT64_MAX / 8 ? ABSENT : weight->bytes * 8 / bits;
}

/* Counts the parameters in bytes. The scales help, since each belongs to a block with a fixed number of
 * parameters. */
static uint64_t count_bytes(const AldPackedWeights *packed, const PackedTensor *weight, const char *module)
{
        const PackedTensor *scales = find_beside(packed, module, ".weight_scale");
        uint32_t bits = find_bits(packed, module);
        uint64_t each = scales && scales->elements > 0 && weight->elements % scales->elements == 0
                                ? weight->elements / scales->elements
                                : 0;

        if (find_beside(packed, module, ".weight.absmax") || each == NVFP4_BYTES || each == MXFP4_BYTES)
                return times(weight->elements, 2);
        if (each == MXFP8_BYTES)
                return weight->elements;
        if (bits > 0 && bits <= 8)
                return count_by_bits(weight, bits);
        return g_str_has_suffix(weight->name, ".weight_packed") ||
                               find_beside(packed, module, ".weight_scale_2")
                       ? times(weight->elements, 2)
                       : ABSENT;
}

/* Counts the parameters by the group of compressed-tensors that fits the shapes of the weight and its
 * scales. */
static uint64_t count_in_groups(
        const AldPackedWeights *packed, const PackedTensor *weight, const PackedTensor *scales)
{
        json_t *groups = json_object_get(packed->config, "config_groups"), *group;
        uint32_t found = 0;
        const char *key;

        json_object_foreach(groups, key, group) {
                json_t *weights = json_object_get(group, "weights");
                uint32_t bits = 0, size = 0;

                if (!ald_hf_is_count(json_object_get(weights, "num_bits"), &bits) || bits == 0 ||
                        !ald_hf_is_count(json_object_get(weights, "group_size"), &size) || !scales ||
                        times(weight->columns, WORD_BITS) / bits != times(scales->columns, size))
                        continue;
                if (found != 0 && found != bits)
                        return ABSENT;
                found = bits;
        }
        return count_by_bits(weight, found);
}

/* Counts the parameters of MLX, where each row has a scale for each group of its parameters. */
static uint64_t count_mlx(const AldPackedWeights *packed, const PackedTensor *weight, const char *module)
{
        const PackedTensor *scales = find_beside(packed, module, ".scales");
        uint32_t size = number_of(packed, module, group_names);

        if (scales && scales->elements > 0 && size > 0)
                return times(scales->elements, size);
        return count_by_bits(weight, find_bits(packed, module));
}

/* Counts the parameters of GPTQ, which packs columns, and AWQ, which packs rows. The scales have a column for
 * each one of the original weight. */
static uint64_t count_qweight(const AldPackedWeights *packed, const PackedTensor *weight, const char *module)
{
        const PackedTensor *scales = find_beside(packed, module, ".scales"), *zeros;
        uint32_t bits = find_bits(packed, module);

        if (bits > 0 && json_object_size(json_object_get(packed->config, "dynamic")) == 0)
                return count_by_bits(weight, bits);
        if (!scales || scales->columns == 0)
                return ABSENT;
        if (scales->columns != weight->columns)
                return times(weight->rows, scales->columns);
        zeros = find_beside(packed, module, ".qzeros");
        return count_by_bits(
                weight, zeros ? (uint32_t) (times(zeros->columns, WORD_BITS) / weight->columns) : 0);
}

/* Counts the parameters of EXL2, whose rows differ in their bits. */
static uint64_t count_exl2(const AldPackedWeights *packed, const PackedTensor *weight, const char *module)
{
        const PackedTensor *order = find_beside(packed, module, ".q_invperm");

        if (!order)
                order = find_beside(packed, module, ".q_perm");
        return order && weight->columns > 0 ? times(order->elements, weight->columns) : ABSENT;
}

static uint64_t count_parameters(const AldPackedWeights *packed, const PackedTensor *weight)
{
        g_autofree char *module = g_strndup(
                weight->name, (gsize) (strrchr(weight->name, '.') - weight->name));
        const char *end = weight->name + strlen(module);
        uint32_t bits = find_bits(packed, module);

        if (weight->is_byte)
                return count_bytes(packed, weight, module);
        if (strcmp(end, ".q_weight") == 0)
                return count_exl2(packed, weight, module);
        if (strcmp(end, ".qweight") == 0)
                return count_qweight(packed, weight, module);
        if (strcmp(end, ".weight_packed") != 0)
                return count_mlx(packed, weight, module);
        return bits > 0 ? count_by_bits(weight, bits)
                        : count_in_groups(packed, weight, find_beside(packed, module, ".weight_scale"));
}

int ald_packed_weights_finish(AldPackedWeights *packed, AldTensorSums *sums)
{
        int r = 0;

        g_array_sort(packed->beside, compare_names);
        for (unsigned i = 0; i < packed->weights->len && r >= 0; i++) {
                const PackedTensor *weight = &g_array_index(packed->weights, PackedTensor, i);

                r = ald_tensor_sums_count(
                        sums, weight->layer, weight->expert, count_parameters(packed, weight), weight->name);
        }
        return r;
}
