/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/model-needs.h"

/* Reads how many layers config.json states, and how many after them only predict further tokens. *ret_layers
 * is absent if it is not stated. It is an error if config.json does not name the architecture. */
int ald_hf_config_layers(const AldHfKeys *keys, uint32_t *ret_layers, uint32_t *ret_drafts, char **ret_error);

/* Reads what config.json states about a model with this many layers, except what its layers keep. The sums
 * over tensors are not set. */
int ald_hf_config_read(const AldHfKeys *keys, uint32_t n_layers, AldLlm **ret, char **ret_error);
