/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/gguf-facts.h"
#include "placement/model/layer-signs.h"
#include "placement/model/model-needs.h"

/* Sets what each layer keeps, from the keys of the file and the tensors of the layers. */
void ald_gguf_attention_apply(const AldGgufFacts *facts, const AldLayerSigns *signs, AldLlm *llm);
