/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/model.h"

/* How many numbers one request keeps in a layer that is a recurrent network or a convolution. Returns a key
 * that is needed for that and that config.json does not state, or NULL. */
const char *ald_hf_state_find(const AldHfKeys *keys, const AldLlm *llm, uint64_t *ret);

/* A key of such a layer that config.json states; NULL: none. */
const char *ald_hf_state_key(const AldHfKeys *keys);
