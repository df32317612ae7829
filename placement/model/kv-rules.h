/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

/* The figures about attention that the files of a model state. Counts that they do not state are
 * ALD_LLM_ABSENT_COUNT. */
typedef struct AldAttention {
        uint32_t *heads;                       /* of each layer */
        uint32_t *kv_heads;                    /* of each layer; 0 if it has no attention, or keeps nothing */
        uint32_t *key_lengths, *value_lengths; /* of each layer whose tensors show them */
        uint64_t *state_bytes;                 /* of each layer, of a recurrent network or a convolution */
        uint32_t key_length, value_length;
        uint32_t window_key_length, window_value_length; /* lengths in layers with a window, if different */
        uint32_t index_length;      /* of one more key for each token, by which others are chosen */
        bool latent;                /* one head of key_length is kept, and values are derived from it */
        bool projects;              /* tensors show that all layers have keys that are not compressed */
        uint32_t window;            /* tokens */
        uint32_t period;            /* the last layer of each period has no window; 0: all layers have one */
        bool *windowed;             /* whether each layer has a window; NULL if not stated */
        uint32_t sharing;           /* number of last layers that use keys and values of earlier ones */
        const AldLayerSigns *signs; /* of each layer, if figures of the file must fit its tensors; or NULL */
        char *problem;              /* what is not understood; NULL if nothing */
} AldAttention;

void ald_attention_init(AldAttention *attention, uint32_t n_layers);
void ald_attention_clear(AldAttention *attention);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldAttention, ald_attention_clear)

/* Notes a problem; only the first one is kept. */
void ald_attention_note_problem(AldAttention *attention, const char *key, const char *reason);

/* Sets the size of the layer's state of this many numbers, which engines keep as F32. */
void ald_attention_set_state(AldAttention *attention, uint32_t layer, uint64_t numbers);

/* Sets what each layer keeps, as llama.cpp does for the architecture, or else kv_problem. If it is unknown
 * which layers have a window, all are counted in full, and window_doubt is set. */
void ald_kv_rules_apply(AldLlm *llm, const AldAttention *attention);
