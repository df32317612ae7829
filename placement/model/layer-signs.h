/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The facts that the tensors of a layer show about what it keeps. */
typedef struct AldLayerSigns {
        bool projects; /* keys or values have their own tensor, compressed or not */
        bool attends;  /* there is another projection of attention, such as that of queries */
        bool drafts;   /* there is a projection that only blocks for drafts have */
        char *fused;   /* a tensor for queries, keys and values together; or NULL */
        char *state;   /* a tensor of a recurrent network or a convolution; or NULL */
        char *other;   /* a tensor that is not understood; or NULL */
        /* Rows of each kind of tensor, which are lengths of all heads together; key_norm is that of one head.
         * ALD_LLM_ABSENT_COUNT if unknown. */
        uint32_t key_rows, value_rows, fused_rows, latent_rows, index_rows, key_norm, convolution_rows;
        uint32_t all_convolution_rows; /* of all convolutions: queries, keys and values may have one each */
        uint32_t kernel;               /* tokens that the convolution covers; 0 if unknown */
        bool is_packed;                /* the rows of some tensor are those of a packed matrix */
        /* Prefixes of the projections of keys. LongCat has two attentions in a layer. */
        GPtrArray *attentions;
} AldLayerSigns;

typedef enum AldLayerSign {
        ALD_SIGN_NONE, /* feed-forward networks, norms and the like, which keep nothing */
        ALD_SIGN_KEYS,
        ALD_SIGN_VALUES,
        ALD_SIGN_LATENT,
        ALD_SIGN_INDEX,
        ALD_SIGN_KEY_NORM,
        ALD_SIGN_FUSED,
        ALD_SIGN_ATTENDS,
        ALD_SIGN_STATE,
        ALD_SIGN_CONVOLUTION, /* convolution of a state */
        ALD_SIGN_DRAFTS,
        ALD_SIGN_OTHER,
} AldLayerSign;

AldLayerSigns *ald_layer_signs_new(uint32_t n_layers);
void ald_layer_signs_free(AldLayerSigns *signs, uint32_t n_layers);

/* Notes a tensor of the layer; rows are absent if it does not have that shape. */
void ald_layer_signs_note(AldLayerSigns *signs, AldLayerSign sign, const char *name, uint32_t rows);

/* Return what a tensor shows, from its name after the number of its layer: in GGUF files, and in those of
 * transformers. */
AldLayerSign ald_layer_sign_of_gguf(const char *part);
AldLayerSign ald_layer_sign_of_safetensors(const char *part);
