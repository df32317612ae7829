/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

/* How many numbers one request keeps in a layer that is a recurrent network or a convolution. Returns NULL,
 * or a key that config.json does not state as it should, with *ret_reason. */
const char *ald_hf_state_find(const AldHfKeys *keys, const AldLlm *llm, const AldLayerSigns *signs,
        uint64_t *ret, const char **ret_reason);

/* A key of such a layer that config.json states; NULL: none. */
const char *ald_hf_state_key(const AldHfKeys *keys);
