/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/model-needs.h"

/* Checks that it names the architecture. How many layers config.json states, and of those that follow them
 * and only predict further tokens. *ret_layers is absent if it does not say. */
int ald_hf_config_layers(const AldHfKeys *keys, uint32_t *ret_layers, uint32_t *ret_drafts, char **ret_error);

/* What config.json states of a model of this many layers, without what its layers keep and without the sums
 * over tensors. */
int ald_hf_config_read(const AldHfKeys *keys, uint32_t n_layers, AldLlm **ret, char **ret_error);
