/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/model/gguf-facts.h"
#include "placement/model/model-needs.h"

#define PAIRS_MAX 65536u
#define KEY_MAX 255u /* longer ones are skipped */
#define NAME_MAX_BYTES 255u
#define NESTING_MAX 4u

typedef enum Type {
        TYPE_BOOL = 7,
        TYPE_STRING = 8,
        TYPE_ARRAY = 9,
        N_TYPES = 13,
} Type;

/* Bytes of a value of each type; 0 if they vary. */
static const uint8_t type_bytes[N_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
/* Whether a type is a whole number; types 6 and 12 are real numbers. */
static const bool type_is_whole[N_TYPES] = { true, true, true, true, true, true, false, true, false, false,
        true, true, false };

static const char *const key_names[ALD_N_GGUF_KEYS] = {
        [ALD_GGUF_ALIGNMENT] = "general.alignment",
        [ALD_GGUF_SPLIT_NO] = "split.no",
        [ALD_GGUF_SPLIT_COUNT] = "split.count",
        [ALD_GGUF_SPLIT_TENSORS] = "split.tensors.count",
        [ALD_GGUF_TOKENS] = "tokenizer.ggml.tokens",
        [ALD_GGUF_BLOCKS] = "block_count",
        [ALD_GGUF_DRAFT_BLOCKS] = "nextn_predict_layers",
        [ALD_GGUF_CONTEXT] = "context_length",
        [ALD_GGUF_EMBEDDING] = "embedding_length",
        [ALD_GGUF_FEED_FORWARD] = "feed_forward_length",
        [ALD_GGUF_EXPERT_FEED_FORWARD] = "expert_feed_forward_length",
        [ALD_GGUF_VOCABULARY] = "vocab_size",
        [ALD_GGUF_EXPERTS] = "expert_count",
        [ALD_GGUF_USED_EXPERTS] = "expert_used_count",
        [ALD_GGUF_HEADS] = "attention.head_count",
        [ALD_GGUF_KV_HEADS] = "attention.head_count_kv",
        [ALD_GGUF_KEY_LENGTH] = "attention.key_length",
        [ALD_GGUF_VALUE_LENGTH] = "attention.value_length",
        [ALD_GGUF_KEY_LENGTH_MLA] = "attention.key_length_mla",
        [ALD_GGUF_KEY_LENGTH_WINDOW] = "attention.key_length_swa",
        [ALD_GGUF_VALUE_LENGTH_WINDOW] = "attention.value_length_swa",
        [ALD_GGUF_WINDOW] = "attention.sliding_window",
        [ALD_GGUF_WINDOW_PATTERN] = "attention.sliding_window_pattern",
        [ALD_GGUF_SHARED_KV] = "attention.shared_kv_layers",
        [ALD_GGUF_INDEX_LENGTH] = "attention.indexer.key_length",
        [ALD_GGUF_INDEX_TOP] = "attention.indexer.top_k",
        [ALD_GGUF_INTERVAL] = "full_attention_interval",
        [ALD_GGUF_RECURRENT] = "attention.recurrent_layers",
        [ALD_GGUF_SSM_KERNEL] = "ssm.conv_kernel",
        [ALD_GGUF_SSM_INNER] = "ssm.inner_size",
        [ALD_GGUF_SSM_SIZE] = "ssm.state_size",
        [ALD_GGUF_SSM_GROUPS] = "ssm.group_count",
        [ALD_GGUF_CONVOLUTION] = "shortconv.l_cache",
        [ALD_GGUF_WKV_LENGTH] = "wkv.head_size",
        [ALD_GGUF_TOKEN_SHIFTS] = "token_shift_count",
        [ALD_GGUF_KDA_LENGTH] = "kda.head_dim",
        [ALD_GGUF_CAUSAL] = "attention.causal",
};

/* Unless the exact key is known, layers with such keys keep something else than keys and values, or more. */
static const char *const odd_keys[] = { "ssm.", "wkv.", "shortconv.", "kda.", "linear_attention.",
        "attention.indexer.", "attention.compress", "attention.cross_attention", "decoder_block_count" };
/* What layers keep does not depend on these keys. */
static const char *const harmless_keys[] = { "ssm.time_step_rank", "ssm.dt_b_c_rms",
        "attention.indexer.head_count" };

const char *ald_gguf_key_name(AldGgufKey key)
{
        return key_names[key];
}

void ald_gguf_facts_clear(AldGgufFacts *facts)
{
        g_free(facts->architecture);
        g_free(facts->name);
        g_free(facts->odd);
        for (AldGgufKey key = 0; key < ALD_N_GGUF_KEYS; key++)
                g_free(facts->facts[key].list);
        *facts = (AldGgufFacts){ 0 };
}

int ald_gguf_read_name(AldFileHead *head, const char *what, size_t max, char *ret)
{
        uint64_t n = 0;
        int r = ald_file_head_u64(head, &n);

        if (r >= 0 && n > max)
                r = ald_file_head_fail(
                        head, -E2BIG, "%s has %" PRIu64 " bytes; at most %zu can be read", what, n, max);
        if (r >= 0)
                r = ald_file_head_read(head, ret, (size_t) n);
        if (r < 0)
                return r;
        if (!ald_file_name_is_plain(ret, (size_t) n))
                return ald_file_head_fail(head, -EBADMSG, "%s is empty or not printable ASCII", what);
        ret[n] = '\0';
        return 0;
}

/* Reads a key; one that is too long becomes an empty string. */
static int read_key(AldFileHead *head, char key[KEY_MAX + 1])
{
        uint64_t n = 0;
        int r = ald_file_head_u64(head, &n);

        if (r < 0)
                return r;
        key[0] = '\0';
        if (n > KEY_MAX)
                return ald_file_head_skip(head, n);
        r = ald_file_head_read(head, key, (size_t) n);
        if (r < 0)
                return r;
        if (!ald_file_name_is_plain(key, (size_t) n))
                return ald_file_head_fail(head, -EBADMSG, "a key is empty or not printable ASCII");
        key[n] = '\0';
        return 0;
}

static int read_type(AldFileHead *head, uint32_t *ret)
{
        int r = ald_file_head_u32(head, ret);

        if (r >= 0 && *ret >= N_TYPES)
                r = ald_file_head_fail(head, -EBADMSG, "a value of the unknown type %" PRIu32, *ret);
        return r;
}

static int skip_string(AldFileHead *head)
{
        uint64_t n = 0;
        int r = ald_file_head_u64(head, &n);

        return r < 0 ? r : ald_file_head_skip(head, n);
}

static int read_array(AldFileHead *head, uint32_t *ret_type, uint64_t *ret_n)
{
        int r = read_type(head, ret_type);

        return r < 0 ? r : ald_file_head_u64(head, ret_n);
}

static int skip_elements(AldFileHead *head, uint32_t type, uint64_t n, unsigned depth);

static int skip_array(AldFileHead *head, unsigned depth)
{
        uint32_t type = 0;
        uint64_t n = 0;
        int r;

        if (depth > NESTING_MAX)
                return ald_file_head_fail(head, -E2BIG, "arrays nested deeper than %u levels", NESTING_MAX);
        r = read_array(head, &type, &n);
        return r < 0 ? r : skip_elements(head, type, n, depth);
}

/* Skips the elements of an array. Each string or array in it has at least 8 bytes, so the limit of the header
 * also limits their number. */
static int skip_elements(AldFileHead *head, uint32_t type, uint64_t n, unsigned depth)
{
        uint64_t bytes;
        int r = 0;

        if (type_bytes[type] > 0) {
                if (__builtin_mul_overflow(n, type_bytes[type], &bytes))
                        return ald_file_head_fail(head, -EBADMSG, "an array of %" PRIu64 " elements", n);
                return ald_file_head_skip(head, bytes);
        }
        for (uint64_t i = 0; i < n && r >= 0; i++)
                r = type == TYPE_STRING ? skip_string(head) : skip_array(head, depth + 1);
        return r;
}

static int read_number(AldFileHead *head, const char *key, uint32_t type, uint32_t *ret)
{
        uint64_t raw = 0;
        uint8_t bytes[8] = { 0 };
        int r;

        if (!type_is_whole[type])
                return ald_file_head_fail(head, -EBADMSG, "%s is not a whole number", key);
        r = ald_file_head_read(head, bytes, type_bytes[type]);
        if (r < 0)
                return r;
        memcpy(&raw, bytes, sizeof raw);
        raw = GUINT64_FROM_LE(raw);
        /* Negative numbers of any width look like large ones. */
        if (raw > INT32_MAX || ((type == 1) && raw > INT8_MAX) || ((type == 3) && raw > INT16_MAX))
                return ald_file_head_fail(head, -EBADMSG, "%s is negative or more than 2147483647", key);
        *ret = (uint32_t) raw;
        return 0;
}

static int read_list(AldFileHead *head, const char *key, AldGgufFact *fact)
{
        uint32_t type = 0;
        uint64_t n = 0;
        int r = read_array(head, &type, &n);

        if (r < 0)
                return r;
        if (n > ALD_LLM_LAYERS_MAX)
                return ald_file_head_fail(head, -E2BIG, "%s has %" PRIu64 " elements", key, n);
        fact->list = g_new0(uint32_t, (size_t) n + 1);
        fact->n = (uint32_t) n;
        for (uint32_t i = 0; i < fact->n && r >= 0; i++)
                r = read_number(head, key, type, &fact->list[i]);
        return r;
}

static int read_tokens(AldFileHead *head, const char *key, AldGgufFact *fact)
{
        uint32_t type = 0;
        uint64_t n = 0;
        int r = read_array(head, &type, &n);

        if (r < 0)
                return r;
        if (n > INT32_MAX)
                return ald_file_head_fail(head, -E2BIG, "%s has %" PRIu64 " elements", key, n);
        fact->value = (uint32_t) n;
        return skip_elements(head, type, n, 1);
}

static int read_fact(AldFileHead *head, AldGgufKey key, uint32_t type, AldGgufFact *fact)
{
        const char *name = key_names[key];

        if (fact->is_set)
                return ald_file_head_fail(head, -EBADMSG, "%s is stated twice", name);
        fact->is_set = true;
        if (key == ALD_GGUF_TOKENS)
                return type == TYPE_ARRAY ? read_tokens(head, name, fact)
                                          : ald_file_head_fail(head, -EBADMSG, "%s is not an array", name);
        return type == TYPE_ARRAY ? read_list(head, name, fact) : read_number(head, name, type, &fact->value);
}

static int skip_value(AldFileHead *head, uint32_t type)
{
        return type == TYPE_ARRAY ? skip_array(head, 1) : skip_elements(head, type, 1, 1);
}

/* Reads the model's name, unless it cannot be displayed. */
static int read_model_name(AldFileHead *head, AldGgufFacts *facts)
{
        char bytes[NAME_MAX_BYTES + 1];
        uint64_t n = 0;
        int r = ald_file_head_u64(head, &n);

        if (r < 0)
                return r;
        if (n > NAME_MAX_BYTES || n == 0)
                return ald_file_head_skip(head, n);
        r = ald_file_head_read(head, bytes, (size_t) n);
        if (r < 0 || !g_utf8_validate(bytes, (gssize) n, NULL))
                return r;
        bytes[n] = '\0';
        for (const char *at = bytes; *at; at = g_utf8_next_char(at))
                if (!g_unichar_isprint(g_utf8_get_char(at)))
                        return 0;
        g_free(facts->name);
        facts->name = g_strdup(bytes);
        return 0;
}

/* Returns the key without its prefix, the architecture; NULL if it does not have this prefix. */
static const char *own_part(const AldGgufFacts *facts, const char *key)
{
        size_t n = facts->architecture ? strlen(facts->architecture) : 0;

        return n > 0 && strncmp(key, facts->architecture, n) == 0 && key[n] == '.' ? key + n + 1 : NULL;
}

static void note_odd(AldGgufFacts *facts, const char *own)
{
        for (size_t i = 0; i < G_N_ELEMENTS(harmless_keys); i++)
                if (strcmp(own, harmless_keys[i]) == 0)
                        return;
        for (size_t i = 0; i < G_N_ELEMENTS(odd_keys) && !facts->odd; i++)
                if (g_str_has_prefix(own, odd_keys[i]))
                        facts->odd = g_strdup(own);
}

static AldGgufKey find_key(const char *key, const char *own)
{
        AldGgufKey first = own ? ALD_GGUF_BLOCKS : 0, end = own ? ALD_N_GGUF_KEYS : ALD_GGUF_BLOCKS;

        for (AldGgufKey i = first; i < end; i++)
                if (strcmp(key_names[i], own ? own : key) == 0)
                        return i;
        return ALD_N_GGUF_KEYS;
}

static int read_pair(AldFileHead *head, AldGgufFacts *facts)
{
        char key[KEY_MAX + 1];
        const char *own;
        uint32_t type = 0;
        AldGgufKey known;
        int r;

        r = read_key(head, key);
        if (r >= 0)
                r = read_type(head, &type);
        if (r < 0)
                return r;
        own = own_part(facts, key);
        known = find_key(key, own);
        if (known < ALD_N_GGUF_KEYS)
                return read_fact(head, known, type, &facts->facts[known]);
        if (own)
                note_odd(facts, own);
        if (strcmp(key, "general.name") == 0 && type == TYPE_STRING)
                return read_model_name(head, facts);
        return skip_value(head, type);
}

/* Finds the architecture, which is usually the first key, though the format does not require that. */
static int find_architecture(AldFileHead *head, uint64_t n, AldGgufFacts *facts)
{
        char key[KEY_MAX + 1], name[NAME_MAX_BYTES + 1];
        uint32_t type = 0;
        int r = 0;

        for (uint64_t i = 0; i < n && r >= 0; i++) {
                r = read_key(head, key);
                if (r >= 0)
                        r = read_type(head, &type);
                if (r < 0)
                        return r;
                if (strcmp(key, "general.architecture") == 0 && type == TYPE_STRING) {
                        r = ald_gguf_read_name(head, key, NAME_MAX_BYTES, name);
                        if (r >= 0)
                                facts->architecture = g_strdup(name);
                        return r;
                }
                r = skip_value(head, type);
        }
        return r;
}

int ald_gguf_facts_read(AldFileHead *head, uint64_t n, AldGgufFacts *facts)
{
        uint64_t start = head->at;
        int r;

        if (n > PAIRS_MAX)
                return ald_file_head_fail(
                        head, -E2BIG, "there are %" PRIu64 " keys; at most %u can be read", n, PAIRS_MAX);
        r = find_architecture(head, n, facts);
        if (r < 0)
                return r;
        head->at = start;
        for (uint64_t i = 0; i < n && r >= 0; i++)
                r = read_pair(head, facts);
        return r;
}
