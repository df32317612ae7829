/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

/* Finds how many numbers one request keeps in a layer that is a recurrent network or a convolution. Returns
 * NULL, or a key that config.json lacks or states wrongly, with *ret_reason; that is NULL if the key is
 * missing. */
const char *ald_hf_state_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        uint64_t *ret, const char **ret_reason);

/* Returns a key of such a layer that config.json states, or NULL. */
const char *ald_hf_state_key(const AldHfKeys *keys);
