/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "placement/model/model-file.h"
#include "tests/unit/gguf-maker.h"

#define F32 0u
#define F16 1u
#define Q8_0 8u
#define Q4_K 12u

typedef struct Fixture {
        char *folder, *path;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        fixture->folder = model_folder_new();
        fixture->path = g_build_filename(fixture->folder, "m.gguf", NULL);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        model_folder_remove(fixture->folder);
        g_free(fixture->path);
}

static void add_keys(GgufMaker *maker, const char *architecture, uint32_t layers)
{
        g_autofree char *blocks = g_strdup_printf("%s.block_count", architecture);
        g_autofree char *context = g_strdup_printf("%s.context_length", architecture);
        g_autofree char *embedding = g_strdup_printf("%s.embedding_length", architecture);
        g_autofree char *heads = g_strdup_printf("%s.attention.head_count", architecture);

        gguf_string(maker, "general.architecture", architecture);
        gguf_u32(maker, blocks, layers);
        gguf_u32(maker, context, 8192);
        gguf_u32(maker, embedding, 256);
        gguf_u32(maker, heads, 4);
}

static void add_layer(GgufMaker *maker, uint32_t layer)
{
        g_autofree char *norm = g_strdup_printf("blk.%u.attn_norm.weight", layer);
        g_autofree char *query = g_strdup_printf("blk.%u.attn_q.weight", layer);

        gguf_tensor(maker, norm, F32, 1024, (uint64_t[4]){ 256 });
        gguf_tensor(maker, query, Q4_K, 256 * 144, (uint64_t[4]){ 256, 256 });
}

/* A small model of which everything is known. */
static void make_plain(GgufMaker *maker)
{
        gguf_maker_init(maker);
        add_keys(maker, "llama", 2);
        gguf_string(maker, "general.name", "Sm\xc3\xa5ll");
        gguf_u32(maker, "llama.attention.head_count_kv", 2);
        gguf_tokens(maker, "tokenizer.ggml.tokens", 10);
        gguf_tensor(maker, "token_embd.weight", Q8_0, 10 * 272, (uint64_t[4]){ 256, 10 });
        add_layer(maker, 0);
        add_layer(maker, 1);
        gguf_tensor(maker, "output_norm.weight", F32, 1024, (uint64_t[4]){ 256 });
        gguf_tensor(maker, "output.weight", F16, 5120, (uint64_t[4]){ 256, 10 });
}

static AldLlm *read_path(const char *path)
{
        AldLlm *llm = NULL;
        g_autofree char *error = NULL;
        int r = ald_llm_read(path, &llm, &error);

        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return llm;
}

static AldLlm *read_made(const Fixture *fixture, const GgufMaker *maker)
{
        gguf_write(maker, fixture->path);
        return read_path(fixture->path);
}

/* The message names the file, and has this in it. */
static void check_error(const char *path, int expected, const char *words)
{
        AldLlm *llm = NULL;
        g_autofree char *error = NULL;
        int r = ald_llm_read(path, &llm, &error);

        g_assert_cmpstr(g_strerror(-r), ==, g_strerror(-expected));
        g_assert_null(llm);
        g_assert_nonnull(error);
        g_assert_true(g_utf8_validate(error, -1, NULL));
        if (!strstr(error, words))
                g_error("\"%s\" does not say \"%s\"", error, words);
        g_assert_cmpint(ald_llm_read(path, &llm, NULL), ==, expected);
}

static void check_made(const Fixture *fixture, const GgufMaker *maker, int expected, const char *words)
{
        gguf_write(maker, fixture->path);
        check_error(fixture->path, expected, words);
}

static void check_plain(const AldLlm *llm)
{
        g_assert_cmpstr(llm->architecture, ==, "llama");
        g_assert_cmpstr(llm->name, ==, "Sm\xc3\xa5ll");
        g_assert_cmpuint(llm->n_layers, ==, 2);
        g_assert_cmpuint(llm->embedding_bytes, ==, 2720);
        g_assert_cmpuint(llm->head_bytes, ==, 5120);
        g_assert_false(llm->head_tied);
        g_assert_cmpuint(llm->other_bytes, ==, 1024);
        g_assert_cmpuint(llm->draft_bytes, ==, 0);
        g_assert_cmpuint(llm->embedding_length, ==, 256);
        g_assert_cmpuint(llm->vocabulary, ==, 10);
        g_assert_cmpuint(llm->context, ==, 8192);
        g_assert_cmpuint(llm->experts, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(llm->used_experts, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpstr(llm->kv_problem, ==, NULL);
        for (uint32_t i = 0; i < 2; i++) {
                g_assert_cmpuint(llm->layers[i].bytes, ==, 1024 + 256 * 144);
                g_assert_cmpuint(llm->layers[i].token_bytes, ==, 1024 + 256 * 144);
                g_assert_cmpuint(llm->layers[i].parameters, ==, 256 + 65536);
                g_assert_cmpuint(llm->layers[i].token_parameters, ==, 256 + 65536);
                g_assert_cmpuint(llm->layers[i].kv_heads, ==, 2);
                g_assert_cmpuint(llm->layers[i].key_length, ==, 64);
                g_assert_cmpuint(llm->layers[i].value_length, ==, 64);
        }
}

static void test_plain(Fixture *fixture, gconstpointer data)
{
        for (uint32_t version = 2; version <= 3; version++) {
                g_auto(GgufMaker) maker = { 0 };
                g_autoptr(AldLlm) llm = NULL;

                make_plain(&maker);
                maker.version = version;
                llm = read_made(fixture, &maker);
                check_plain(llm);
        }
}

static void test_each_prefix(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(GByteArray) head = NULL;

        make_plain(&maker);
        head = gguf_head(&maker);
        for (unsigned n = 0; n < head->len; n++) {
                gguf_write_bytes(fixture->path, head->data, n, n);
                check_error(fixture->path, -EBADMSG, fixture->path);
        }
        gguf_write_bytes(fixture->path, head->data, head->len, head->len + maker.data - 1);
        check_error(fixture->path, -EBADMSG, "but the file ends at byte");
}

/* Whatever one byte becomes, the file is read or refused with a reason. */
static void test_each_byte(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(GByteArray) head = NULL;

        make_plain(&maker);
        head = gguf_head(&maker);
        for (unsigned i = 0; i < 2 * head->len; i++) {
                uint8_t kept = head->data[i / 2];
                g_autoptr(AldLlm) llm = NULL;
                g_autofree char *error = NULL;

                head->data[i / 2] = i % 2 ? 0xff : (uint8_t) (kept + 1);
                gguf_write_bytes(fixture->path, head->data, head->len, head->len + maker.data);
                g_assert_true((ald_llm_read(fixture->path, &llm, &error) < 0) == (error != NULL));
                g_assert_true(!error == (llm != NULL));
                head->data[i / 2] = kept;
        }
}

static void test_tied_head_and_drafts(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        maker.alignment = 64;
        gguf_u32(&maker, "general.alignment", 64);
        add_keys(&maker, "glm4moe", 3);
        gguf_u32(&maker, "glm4moe.nextn_predict_layers", 1);
        gguf_u32(&maker, "glm4moe.vocab_size", 7);
        gguf_tensor(&maker, "token_embd.weight", F32, 40, (uint64_t[4]){ 1, 10 });
        for (uint32_t i = 0; i < 3; i++)
                add_layer(&maker, i);
        llm = read_made(fixture, &maker);
        g_assert_cmpuint(llm->n_layers, ==, 2);
        g_assert_cmpuint(llm->draft_layers, ==, 1);
        g_assert_cmpuint(llm->draft_bytes, ==, 1024 + 256 * 144);
        g_assert_cmpuint(llm->head_bytes, ==, 0);
        g_assert_true(llm->head_tied);
        g_assert_cmpuint(llm->embedding_bytes, ==, 40);
        g_assert_cmpuint(llm->vocabulary, ==, 7);
        g_assert_cmpuint(llm->other_bytes, ==, 0);
        g_assert_null(llm->name);
}

static void test_experts(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        add_keys(&maker, "qwen3moe", 4);
        gguf_u32(&maker, "qwen3moe.expert_count", 8);
        gguf_u32(&maker, "qwen3moe.expert_used_count", 2);
        gguf_u32(&maker, "qwen3moe.feed_forward_length", 500);
        gguf_u32(&maker, "qwen3moe.expert_feed_forward_length", 300);
        gguf_tensor(&maker, "blk.0.ffn_gate_exps.weight", F16, 2 * 32 * 8, (uint64_t[4]){ 8, 4, 8 });
        gguf_tensor(&maker, "blk.0.ffn_up_shexp.weight", F16, 64, (uint64_t[4]){ 8, 4 });
        gguf_tensor(&maker, "blk.0.ffn_gate_inp.weight", F32, 256, (uint64_t[4]){ 8, 8 });
        for (unsigned i = 0; i < 8; i++) {
                g_autofree char *name = g_strdup_printf("blk.1.ffn_up.%u.weight", i);

                gguf_tensor(&maker, name, F16, 64, (uint64_t[4]){ 8, 4 });
        }
        gguf_tensor(&maker, "blk.1.ffn_up.weight", F16, 64, (uint64_t[4]){ 8, 4 });
        gguf_tensor(&maker, "blk.2.ffn_up_chexps.weight", F16, 64, (uint64_t[4]){ 8, 4 });
        llm = read_made(fixture, &maker);
        g_assert_cmpuint(llm->experts, ==, 8);
        g_assert_cmpuint(llm->used_experts, ==, 2);
        g_assert_cmpuint(llm->feed_forward_length, ==, 600);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 512 + 64 + 256);
        g_assert_cmpuint(llm->layers[0].token_bytes, ==, 128 + 64 + 256);
        g_assert_cmpuint(llm->layers[0].parameters, ==, 256 + 32 + 64);
        g_assert_cmpuint(llm->layers[0].token_parameters, ==, 64 + 32 + 64);
        g_assert_cmpuint(llm->layers[1].bytes, ==, 9 * 64);
        g_assert_cmpuint(llm->layers[1].token_bytes, ==, 3 * 64);
        g_assert_cmpuint(llm->layers[2].token_bytes, ==, ALD_LLM_ABSENT);
        /* A layer without tensors, as some pruned models have. */
        g_assert_cmpuint(llm->layers[3].bytes, ==, 0);
        g_assert_cmpuint(llm->embedding_bytes, ==, ALD_LLM_ABSENT);
        g_assert_cmpuint(llm->head_bytes, ==, ALD_LLM_ABSENT);
        g_assert_false(llm->head_tied);
}

static void test_heads_of_each_layer(Fixture *fixture, gconstpointer data)
{
        static const uint32_t kv_heads[] = { 2, 0, 4 }, heads[] = { 4, 4, 4 };
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        gguf_string(&maker, "general.architecture", "deci");
        gguf_u32(&maker, "deci.block_count", 3);
        gguf_list(&maker, "deci.attention.head_count_kv", 3, kv_heads);
        gguf_list(&maker, "deci.attention.head_count", 3, heads);
        gguf_u32(&maker, "deci.attention.key_length", 96);
        gguf_u32(&maker, "deci.attention.value_length", 32);
        add_layer(&maker, 0);
        llm = read_made(fixture, &maker);
        for (uint32_t i = 0; i < 3; i++) {
                g_assert_cmpuint(llm->layers[i].kv_heads, ==, kv_heads[i]);
                g_assert_cmpuint(llm->layers[i].key_length, ==, 96);
                g_assert_cmpuint(llm->layers[i].value_length, ==, 32);
        }
        g_assert_cmpuint(llm->embedding_length, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(llm->context, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(llm->vocabulary, ==, ALD_LLM_ABSENT_COUNT);
}

static void test_compressed_keys(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        add_keys(&maker, "deepseek2", 1);
        gguf_u32(&maker, "deepseek2.attention.head_count_kv", 1);
        gguf_u32(&maker, "deepseek2.attention.key_length", 576);
        gguf_u32(&maker, "deepseek2.attention.value_length", 512);
        gguf_u32(&maker, "deepseek2.attention.key_length_mla", 192);
        gguf_u32(&maker, "deepseek2.attention.value_length_mla", 128);
        add_layer(&maker, 0);
        llm = read_made(fixture, &maker);
        g_assert_cmpuint(llm->layers[0].kv_heads, ==, 1);
        g_assert_cmpuint(llm->layers[0].key_length, ==, 576);
        g_assert_cmpuint(llm->layers[0].value_length, ==, 0);
}

static void test_windows(Fixture *fixture, gconstpointer data)
{
        static const uint8_t windowed[] = { 1, 1, 0 };
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        add_keys(&maker, "gemma4", 3);
        gguf_u32(&maker, "gemma4.attention.sliding_window", 512);
        gguf_u32(&maker, "gemma4.attention.key_length", 512);
        gguf_u32(&maker, "gemma4.attention.value_length", 512);
        gguf_u32(&maker, "gemma4.attention.key_length_swa", 256);
        gguf_u32(&maker, "gemma4.attention.value_length_swa", 256);
        gguf_bools(&maker, "gemma4.attention.sliding_window_pattern", 3, windowed);
        gguf_u32(&maker, "gemma4.attention.shared_kv_layers", 1);
        add_layer(&maker, 0);
        llm = read_made(fixture, &maker);
        g_assert_cmpuint(llm->layers[0].window, ==, 512);
        g_assert_cmpuint(llm->layers[0].key_length, ==, 256);
        g_assert_cmpuint(llm->layers[1].kv_heads, ==, 4);
        g_assert_cmpuint(llm->layers[2].window, ==, ALD_LLM_ABSENT_COUNT);
        g_assert_cmpuint(llm->layers[2].kv_heads, ==, 0);
}

/* All else of the model is known then. */
static void check_kv_problem(const Fixture *fixture, const GgufMaker *maker, const char *words)
{
        g_autoptr(AldLlm) llm = read_made(fixture, maker);

        g_assert_nonnull(llm->kv_problem);
        if (!strstr(llm->kv_problem, words))
                g_error("\"%s\" does not say \"%s\"", llm->kv_problem, words);
        g_assert_cmpuint(llm->layers[0].bytes, ==, 1024 + 256 * 144);
}

static void test_unknown_kv(Fixture *fixture, gconstpointer data)
{
        static const uint32_t few[] = { 1 };
        static const struct {
                const char *architecture, *key, *words;
                bool list;
        } cases[] = {
                { "llama", "llama.ssm.conv_kernel", "ssm.conv_kernel: it is not known which", false },
                { "llama", "llama.ssm.other", "ssm.other", false },
                { "qwen35", "qwen35.full_attention_interval", "ssm.conv_kernel: it is not stated", false },
                { "llama", "llama.attention.indexer.top_k", "attention.indexer.top_k", false },
                { "llama", "llama.attention.compress_ratios", "attention.compress_ratios", true },
                { "t5", "t5.decoder_block_count", "decoder_block_count", false },
                { "llama", "llama.attention.head_count_kv", "fewer elements", true },
                { "llama", "llama.attention.key_length", "array", true },
                { "gemma3", "gemma3.attention.sliding_window_pattern", "fewer elements", true },
                { "gemma4", "gemma4.attention.sliding_window_pattern", "fewer elements", true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GgufMaker) maker = { 0 };

                gguf_maker_init(&maker);
                add_keys(&maker, cases[i].architecture, 2);
                if (cases[i].list)
                        gguf_list(&maker, cases[i].key, 1, few);
                else
                        gguf_u32(&maker, cases[i].key, 4);
                add_layer(&maker, 0);
                check_kv_problem(fixture, &maker, cases[i].words);
        }
}

static char *shard(const Fixture *fixture, unsigned no, unsigned count)
{
        return g_strdup_printf("%s/m-%05u-of-%05u.gguf", fixture->folder, no, count);
}

static void write_shard(
        const Fixture *fixture, unsigned no, unsigned count, unsigned stated, unsigned tensors)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autofree char *path = shard(fixture, no, count);

        gguf_maker_init(&maker);
        if (no == 1) {
                add_keys(&maker, "llama", 2);
                gguf_u32(&maker, "split.tensors.count", tensors);
        }
        gguf_u16(&maker, "split.no", (uint16_t) (no - 1));
        gguf_u16(&maker, "split.count", (uint16_t) stated);
        if (no > 1)
                add_layer(&maker, no - 2);
        gguf_write(&maker, path);
}

static void test_shards(Fixture *fixture, gconstpointer data)
{
        g_autofree char *first = shard(fixture, 1, 3), *second = shard(fixture, 2, 3);
        g_autofree char *third = shard(fixture, 3, 3), *beyond = shard(fixture, 4, 3);
        g_autofree char *none = shard(fixture, 0, 3);

        for (unsigned no = 1; no <= 3; no++)
                write_shard(fixture, no, 3, 3, 4);
        for (unsigned no = 1; no <= 3; no++) {
                g_autofree char *path = shard(fixture, no, 3);
                g_autoptr(AldLlm) llm = read_path(path);

                g_assert_cmpuint(llm->layers[0].bytes, ==, 1024 + 256 * 144);
                g_assert_cmpuint(llm->layers[1].bytes, ==, 1024 + 256 * 144);
        }
        check_error(beyond, -ENOENT, "m-00004-of-00003.gguf");
        check_error(none, -ENOENT, "m-00000-of-00003.gguf");
        g_assert_cmpint(g_rename(first, fixture->path), ==, 0);
        check_error(fixture->path, -EBADMSG, "its name does not end as in -00001-of-00003.gguf");
        check_error(third, -ENOENT, "m-00001-of-00003.gguf");
        g_assert_cmpint(g_rename(fixture->path, first), ==, 0);
        g_assert_cmpint(g_rename(second, beyond), ==, 0);
        check_error(first, -ENOENT, "m-00002-of-00003.gguf: No such file");
        check_error(beyond, -EINVAL, "cannot be among 3");
        write_shard(fixture, 2, 3, 2, 4);
        check_error(first, -EBADMSG, "split.count is 2");
        g_assert_cmpint(g_rename(third, second), ==, 0);
        check_error(first, -EBADMSG, "split.no is 2, which should be 1");
}

static void test_wrong_number_of_tensors(Fixture *fixture, gconstpointer data)
{
        g_autofree char *first = shard(fixture, 1, 2);

        write_shard(fixture, 1, 2, 2, 4);
        write_shard(fixture, 2, 2, 2, 4);
        check_error(first, -EBADMSG, "split.tensors.count is 4, but all files together have 2");
}

static void test_headers_that_are_refused(Fixture *fixture, gconstpointer data)
{
        static const struct {
                uint32_t version;
                uint64_t n_tensors, n_pairs;
                int error;
                const char *words;
        } cases[] = {
                { 1, 0, 0, -EOPNOTSUPP, "version 1" },
                { 4, 0, 0, -EOPNOTSUPP, "version 4" },
                { 0, 0, 0, -EOPNOTSUPP, "version 0" },
                { 0x03000000, 0, 0, -EOPNOTSUPP, "big-endian" },
                { 3, 0, UINT64_MAX, -E2BIG, "keys" },
                { 3, 0, 65537, -E2BIG, "keys" },
                { 3, UINT64_MAX, 5, -E2BIG, "tensors" },
                { 3, 3, 5, -EBADMSG, "the file ends" },
                { 3, 0, 5, -EBADMSG, "no tensors of layers" },
                { 3, 0, 0, -EBADMSG, "general.architecture" },
                { 3, 0, 1, -EBADMSG, "llama.block_count" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GgufMaker) maker = { 0 };

                gguf_maker_init(&maker);
                add_keys(&maker, "llama", 2);
                maker.version = cases[i].version;
                maker.n_tensors = cases[i].n_tensors;
                maker.n_pairs = cases[i].n_pairs;
                check_made(fixture, &maker, cases[i].error, cases[i].words);
        }
}

typedef struct BadKey {
        const char *key;
        uint32_t type;
        unsigned n;
        const char *bytes;
        int error;
        const char *words;
} BadKey;

#define FULL "\xff\xff\xff\xff\xff\xff\xff\xff"
#define BYTES(text) sizeof(text) - 1, text

static void test_values_that_are_refused(Fixture *fixture, gconstpointer data)
{
        static const BadKey cases[] = {
                { "x", 13, BYTES("\0\0\0\0"), -EBADMSG, "unknown type 13" },
                { "x", 8, BYTES(FULL), -EBADMSG, "the file ends" },
                { "x", 9, BYTES("\x08\0\0\0" FULL), -EBADMSG, "the file ends" },
                { "x", 9, BYTES("\x0a\0\0\0" FULL), -EBADMSG, "an array of" },
                { "x", 9, BYTES("\x00\0\0\0" FULL), -EBADMSG, "the file ends" },
                { "x", 9, BYTES("\x63\0\0\0" FULL), -EBADMSG, "unknown type 99" },
                { "x\n", 4, BYTES("\0\0\0\0"), -EBADMSG, "not printable" },
                { "", 4, BYTES("\0\0\0\0"), -EBADMSG, "a key is empty" },
                { "llama.block_count", 4, BYTES("\1\0\0\0"), -EBADMSG, "stated twice" },
                { "llama.expert_count", 5, BYTES("\xff\xff\xff\xff"), -EBADMSG, "negative" },
                { "llama.expert_count", 1, BYTES("\xff"), -EBADMSG, "negative" },
                { "llama.expert_count", 3, BYTES("\xff\xff"), -EBADMSG, "negative" },
                { "llama.expert_count", 10, BYTES(FULL), -EBADMSG, "more than" },
                { "llama.expert_count", 6, BYTES("\0\0\0\0"), -EBADMSG, "not a whole number" },
                { "llama.expert_count", 8,
                        BYTES("\1\0\0\0\0\0\0\0"
                              "a"),
                        -EBADMSG, "not a whole number" },
                { "llama.expert_count", 9, BYTES("\4\0\0\0\0\0\0\0\0\0\0\0"), -EOPNOTSUPP, "is an array" },
                { "llama.expert_used_count", 9, BYTES("\4\0\0\0\xff\xff\0\0\0\0\0\0"), -E2BIG, "elements" },
                { "tokenizer.ggml.tokens", 4, BYTES("\0\0\0\0"), -EBADMSG, "not an array" },
                { "tokenizer.ggml.tokens", 9, BYTES("\x08\0\0\0" FULL), -E2BIG, "elements" },
                { "general.alignment", 4, BYTES("\x30\0\0\0"), -EBADMSG, "power of two" },
                { "general.alignment", 4, BYTES("\0\0\0\0"), -EBADMSG, "power of two" },
                { "llama.nextn_predict_layers", 4, BYTES("\2\0\0\0"), -EBADMSG, "2 layers" },
                { "split.count", 2, BYTES("\3\0"), -EBADMSG, "one of 3 files" },
                { "split.no", 2, BYTES("\3\0"), -EBADMSG, "split.no is 3" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GgufMaker) maker = { 0 };

                gguf_maker_init(&maker);
                add_keys(&maker, "llama", 2);
                gguf_raw(&maker, cases[i].key, cases[i].type, cases[i].bytes, cases[i].n);
                check_made(fixture, &maker, cases[i].error, cases[i].words);
        }
}

static void test_experts_that_are_refused(Fixture *fixture, gconstpointer data)
{
        for (uint32_t used = 0; used <= 9; used += 9) {
                g_auto(GgufMaker) maker = { 0 };

                gguf_maker_init(&maker);
                add_keys(&maker, "llama", 2);
                gguf_u32(&maker, "llama.expert_count", 8);
                gguf_u32(&maker, "llama.expert_used_count", used);
                check_made(fixture, &maker, -EBADMSG, "of 8 experts");
        }
}

static void test_layers_that_are_refused(Fixture *fixture, gconstpointer data)
{
        static const struct {
                uint32_t count;
                int error;
                const char *words;
        } cases[] = {
                { 0, -EBADMSG, "0 layers" },
                { 1025, -E2BIG, "1025 layers; at most 1024 can be read" },
                { INT32_MAX, -E2BIG, "2147483647 layers; at most 1024 can be read" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GgufMaker) maker = { 0 };

                gguf_maker_init(&maker);
                add_keys(&maker, "llama", cases[i].count);
                check_made(fixture, &maker, cases[i].error, cases[i].words);
        }
}

/* Arrays in arrays are skipped, up to some depth. */
static void test_nested_arrays(Fixture *fixture, gconstpointer data)
{
        for (unsigned depth = 1; depth <= 6; depth++) {
                g_auto(GgufMaker) maker = { 0 };
                g_autoptr(GByteArray) bytes = g_byte_array_new();

                for (unsigned i = 1; i < depth; i++)
                        g_byte_array_append(bytes, (const uint8_t *) "\x09\0\0\0\1\0\0\0\0\0\0", 12);
                g_byte_array_append(bytes, (const uint8_t *) "\0\0\0\0\1\0\0\0\0\0\0\0\7", 13);
                gguf_maker_init(&maker);
                gguf_raw(&maker, "x", 9, bytes->data, bytes->len);
                add_keys(&maker, "llama", 1);
                add_layer(&maker, 0);
                if (depth > 4)
                        check_made(fixture, &maker, -E2BIG, "nested");
                else
                        ald_llm_free(read_made(fixture, &maker));
        }
}

/* Names that nothing could show are left out, and keys that are too long are not ours. */
static void test_odd_names(Fixture *fixture, gconstpointer data)
{
        static const char *const names[] = { "", "a\nb", "\xff" };
        g_autofree char *key = g_strnfill(300, 'k');

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_auto(GgufMaker) maker = { 0 };
                g_autoptr(AldLlm) llm = NULL;

                gguf_maker_init(&maker);
                gguf_string(&maker, key, "value");
                gguf_string(&maker, "general.name", names[i]);
                add_keys(&maker, "llama", 1);
                add_layer(&maker, 0);
                llm = read_made(fixture, &maker);
                g_assert_null(llm->name);
        }
}

static void check_tensor(const Fixture *fixture, const char *name, uint32_t type, const uint64_t dims[4],
        int error, const char *words)
{
        g_auto(GgufMaker) maker = { 0 };

        gguf_maker_init(&maker);
        add_keys(&maker, "llama", 2);
        gguf_tensor(&maker, name, type, 1024, dims);
        check_made(fixture, &maker, error, words);
}

static void test_tensors_that_are_refused(Fixture *fixture, gconstpointer data)
{
        const uint64_t some[4] = { 256 }, none[4] = { 0 }, odd[4] = { 33 };
        const uint64_t many[4] = { 1ull << 32, 1ull << 32 }, most[4] = { UINT64_MAX };
        const uint64_t large[4] = { 1ull << 62 }, more[4] = { 512 };
        g_autofree char *name = g_strnfill(257, 'n');

        check_tensor(fixture, "a", 4, some, -EOPNOTSUPP, "unknown type 4");
        check_tensor(fixture, "a", 31, some, -EOPNOTSUPP, "unknown type 31");
        check_tensor(fixture, "a", UINT32_MAX, some, -EOPNOTSUPP, "unknown type 4294967295");
        check_tensor(fixture, "a", F32, none, -EBADMSG, "0 dimensions");
        check_tensor(fixture, "a", Q8_0, odd, -EBADMSG, "whole blocks of Q8_0");
        check_tensor(fixture, "a", F32, many, -EBADMSG, "more elements");
        check_tensor(fixture, "a", F32, most, -EBADMSG, "more elements");
        check_tensor(fixture, "a", F32, large, -EBADMSG, "more bytes");
        check_tensor(fixture, "a", F32, more, -EBADMSG, "the tensors have 2048 bytes");
        check_tensor(fixture, name, F32, some, -E2BIG, "the name of a tensor has 257 bytes");
        check_tensor(fixture, "a\x1b", F32, some, -EBADMSG, "not printable");
        check_tensor(fixture, "", F32, some, -EBADMSG, "the name of a tensor is empty");
        check_tensor(fixture, "blk.2.a.weight", F32, some, -EBADMSG, "a layer that the model does not have");
        check_tensor(fixture, "blk.4294967296.a", F32, some, -EBADMSG, "no tensors of layers");
        check_tensor(fixture, "blk.x", F32, some, -EBADMSG, "no tensors of layers");
}

static void test_tensors_that_do_not_fit(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) twice = { 0 };
        g_auto(GgufMaker) gap = { 0 };
        g_auto(GgufMaker) sum = { 0 };
        const uint64_t half[4] = { 1ull << 60 };

        gguf_maker_init(&twice);
        add_keys(&twice, "llama", 2);
        add_layer(&twice, 0);
        add_layer(&twice, 0);
        check_made(fixture, &twice, -EBADMSG, "there are two tensors blk.0.attn_");
        gguf_maker_init(&gap);
        add_keys(&gap, "llama", 2);
        gap.data = 32;
        add_layer(&gap, 0);
        check_made(fixture, &gap, -EBADMSG, "begins at byte 32 of the data, which should be 0");
        gguf_maker_init(&sum);
        add_keys(&sum, "llama", 2);
        gguf_tensor(&sum, "a", F32, 1ull << 62, half);
        gguf_tensor(&sum, "b", F32, 1ull << 62, half);
        sum.data = 0;
        check_made(fixture, &sum, -EBADMSG, "beyond what 64 bits hold");
}

static void test_paths_that_are_refused(Fixture *fixture, gconstpointer data)
{
        g_autofree char *none = g_build_filename(fixture->folder, "none.gguf", NULL);
        g_autofree char *odd = g_build_filename(fixture->folder, "\xff.gguf", NULL);
        g_autofree char *other = g_build_filename(fixture->folder, "other", NULL);

        check_error(none, -ENOENT, "No such file");
        check_error(odd, -ENOENT, "No such file");
        check_error("/dev/null", -EINVAL, "not a regular file");
        gguf_write_bytes(other, "#!/bin/sh", 9, 9);
        check_error(other, -EBADMSG, "not a GGUF file");
}

/* A header may not go on for ever, not even in a file that would be long enough. */
static void test_limit_of_the_header(Fixture *fixture, gconstpointer data)
{
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(GByteArray) head = NULL;

        gguf_maker_init(&maker);
        add_keys(&maker, "llama", 2);
        gguf_raw(&maker, "x", 9, "\x08\0\0\0\0\0\0\0\x10\0\0", 12);
        head = gguf_head(&maker);
        gguf_write_bytes(fixture->path, head->data, head->len, 400ull << 30);
        check_error(fixture->path, -E2BIG, "the limit");
}

/* As large as the largest models; without data, the file takes a few kilobytes. */
static void test_sparse(Fixture *fixture, gconstpointer data)
{
        const uint64_t exps = 4096ull * 1024 * 160, bytes = exps / 256 * 144;
        g_auto(GgufMaker) maker = { 0 };
        g_autoptr(AldLlm) llm = NULL;

        gguf_maker_init(&maker);
        add_keys(&maker, "qwen3moe", 364);
        gguf_u32(&maker, "qwen3moe.expert_count", 160);
        gguf_u32(&maker, "qwen3moe.expert_used_count", 8);
        gguf_tokens(&maker, "tokenizer.ggml.tokens", 150000);
        gguf_tokens(&maker, "tokenizer.ggml.merges", 150000);
        for (uint32_t i = 0; i < 364; i++)
                for (unsigned part = 0; part < 3; part++) {
                        static const char *const parts[] = { "gate", "up", "down" };
                        g_autofree char *name = g_strdup_printf("blk.%u.ffn_%s_exps.weight", i, parts[part]);

                        gguf_tensor(&maker, name, Q4_K, bytes, (uint64_t[4]){ 4096, 1024, 160 });
                }
        g_assert_cmpuint(maker.data, >, 400000000000);
        llm = read_made(fixture, &maker);
        g_assert_cmpuint(llm->vocabulary, ==, 150000);
        g_assert_cmpuint(llm->layers[363].bytes, ==, 3 * bytes);
        g_assert_cmpuint(llm->layers[363].token_bytes, ==, 3 * bytes / 20);
}

#define TEST(name, function) g_test_add("/model-gguf/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        TEST("plain", test_plain);
        TEST("each-prefix", test_each_prefix);
        TEST("each-byte", test_each_byte);
        TEST("tied-head", test_tied_head_and_drafts);
        TEST("experts", test_experts);
        TEST("heads", test_heads_of_each_layer);
        TEST("compressed-keys", test_compressed_keys);
        TEST("windows", test_windows);
        TEST("unknown-kv", test_unknown_kv);
        TEST("shards", test_shards);
        TEST("number-of-tensors", test_wrong_number_of_tensors);
        TEST("bad-headers", test_headers_that_are_refused);
        TEST("bad-values", test_values_that_are_refused);
        TEST("bad-experts", test_experts_that_are_refused);
        TEST("bad-layers", test_layers_that_are_refused);
        TEST("nested-arrays", test_nested_arrays);
        TEST("odd-names", test_odd_names);
        TEST("bad-tensors", test_tensors_that_are_refused);
        TEST("tensors-that-do-not-fit", test_tensors_that_do_not_fit);
        TEST("bad-paths", test_paths_that_are_refused);
        TEST("limit-of-the-header", test_limit_of_the_header);
        TEST("sparse", test_sparse);
        return g_test_run();
}
