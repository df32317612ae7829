/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/gguf-attention.h"
#include "placement/model/gguf-facts.h"
#include "placement/model/gguf-tensors.h"
#include "placement/model/gguf.h"

#define HEAD_MAX (128u * 1024 * 1024)
#define ALIGNMENT_DEFAULT 32u
#define MAGIC "GGUF"
#define SHARD_SUFFIX "-00001-of-00001.gguf"
#define DIGITS 5u

/* Architectures that Ollama converts in its own way; llama.cpp has other names and other tensors for them. */
static const char *const names_of_ollama[] = { "gptoss", "mllama", "qwen25vl", NULL };

/* The files of a model, and what they add up to. */
typedef struct Model {
        const char *path;        /* of the first file */
        uint32_t n_files, given; /* from the name of the file; 1 and 0 if it is a single file */
        char **ret_error;
        AldGgufFacts facts; /* of the first file */
        AldLlm *llm;
        AldTensorSums sums;
        AldLayerSigns *signs; /* of each layer, and of each block for drafts after them */
        uint32_t n_signs;
} Model;

static void model_clear(Model *model)
{
        ald_gguf_facts_clear(&model->facts);
        ald_tensor_sums_clear(&model->sums);
        ald_layer_signs_free(model->signs, model->n_signs);
        g_clear_pointer(&model->llm, ald_llm_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Model, model_clear)

static int check_version(AldFileHead *head, uint32_t version)
{
        /* The lower half of a small number is empty if its bytes are in reverse order. */
        if (version != 0 && (version & 0xffff) == 0)
                return ald_file_head_fail(
                        head, -EOPNOTSUPP, "a big-endian file; only little-endian ones can be read");
        if (version != 2 && version != 3)
                return ald_file_head_fail(head, -EOPNOTSUPP,
                        "version %" PRIu32 " of the format; only 2 and 3 can be read", version);
        return 0;
}

static int read_counts(AldFileHead *head, uint64_t *ret_tensors, uint64_t *ret_pairs)
{
        char magic[sizeof MAGIC - 1];
        uint32_t version = 0;
        int r = ald_file_head_read(head, magic, sizeof magic);

        if (r >= 0 && memcmp(magic, MAGIC, sizeof magic) != 0)
                r = ald_file_head_fail(head, -EBADMSG, "not a GGUF file");
        if (r >= 0)
                r = ald_file_head_u32(head, &version);
        if (r >= 0)
                r = check_version(head, version);
        if (r >= 0)
                r = ald_file_head_u64(head, ret_tensors);
        return r < 0 ? r : ald_file_head_u64(head, ret_pairs);
}

/* Reads a number; leaves *ret alone if the file does not state it. */
static int take_number(const AldGgufFacts *facts, AldFileHead *head, AldGgufKey key, uint32_t *ret)
{
        const AldGgufFact *fact = &facts->facts[key];

        if (fact->is_set && fact->list)
                return ald_file_head_fail(
                        head, -EOPNOTSUPP, "%s is an array, not one number", ald_gguf_key_name(key));
        if (fact->is_set)
                *ret = fact->value;
        return 0;
}

static int take_alignment(const AldGgufFacts *facts, AldFileHead *head, uint32_t *ret)
{
        uint32_t alignment = ALIGNMENT_DEFAULT;
        int r = take_number(facts, head, ALD_GGUF_ALIGNMENT, &alignment);

        if (r >= 0 && (alignment == 0 || (alignment & (alignment - 1)) != 0))
                r = ald_file_head_fail(
                        head, -EBADMSG, "the alignment %" PRIu32 " is not a power of two", alignment);
        if (r >= 0)
                *ret = alignment;
        return r;
}

static int take_layers(Model *model, AldFileHead *head)
{
        uint32_t blocks = ALD_LLM_ABSENT_COUNT, draft = 0;
        int r;

        if (!model->facts.architecture)
                return ald_file_head_fail(head, -EBADMSG, "it does not state general.architecture");
        r = take_number(&model->facts, head, ALD_GGUF_BLOCKS, &blocks);
        if (r >= 0)
                r = take_number(&model->facts, head, ALD_GGUF_DRAFT_BLOCKS, &draft);
        if (r < 0)
                return r;
        if (blocks == ALD_LLM_ABSENT_COUNT)
                return ald_file_head_fail(head, -EBADMSG,
                        "it does not state %s.block_count: not a language model", model->facts.architecture);
        if (blocks > ALD_LLM_LAYERS_MAX)
                return ald_file_head_fail(head, -E2BIG,
                        "there are %" PRIu32 " layers; at most %u can be read", blocks, ALD_LLM_LAYERS_MAX);
        if (draft >= blocks)
                return ald_file_head_fail(head, -EBADMSG,
                        "%" PRIu32 " layers, %" PRIu32 " of them to predict further tokens", blocks, draft);
        model->llm = ald_llm_new(blocks - draft);
        model->llm->format = ALD_LLM_GGUF;
        model->llm->architecture = g_strdup(model->facts.architecture);
        model->llm->name = g_strdup(model->facts.name);
        model->llm->draft_layers = draft;
        return 0;
}

static int take_experts(const Model *model, AldFileHead *head)
{
        AldLlm *llm = model->llm;
        uint32_t experts = 0, used = ALD_LLM_ABSENT_COUNT;
        int r = take_number(&model->facts, head, ALD_GGUF_EXPERTS, &experts);

        if (r >= 0)
                r = take_number(&model->facts, head, ALD_GGUF_USED_EXPERTS, &used);
        if (r < 0 || experts == 0)
                return r;
        if (used != ALD_LLM_ABSENT_COUNT && (used > experts || used == 0))
                return ald_file_head_fail(
                        head, -EBADMSG, "it uses %" PRIu32 " of %" PRIu32 " experts", used, experts);
        llm->experts = experts;
        llm->used_experts = used;
        return 0;
}

/* Returns the greatest value of a number that layers may have each. */
static uint32_t widest(const AldGgufFact *fact)
{
        uint32_t most = fact->list ? 0 : fact->value;

        for (uint32_t i = 0; fact->list && i < fact->n; i++)
                most = MAX(most, fact->list[i]);
        return fact->is_set && most > 0 ? most : ALD_LLM_ABSENT_COUNT;
}

static int take_sizes(const Model *model, AldFileHead *head)
{
        AldLlm *llm = model->llm;
        int r;

        r = take_number(&model->facts, head, ALD_GGUF_CONTEXT, &llm->context);
        if (r >= 0)
                r = take_number(&model->facts, head, ALD_GGUF_EMBEDDING, &llm->embedding_length);
        if (r >= 0)
                r = take_number(&model->facts, head, ALD_GGUF_TOKENS, &llm->vocabulary);
        if (r >= 0)
                r = take_number(&model->facts, head, ALD_GGUF_VOCABULARY, &llm->vocabulary);
        if (r >= 0)
                r = take_experts(model, head);
        if (r >= 0)
                ald_llm_set_feed_forward(llm, widest(&model->facts.facts[ALD_GGUF_FEED_FORWARD]),
                        widest(&model->facts.facts[ALD_GGUF_EXPERT_FEED_FORWARD]));
        return r;
}

static int check_split(const Model *model, AldFileHead *head, const AldGgufFacts *facts, uint32_t i)
{
        uint32_t count = 1, no = 0;
        int r = take_number(facts, head, ALD_GGUF_SPLIT_COUNT, &count);

        if (r >= 0)
                r = take_number(facts, head, ALD_GGUF_SPLIT_NO, &no);
        if (r < 0)
                return r;
        if (count > 1 && model->given == 0)
                return ald_file_head_fail(head, -EBADMSG,
                        "one of %" PRIu32 " files, but its name does not end as in -00001-of-%05" PRIu32
                        ".gguf",
                        count, count);
        if (MAX(count, 1) != model->n_files)
                return ald_file_head_fail(head, -EBADMSG,
                        "split.count is %" PRIu32 ", but the name of the file says %" PRIu32, count,
                        model->n_files);
        if (no != i)
                return ald_file_head_fail(
                        head, -EBADMSG, "split.no is %" PRIu32 ", which should be %" PRIu32, no, i);
        return 0;
}

static int begin_model(Model *model, AldFileHead *head)
{
        int r = take_layers(model, head);

        if (r >= 0)
                r = take_sizes(model, head);
        if (r < 0)
                return r;
        model->llm->ollama_only = g_strv_contains(names_of_ollama, model->llm->architecture);
        model->n_signs = model->llm->n_layers + model->llm->draft_layers;
        model->signs = ald_layer_signs_new(model->n_signs);
        ald_tensor_sums_init(&model->sums, model->llm);
        return 0;
}

static int read_file(Model *model, const char *path, uint32_t i)
{
        g_auto(AldFileHead) head = ALD_FILE_HEAD_CLOSED;
        g_auto(AldGgufFacts) others = { 0 };
        AldGgufFacts *facts = i == 0 ? &model->facts : &others;
        AldGgufTable table;
        uint64_t tensors = 0, pairs = 0;
        uint32_t alignment = 0;
        int r;

        r = ald_file_head_open(&head, path, HEAD_MAX, model->ret_error);
        if (r >= 0)
                r = read_counts(&head, &tensors, &pairs);
        if (r >= 0)
                r = ald_gguf_facts_read(&head, pairs, facts);
        if (r >= 0)
                r = check_split(model, &head, facts, i);
        if (r >= 0)
                r = take_alignment(facts, &head, &alignment);
        if (r >= 0 && i == 0)
                r = begin_model(model, &head);
        if (r < 0)
                return r;
        table = (AldGgufTable){ tensors, alignment, model->llm->draft_layers };
        return ald_gguf_tensors_read(&head, &table, &model->sums, model->signs);
}

static bool read_digits(const char *at, uint32_t *ret)
{
        uint32_t value = 0;

        for (unsigned i = 0; i < DIGITS; i++) {
                if (!g_ascii_isdigit(at[i]))
                        return false;
                value = value * 10 + (uint32_t) (at[i] - '0');
        }
        *ret = value;
        return true;
}

/* Reads the number of a file, from 1, and the number of all files from its name. Returns false if it is not
 * one of several files. */
static bool read_shard_name(const char *path, uint32_t *ret_no, uint32_t *ret_count)
{
        size_t n = strlen(path), suffix = sizeof SHARD_SUFFIX - 1;
        const char *at = n >= suffix ? path + n - suffix : NULL;

        return at && at[0] == '-' && read_digits(at + 1, ret_no) &&
               strncmp(at + 1 + DIGITS, "-of-", 4) == 0 && read_digits(at + 5 + DIGITS, ret_count) &&
               strcmp(at + 5 + 2 * DIGITS, ".gguf") == 0;
}

static char *shard_path(const Model *model, uint32_t i)
{
        size_t n = strlen(model->path);

        return model->given == 0
                       ? g_strdup(model->path)
                       : g_strdup_printf("%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf",
                                 (int) (n - (sizeof SHARD_SUFFIX - 1)), model->path, i + 1, model->n_files);
}

/* Completes the model when all files have been read. */
static int finish_model(Model *model)
{
        const AldGgufFact *count = &model->facts.facts[ALD_GGUF_SPLIT_TENSORS];
        const char *twice = NULL;
        AldLlm *llm = model->llm;

        if (model->n_files > 1 && count->is_set && !count->list && count->value != model->sums.sorted->len)
                return ald_file_fail(model->ret_error, -EBADMSG, model->path,
                        "split.tensors.count is %" PRIu32 ", but all files together have %u", count->value,
                        model->sums.sorted->len);
        if (ald_tensor_sums_finish(&model->sums, &twice) < 0)
                return twice ? ald_file_fail(model->ret_error, -EBADMSG, model->path,
                                       "there are two tensors %s", twice)
                             : ald_file_fail(model->ret_error, -EBADMSG, model->path,
                                       "it has no tensors of layers");
        ald_gguf_attention_apply(&model->facts, model->signs, llm);
        /* Without a head, engines use the embedding in its place. */
        llm->head_tied = llm->head_bytes == ALD_LLM_ABSENT && llm->embedding_bytes != ALD_LLM_ABSENT;
        if (llm->head_tied)
                llm->head_bytes = 0;
        return 0;
}

int ald_gguf_read(const char *path, AldLlm **ret, char **ret_error)
{
        g_auto(Model) model = { .path = path, .n_files = 1, .ret_error = ret_error };
        uint32_t no = 0, count = 0;
        int r = 0;

        if (read_shard_name(path, &no, &count)) {
                if (no == 0 || no > count)
                        return ald_file_fail(ret_error, -EINVAL, path,
                                "a file of this number cannot be among %" PRIu32, count);
                model.given = no;
                model.n_files = count;
        }
        for (uint32_t i = 0; i < model.n_files && r >= 0; i++) {
                g_autofree char *file = shard_path(&model, i);

                r = read_file(&model, file, i);
        }
        if (r >= 0)
                r = finish_model(&model);
        if (r >= 0)
                *ret = g_steal_pointer(&model.llm);
        return r;
}
