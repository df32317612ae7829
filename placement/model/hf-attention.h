/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

/* Sets what each layer keeps, from config.json and from the shapes of the tensors, which stand in for the
 * defaults of classes that the file does not state. Errors are those of file-head.h. */
int ald_hf_attention_apply(const AldHfKeys *keys, const AldLayerSigns *signs, AldLlm *llm, char **ret_error);
