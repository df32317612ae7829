/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/ggml-types.h"
#include "placement/model/gguf-facts.h"
#include "placement/model/gguf-tensors.h"

#define DIMENSIONS_MAX 4u
#define LAYER_DIGITS_MAX 9u
#define OLLAMA_MXFP4 4u

typedef struct Table {
        AldFileHead *head;
        uint32_t alignment, draft_layers;
        uint64_t end; /* end of the data so far, from its beginning */
        AldTensorSums *sums;
        AldLayerSigns *signs; /* of each layer */
} Table;

typedef struct Shape {
        char name[ALD_TENSOR_NAME_MAX + 1];
        uint64_t elements, row; /* elements in all, and in each row */
} Shape;

static int read_dimensions(AldFileHead *head, Shape *shape)
{
        uint32_t n = 0;
        int r = ald_file_head_u32(head, &n);

        if (r >= 0 && (n == 0 || n > DIMENSIONS_MAX))
                r = ald_file_head_fail(
                        head, -EBADMSG, "tensor %s has %" PRIu32 " dimensions", shape->name, n);
        shape->elements = 1;
        for (uint32_t i = 0; i < n && r >= 0; i++) {
                uint64_t length = 0;

                r = ald_file_head_u64(head, &length);
                if (i == 0)
                        shape->row = length;
                if (r >= 0 && (__builtin_mul_overflow(shape->elements, length, &shape->elements) ||
                                      shape->elements > INT64_MAX))
                        r = ald_file_head_fail(
                                head, -EBADMSG, "tensor %s has more elements than 64 bits hold", shape->name);
        }
        return r;
}

/* Returns the type's number in llama.cpp. Ollama wrote its first files of gpt-oss with a number of its own
 * for MXFP4. */
static uint32_t type_of_ollama(const Table *table, uint32_t id)
{
        return id == OLLAMA_MXFP4 && strcmp(table->sums->llm->architecture, "gptoss") == 0 ? ALD_GGML_MXFP4
                                                                                           : id;
}

static int read_bytes(const Table *table, const Shape *shape, uint64_t *ret)
{
        AldFileHead *head = table->head;
        const AldGgmlType *type;
        uint32_t id = 0;
        int r = ald_file_head_u32(head, &id);

        if (r < 0)
                return r;
        id = type_of_ollama(table, id);
        type = ald_ggml_type(id);
        if (!type)
                return ald_file_head_fail(
                        head, -EOPNOTSUPP, "tensor %s is of the unknown type %" PRIu32, shape->name, id);
        if (shape->row % type->block != 0)
                return ald_file_head_fail(head, -EBADMSG,
                        "tensor %s has rows of %" PRIu64 " elements, not of whole blocks of %s", shape->name,
                        shape->row, type->name);
        if (__builtin_mul_overflow(shape->elements / type->block, (uint64_t) type->bytes, ret) ||
                *ret > INT64_MAX)
                return ald_file_head_fail(
                        head, -EBADMSG, "tensor %s has more bytes than 64 bits hold", shape->name);
        return 0;
}

/* Checks that the data of the tensors follows in the same order without gaps. This also detects a type whose
 * blocks have another size in the program that wrote the file. */
static int check_offset(Table *table, const Shape *shape, uint64_t bytes)
{
        uint64_t offset = 0, start = table->end;
        int r = ald_file_head_u64(table->head, &offset);

        if (r < 0)
                return r;
        if (start % table->alignment != 0)
                start += table->alignment - start % table->alignment;
        if (offset != start)
                return ald_file_head_fail(table->head, -EBADMSG,
                        "tensor %s begins at byte %" PRIu64 " of the data, which should be %" PRIu64,
                        shape->name, offset, start);
        if (start > INT64_MAX - bytes)
                return ald_file_head_fail(table->head, -EBADMSG, "the data ends beyond what 64 bits hold");
        table->end = start + bytes;
        return 0;
}

static bool read_layer(const char *name, uint32_t *ret)
{
        const char *at = name + strlen("blk.");
        uint32_t layer = 0;
        unsigned digits = 0;

        if (!g_str_has_prefix(name, "blk."))
                return false;
        for (; g_ascii_isdigit(*at) && digits <= LAYER_DIGITS_MAX; at++, digits++)
                layer = layer * 10 + (uint32_t) (*at - '0');
        *ret = layer;
        return digits > 0 && digits <= LAYER_DIGITS_MAX && *at == '.';
}

/* Returns whether the tensor holds experts. Older files have a tensor for each expert, as in
 * "blk.0.ffn_up.3.weight". */
static bool is_expert(const char *name)
{
        static const char *const parts[] = { ".ffn_gate.", ".ffn_up.", ".ffn_down." };

        if (strstr(name, "_exps."))
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
                const char *at = strstr(name, parts[i]);

                if (at && g_ascii_isdigit(at[strlen(parts[i])]))
                        return true;
        }
        return false;
}

static int place_tensor(Table *table, AldTensor *tensor)
{
        uint32_t layers = table->sums->llm->n_layers;

        tensor->expert = is_expert(tensor->name);
        tensor->unclear = strstr(tensor->name, "_chexps.") != NULL; /* groups of experts share these */
        if (!read_layer(tensor->name, &tensor->layer)) {
                tensor->place = strcmp(tensor->name, "token_embd.weight") == 0 ? ALD_TENSOR_EMBEDDING
                                : g_str_has_prefix(tensor->name, "output.")    ? ALD_TENSOR_HEAD
                                                                               : ALD_TENSOR_OTHER;
                return 0;
        }
        if (tensor->layer >= layers + table->draft_layers)
                return ald_file_head_fail(table->head, -EBADMSG,
                        "tensor %s is of a layer that the model does not have", tensor->name);
        tensor->place = tensor->layer < layers ? ALD_TENSOR_LAYER : ALD_TENSOR_DRAFT;
        return 0;
}

/* Returns the length of the result: each row of a matrix yields one number of it, and a bias has one element
 * for each. */
static uint32_t count_rows(const Shape *shape)
{
        uint64_t rows = shape->row == shape->elements || shape->row == 0 ? shape->elements
                                                                         : shape->elements / shape->row;

        return rows < ALD_LLM_ABSENT_COUNT ? (uint32_t) rows : ALD_LLM_ABSENT_COUNT;
}

static void note_sign(const Table *table, const AldTensor *tensor, const Shape *shape)
{
        const char *part = strchr(tensor->name + strlen("blk."), '.') + 1;
        AldLayerSigns *signs = &table->signs[tensor->layer];
        AldLayerSign sign = ald_layer_sign_of_gguf(part);

        ald_layer_signs_note(signs, sign, tensor->name, count_rows(shape));
        if (sign == ALD_SIGN_CONVOLUTION && shape->row < shape->elements && shape->row < UINT32_MAX)
                signs->kernel = MAX(signs->kernel, (uint32_t) shape->row);
}

static int read_tensor(Table *table)
{
        AldTensor tensor = { 0 };
        const char *reason = NULL;
        Shape shape;
        int r;

        r = ald_gguf_read_name(table->head, "the name of a tensor", ALD_TENSOR_NAME_MAX, shape.name);
        if (r >= 0)
                r = read_dimensions(table->head, &shape);
        if (r >= 0)
                r = read_bytes(table, &shape, &tensor.bytes);
        if (r >= 0)
                r = check_offset(table, &shape, tensor.bytes);
        if (r < 0)
                return r;
        tensor.name = shape.name;
        tensor.parameters = shape.elements;
        r = place_tensor(table, &tensor);
        if (r < 0)
                return r;
        if (tensor.place == ALD_TENSOR_LAYER || tensor.place == ALD_TENSOR_DRAFT)
                note_sign(table, &tensor, &shape);
        r = ald_tensor_sums_add(table->sums, &tensor, &reason);
        return r < 0 ? ald_file_head_fail(table->head, r, "%s", reason) : 0;
}

static int check_size(const Table *table)
{
        AldFileHead *head = table->head;
        uint64_t start = head->at, misaligned = start % table->alignment;

        if (table->end == 0)
                return 0;
        if (misaligned != 0)
                start += table->alignment - misaligned;
        if (start > head->size || table->end > head->size - start)
                return ald_file_head_fail(head, -EBADMSG,
                        "the tensors have %" PRIu64 " bytes, but the file ends at byte %" PRIu64, table->end,
                        head->size);
        return 0;
}

int ald_gguf_tensors_read(
        AldFileHead *head, const AldGgufTable *of, AldTensorSums *sums, AldLayerSigns *signs)
{
        Table table = { head, of->alignment, of->draft_layers, 0, sums, signs };
        int r = 0;

        if (of->n > ALD_TENSORS_MAX)
                return ald_file_head_fail(head, -E2BIG,
                        "there are %" PRIu64 " tensors; at most %u can be read", of->n, ALD_TENSORS_MAX);
        for (uint64_t i = 0; i < of->n && r >= 0; i++)
                r = read_tensor(&table);
        return r < 0 ? r : check_size(&table);
}
