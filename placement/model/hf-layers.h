/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/kv-rules.h"
#include "placement/model/layer-signs.h"

typedef enum AldHfLayer {
        ALD_HF_LAYER_FULL,   /* attends to the whole context */
        ALD_HF_LAYER_WINDOW, /* attends to a window, or a chunk */
        ALD_HF_LAYER_STATE,  /* a recurrent network or a convolution */
        ALD_HF_LAYER_BOTH,   /* full attention beside such a network */
        ALD_HF_LAYER_NONE,   /* neither */
} AldHfLayer;

/* Finds the kind of each layer: as config.json lists it, or by an interval that it states, or else from its
 * tensors. Also sets the periods and lists of windows. Anything that is not understood becomes a problem of
 * the attention. Returns whether config.json states the kinds. */
bool ald_hf_layers_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        AldAttention *attention, AldHfLayer *ret);
