/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The requirements of a language model on the devices that run it, according to its files. All figures are
 * those of the tensors in the files; engines may convert some of them while loading, and need buffers in
 * addition.
 */

/* Values of figures that the files do not state and that cannot be derived reliably. Absent figures are never
 * 0. */
#define ALD_LLM_ABSENT UINT64_MAX
#define ALD_LLM_ABSENT_COUNT UINT32_MAX

#define ALD_LLM_LAYERS_MAX 1024u

typedef struct AldLlmLayer {
        uint64_t bytes;            /* of its tensors */
        uint64_t token_bytes;      /* of these, the bytes that one token reads: all but unused experts */
        uint64_t parameters;       /* in its tensors */
        uint64_t token_parameters; /* of these, the ones that one token uses */
        uint32_t kv_heads;         /* 0 if nothing is kept in this layer */
        uint32_t key_length;       /* of a head, or of the compressed keys and values of a token */
        uint32_t value_length;     /* of a head; 0 if values are part of the compressed keys */
        uint32_t window;           /* tokens that it attends to; absent if all */
        uint64_t state_bytes;      /* of the state that each request has besides, whatever its context */
} AldLlmLayer;

typedef enum AldLlmFormat {
        ALD_LLM_FORMAT_UNKNOWN,
        ALD_LLM_GGUF,
        ALD_LLM_SAFETENSORS, /* safetensors and config.json */
} AldLlmFormat;

typedef struct AldLlm {
        AldLlmFormat format; /* of its files */
        char *name;          /* UTF-8 without control characters; NULL if absent */
        char *architecture;  /* as the file calls it, such as "llama" or "qwen3_moe"; printable ASCII */
        uint32_t n_layers;   /* repeated blocks, without those that only predict further tokens */
        AldLlmLayer *layers;
        uint64_t embedding_bytes; /* of which one token reads a row */
        uint64_t head_bytes;      /* bytes of the matrix that turns the last layer's output into tokens */
        bool head_tied;        /* head_bytes is 0: the embedding is the head, and one token reads all of it */
        uint32_t draft_layers; /* further blocks of a GGUF file, which it counts as layers: see draft_bytes */
        uint64_t draft_bytes;  /* of blocks that predict further tokens, which plain decoding does not use */
        uint64_t other_bytes;  /* of all other tensors, those for images and sound included */
        uint32_t embedding_length;
        uint32_t experts, used_experts; /* in a layer; absent if it is not a mixture of experts */
        uint32_t feed_forward_length;   /* width of the feed-forward part, of all used experts together; the
                                           most in any layer */
        uint32_t vocabulary;
        uint32_t context;      /* tokens that it was trained for */
        char *kv_problem;      /* why the size of keys and values is unknown; NULL if it is known */
        char *window_doubt;    /* why a window is not counted with which less may be kept; NULL if there is no
                                  doubt */
        uint32_t doubt_window; /* up to this context, the doubt makes no difference */
        char *unsized;         /* a tensor whose number of parameters is unknown; or NULL */
        bool ollama_only;      /* its layout is one of Ollama, which llama.cpp does not load */
} AldLlm;

typedef enum AldKvType {
        ALD_KV_F32,
        ALD_KV_F16,
        ALD_KV_BF16,
        ALD_KV_Q8_0,
        ALD_KV_Q4_0,
        ALD_KV_Q4_1,
        ALD_KV_Q5_0,
        ALD_KV_Q5_1,
        ALD_KV_IQ4_NL,
        ALD_N_KV_TYPES,
} AldKvType;

/* llama.cpp rounds contexts up to multiples of the first, and adds a batch, the second by default, to
 * windows. */
#define ALD_LLM_CELLS_STEP 256u
#define ALD_LLM_UBATCH 512u

/* Sets the feed-forward length from the widths of a layer and of an expert, either of which may be absent or
 * 0. The numbers of experts must already be set. */
void ald_llm_set_feed_forward(AldLlm *llm, uint32_t layer, uint32_t expert);

/* Returns a model with this many layers, in which everything is absent. */
AldLlm *ald_llm_new(uint32_t n_layers);
void ald_llm_free(AldLlm *llm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLlm, ald_llm_free)

/*
 * Computes the bytes for keys, values and state of one layer, as llama.cpp allocates them with flash
 * attention, if each of `parallel` requests has its own context of `context` tokens (-np parallel -c
 * context*parallel, without the options for a unified cache and for full windows). Returns -EOPNOTSUPP if it
 * is unknown what the model keeps (see kv_problem); -EINVAL if there is no such layer, or its heads do not
 * consist of whole blocks of the type; -ERANGE if the result is too large.
 */
int ald_llm_kv_bytes(const AldLlm *llm, uint32_t layer, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, uint64_t *ret);

/* Returns why less may be kept at this context than ald_llm_kv_bytes() computes; NULL if there is no
 * doubt. */
const char *ald_llm_window_doubt(const AldLlm *llm, uint32_t context);

/* Describes the first figure that a plan needs, but the files do not state; NULL if there is none. Free with
 * g_free(). */
char *ald_llm_missing_figure(const AldLlm *llm);
