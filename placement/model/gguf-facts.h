/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/file-head.h"

/* The keys of a GGUF file that are read; all others are skipped. */
typedef enum AldGgufKey {
        ALD_GGUF_ALIGNMENT,
        ALD_GGUF_SPLIT_NO,
        ALD_GGUF_SPLIT_COUNT,
        ALD_GGUF_SPLIT_TENSORS,
        ALD_GGUF_TOKENS, /* number of tokens */
        /* Keys that have the architecture as a prefix: */
        ALD_GGUF_BLOCKS,
        ALD_GGUF_DRAFT_BLOCKS,
        ALD_GGUF_CONTEXT,
        ALD_GGUF_EMBEDDING,
        ALD_GGUF_FEED_FORWARD,
        ALD_GGUF_EXPERT_FEED_FORWARD,
        ALD_GGUF_VOCABULARY,
        ALD_GGUF_EXPERTS,
        ALD_GGUF_USED_EXPERTS,
        ALD_GGUF_HEADS,
        ALD_GGUF_KV_HEADS,
        ALD_GGUF_KEY_LENGTH,
        ALD_GGUF_VALUE_LENGTH,
        ALD_GGUF_KEY_LENGTH_MLA,
        ALD_GGUF_KEY_LENGTH_WINDOW,
        ALD_GGUF_VALUE_LENGTH_WINDOW,
        ALD_GGUF_WINDOW,
        ALD_GGUF_WINDOW_PATTERN,
        ALD_GGUF_SHARED_KV,
        ALD_GGUF_INDEX_LENGTH,
        ALD_GGUF_INDEX_TOP,
        ALD_GGUF_INTERVAL,
        ALD_GGUF_RECURRENT,
        ALD_GGUF_SSM_KERNEL,
        ALD_GGUF_SSM_INNER,
        ALD_GGUF_SSM_SIZE,
        ALD_GGUF_SSM_GROUPS,
        ALD_GGUF_CONVOLUTION,
        ALD_GGUF_WKV_LENGTH,
        ALD_GGUF_TOKEN_SHIFTS,
        ALD_GGUF_KDA_LENGTH,
        ALD_GGUF_CAUSAL,
        ALD_N_GGUF_KEYS,
} AldGgufKey;

/* The value of a key: one number, or one for each layer. Booleans are 0 and 1. */
typedef struct AldGgufFact {
        bool is_set;
        uint32_t value;
        uint32_t *list; /* NULL if there is one number */
        uint32_t n;
} AldGgufFact;

typedef struct AldGgufFacts {
        char *architecture; /* NULL if not stated, as in all but the first file of a split model */
        char *name;
        AldGgufFact facts[ALD_N_GGUF_KEYS];
        char *odd; /* a key of layers that are not understood, such as those of a recurrent network */
} AldGgufFacts;

void ald_gguf_facts_clear(AldGgufFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldGgufFacts, ald_gguf_facts_clear)

/* Reads n pairs of a key and a value; `facts` must be empty. */
int ald_gguf_facts_read(AldFileHead *head, uint64_t n, AldGgufFacts *facts);

/* Returns the name of the key, without the prefix of an architecture. */
const char *ald_gguf_key_name(AldGgufKey key);

/* Reads a string of at most max bytes of printable ASCII; errors call it `what`. */
int ald_gguf_read_name(AldFileHead *head, const char *what, size_t max, char *ret);
