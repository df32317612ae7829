/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/kv-rules.h"
#include "placement/model/layer-signs.h"

typedef enum AldHfLayer {
        ALD_HF_LAYER_FULL,   /* attends to the whole context */
        ALD_HF_LAYER_WINDOW, /* to a window, or a chunk */
        ALD_HF_LAYER_STATE,  /* a recurrent network or a convolution */
        ALD_HF_LAYER_BOTH,   /* full attention beside such a network */
        ALD_HF_LAYER_NONE,   /* neither */
} AldHfLayer;

/* Finds what each layer is: as config.json lists it, or states an interval, or else as its tensors say. Sets
 * the periods and lists of windows. What is not understood becomes a problem of the attention. Returns
 * whether config.json says it. */
bool ald_hf_layers_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        AldAttention *attention, AldHfLayer *ret);
